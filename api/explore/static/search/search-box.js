// The search field: a combobox that searches while somebody types, with suggestions below it.
import { call } from "../api.js";
import { html, Icon, useEffect, useRef, useState } from "../ui.js";
import { number, say } from "../words.js";

const SUGGEST_MS = 90;
const MAX_CHARACTERS = 100;

function useSuggestions(text, platform, wanted) {
  const [suggestions, setSuggestions] = useState([]);
  useEffect(() => {
    if (!wanted || !text.trim() || text.length > MAX_CHARACTERS) {
      setSuggestions([]);
      return undefined;
    }
    const controller = new AbortController();
    const query = new URLSearchParams({ q: text, platform, limit: 8 });
    const timer = setTimeout(() => {
      call("suggest", "GET", `/v1/gear/suggest?${query}`, null, { signal: controller.signal })
        .then((response) => setSuggestions(response.suggestions), () => {}); // a search goes without them
    }, SUGGEST_MS);
    return () => {
      clearTimeout(timer);
      controller.abort();
    };
  }, [text, platform, wanted]);
  return suggestions;
}

/** What was typed stands out less than what a suggestion adds to it. */
function Marked({ text, typed }) {
  const at = text.toLowerCase().indexOf(typed.trim().toLowerCase());
  if (at < 0 || !typed.trim()) return text;
  const end = at + typed.trim().length;
  return html`<b>${text.slice(0, at)}</b>${text.slice(at, end)}<b>${text.slice(end)}</b>`;
}

export function SearchBox({ text, platform, onType, onPick }) {
  const [open, setOpen] = useState(false);
  const [active, setActive] = useState(-1);
  const input = useRef(null);
  const suggestions = useSuggestions(text, platform, open);
  const shown = open && suggestions.length > 0;

  useEffect(() => {
    const focus = (event) => {
      const inField = event.target.closest?.("input, textarea, select, dialog");
      if (event.key === "/" && !inField && !event.ctrlKey && !event.metaKey) {
        event.preventDefault();
        input.current.focus();
        input.current.select();
      }
    };
    addEventListener("keydown", focus);
    return () => removeEventListener("keydown", focus);
  }, []);

  const close = () => {
    setOpen(false);
    setActive(-1);
  };
  const pick = (suggestion) => {
    close();
    onPick(suggestion);
  };
  const keys = (event) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step) {
      event.preventDefault();
      setOpen(true);
      const count = suggestions.length + 1; // one place is the field itself
      setActive(((active + 1 + step + count) % count) - 1);
    } else if (event.key === "Enter") {
      event.preventDefault();
      if (shown && active >= 0) pick(suggestions[active]);
      else close();
    } else if (event.key === "Escape") {
      if (shown) event.preventDefault();
      close();
    }
  };
  return html`<form class="search" role="search" onSubmit=${(event) => event.preventDefault()}>
    <${Icon} name="search" />
    <input ref=${input} id="q" type="text" role="combobox" autocomplete="off" autocapitalize="none" spellcheck="false" enterkeyhint="search"
      maxlength="200" value=${text} placeholder=${say("searchHint")} aria-label=${say("searchLabel")} aria-autocomplete="list"
      aria-expanded=${String(shown)} aria-controls="suggestions" aria-activedescendant=${shown && active >= 0 ? `suggestion-${active}` : undefined}
      onInput=${(event) => { setOpen(true); setActive(-1); onType(event.target.value); }}
      onKeyDown=${keys} onBlur=${close} />
    ${text && html`<button type="button" class="quiet" aria-label=${say("clear")} onClick=${() => { onType(""); input.current.focus(); }}>
      <${Icon} name="close" /></button>`}
    <kbd aria-hidden="true">/</kbd>
    <ul id="suggestions" role="listbox" aria-label=${say("suggestions")} hidden=${!shown}>
      ${suggestions.map((suggestion, at) => html`
        <li id=${`suggestion-${at}`} key=${`${suggestion.kind} ${suggestion.text}`} role="option" aria-selected=${String(at === active)}
          onMouseDown=${(event) => { event.preventDefault(); pick(suggestion); }}>
          <span class="text"><${Marked} text=${suggestion.text} typed=${text} /></span>
          <span class="kind">${say(`kind_${suggestion.kind}`)}</span>
          <span class="count">${number(suggestion.count)}</span>
        </li>`)}
    </ul>
  </form>`;
}
