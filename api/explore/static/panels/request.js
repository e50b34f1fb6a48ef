// "Show the request": what this page has asked the API, as JSON and as code to take home.
import { access, journal } from "../api.js";
import { LANGUAGES_OF_CODE, codeOf, highlighted, pretty } from "./code.js";
import { Icon, html, useEffect, useRef, useState } from "../ui.js";
import { say } from "../words.js";

const MAX_RESPONSE = 20_000;
const MAIN = ["search", "item", "order", "state"];

const Code = ({ text, label }) => html`<pre tabindex="0" role="region" aria-label=${label}><code>${highlighted(text).map(([kind, part], at) =>
  kind ? html`<span key=${at} class=${`code-${kind}`}>${part}</span>` : part)}</code></pre>`;

function Copy({ text }) {
  const [done, setDone] = useState(false);
  useEffect(() => setDone(false), [text]);
  const copy = () => navigator.clipboard.writeText(text).then(() => setDone(true), () => {});
  return html`<button type="button" class="button quiet copy" onClick=${copy}><${Icon} name=${done ? "check" : "copy"} />
    <span role="status">${say(done ? "copied" : "copy")}</span></button>`;
}

function Tabs({ chosen, onChoose, name, entries }) {
  const keys = (event) => {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (!step) return;
    const ids = entries.map(([id]) => id);
    const next = ids[(ids.indexOf(chosen) + step + ids.length) % ids.length];
    onChoose(next);
    event.currentTarget.querySelector(`#tab-${next}`).focus();
  };
  return html`<div class="tabs" role="tablist" aria-label=${name} onKeyDown=${keys}>
    ${entries.map(([id, text]) => html`<button key=${id} id=${`tab-${id}`} type="button" role="tab" aria-selected=${String(id === chosen)}
      aria-controls="code" tabindex=${id === chosen ? 0 : -1} onClick=${() => onChoose(id)}>${text}</button>`)}
  </div>`;
}

export function RequestDrawer({ onClose }) {
  const dialog = useRef(null);
  const [entries, setEntries] = useState(journal.entries);
  const [picked, setPicked] = useState(null);
  const [language, setLanguage] = useState("curl");
  useEffect(() => {
    dialog.current.showModal();
    return journal.subscribe(setEntries);
  }, []);
  const main = entries.find(({ step }) => MAIN.includes(step)) ?? entries[0];
  const entry = entries.find(({ n }) => n === picked) ?? main;
  const response = entry?.response ? pretty(entry.response) : "";
  const tabs = [...Object.entries(LANGUAGES_OF_CODE), ["response", say("response")]];
  const text = !entry ? "" : language === "response"
    ? response.length > MAX_RESPONSE ? `${response.slice(0, MAX_RESPONSE)}\n…` : response
    : codeOf(language, entry, location.origin, access.published ? access.key : null);
  return html`<dialog class="drawer" ref=${dialog} aria-labelledby="request-title" onClose=${onClose}
      onClick=${(event) => event.target === dialog.current && dialog.current.close()}>
    <div class="inside">
      <div class="sheet-head"><h2 id="request-title">${say("requestTitle")}</h2>
        <button type="button" class="quiet" aria-label=${say("close")} onClick=${() => dialog.current.close()}><${Icon} name="close" /></button></div>
      ${entry && html`
        <label class="which"><span>${say("requestWhich")}</span>
          <select value=${entry.n} onChange=${(event) => setPicked(Number(event.target.value))}>
            ${entries.map(({ n, step, status, milliseconds }) => html`<option key=${n} value=${n}>${say(`step_${step}`)} · ${status || "–"} · ${milliseconds} ms</option>`)}
          </select></label>
        <p class="call"><b>${entry.method}</b> <code>${entry.path}</code></p>
        <div class="code-head"><${Tabs} name=${say("requestTitle")} chosen=${language} onChoose=${setLanguage} entries=${tabs} /><${Copy} text=${text} /></div>
        <div id="code" role="tabpanel" aria-labelledby=${`tab-${language}`}><${Code} text=${text} label=${say("requestTitle")} /></div>
        ${language !== "json" && language !== "response" && html`<p class="muted small">${say(access.published ? "requestPublicKey" : "requestOwnKey")}</p>`}`}
    </div>
  </dialog>`;
}
