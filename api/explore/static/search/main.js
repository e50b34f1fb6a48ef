// The page: its header, the results beside the filters, and whatever item, order or request is open.
import { access, config, enterKey } from "../api.js";
import { Grid } from "./cards.js";
import { Chips } from "./chips.js";
import { Facets } from "./facets.js";
import { Paints } from "./picture.js";
import { ErrorMessage, NothingFound } from "../messages.js";
import { MAX_WAITING, useLive } from "./live.js";
import { LISTS, RANGES, SORTS, address, parse } from "./route.js";
import { merged, useSearch } from "./search.js";
import { SearchBox } from "./search-box.js";
import { Icon, html, render, useDelayed, useEffect, useRef, useStable, useState } from "../ui.js";
import { LANGUAGES, choose, preferredLanguage, say, sayCount, sayName, speak, spoken } from "../words.js";

const TYPING_MS = 60;
// What only some visits need is asked for when it is needed.
const LATER = { item: () => import("../panels/item.js"), order: () => import("../panels/order.js"), request: () => import("../panels/request.js") };

/** A component of another module, once that is there. */
function Later({ from, part, ...properties }) {
  const [module, setModule] = useState(null);
  useEffect(() => void LATER[from]().then(setModule), [from]);
  return module && html`<${module[part]} ...${properties} />`;
}

/** What the address shows, and a function that goes on to something else; `replace` leaves no step to go back to. */
function useRoute() {
  const [route, setRoute] = useState(() => parse(location.search));
  useEffect(() => {
    const back = () => setRoute(parse(location.search));
    addEventListener("popstate", back);
    return () => removeEventListener("popstate", back);
  }, []);
  const go = (patch, { replace = false } = {}) => setRoute((before) => {
    const next = { ...before, ...patch };
    const to = address(next);
    if (to !== location.pathname + location.search) history[replace ? "replaceState" : "pushState"](null, "", to);
    return next;
  });
  return [route, go];
}

const remember = (name, value) => {
  try {
    localStorage.setItem(name, value);
  } catch {
    // it is forgotten with the page
  }
};

function toggleTheme() {
  const root = document.documentElement;
  const dark = root.dataset.theme ? root.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
  root.dataset.theme = dark ? "light" : "dark";
  remember("gear.theme", root.dataset.theme);
}

function Header({ route, go, onType, onPick, onLanguage, onRequest }) {
  const home = (event) => {
    event.preventDefault();
    go(parse(""));
  };
  return html`<header class="top">
    <a class="skip" href="#results">${say("skip")}</a>
    <a class="brand" href="/explore" aria-label="Gear" onClick=${home}><svg viewBox="0 0 32 32" aria-hidden="true"><path d="M16 2l12 7v14l-12 7L4 23V9zm0 6L9 12v8l7 4 7-4v-3h-7v-4h12" /></svg><span>Gear</span></a>
    <${SearchBox} text=${route.q} platform=${route.platform} onType=${onType} onPick=${onPick} />
    <nav>
      <button type="button" class="button accent" onClick=${onRequest} aria-label=${say("request")} title=${say("request")}><${Icon} name="code" /><span class="wide">${say("request")}</span></button>
      <a class="button quiet wide" href="/docs">${say("docs")}</a>
      <label class="language"><span class="visually-hidden">${say("language")}</span>
        <select value=${spoken()} onChange=${(event) => onLanguage(event.target.value)}>
          ${Object.entries(LANGUAGES).map(([code, name]) => html`<option key=${code} value=${code} lang=${code}>${name}</option>`)}
        </select></label>
      <button type="button" class="button quiet" aria-label=${say("theme")} title=${say("theme")} onClick=${toggleTheme}><${Icon} name="theme" /></button>
    </nav>
  </header>`;
}

function Toolbar({ route, go, total, loading, onFilters, chosen, meant }) {
  const sorts = SORTS.filter((sort) => sort !== "relevance");
  return html`<div class="toolbar">
    <p class="total" role="status">${total === null ? "\u00a0" : sayCount(route.names ? "names" : "items", total)}${loading && html`<i class="spinner" aria-hidden="true"></i>`}</p>
    <button type="button" class="button narrow" onClick=${onFilters}><${Icon} name="filter" />${say("filters")}${chosen > 0 && html` <span class="badge">${chosen}</span>`}</button>
    <div class="segments" role="group" aria-label=${say("view")}>
      ${[false, true].map((names) => html`<button key=${names} type="button" aria-pressed=${String(route.names === names)} onClick=${() => go({ names })}>
        ${say(names ? "viewNames" : "viewItems")}</button>`)}
    </div>
    <label class="sort"><span class="visually-hidden">${say("sort")}</span>
      <select value=${route.sort ?? ""} onChange=${(event) => go({ sort: event.target.value || null })}>
        <option value="">${sayName("sort", route.q.trim() ? meant ?? "relevance" : "newest")}</option>
        ${sorts.filter((sort) => route.q.trim() || sort !== "newest").map((sort) => html`<option key=${sort} value=${sort}>${sayName("sort", sort)}</option>`)}
      </select></label>
  </div>`;
}

/** The filters: beside the results where there is room, else a sheet over them. */
function Filters({ sheet, onClose, total, names, ...properties }) {
  const dialog = useRef(null);
  useEffect(() => {
    if (sheet) dialog.current?.showModal();
  }, [sheet]);
  if (!sheet) return html`<aside aria-label=${say("filters")}><${Facets} ...${properties} /></aside>`;
  return html`<dialog class="sheet" ref=${dialog} aria-label=${say("filters")} onClose=${onClose}>
    <div class="sheet-head"><h2>${say("filters")}</h2>
      <button type="button" class="quiet" aria-label=${say("close")} onClick=${() => dialog.current.close()}><${Icon} name="close" /></button></div>
    <${Facets} ...${properties} />
    <div class="sheet-foot"><button type="button" class="button accent" onClick=${() => dialog.current.close()}>
      ${say("showResults")}${total !== null && ` · ${sayCount(names ? "names" : "items", total)}`}</button></div>
  </dialog>`;
}

/** That there are new listings: they come in when somebody wants them, so that nothing moves under a hand. */
function NewListings({ live, onShow }) {
  const text = live.waiting.length > MAX_WAITING ? say("newMany") : sayCount("newListings", live.waiting.length);
  return html`<div class="new-listings" role="status">
    ${live.waiting.length > 0 && html`<button type="button" class="button accent" onClick=${onShow}>${text}</button>`}</div>`;
}

function Results({ route, go, search, live, hidden, platform, onOpen }) {
  const [sheet, setSheet] = useState(false);
  const { total, loading, error, facets, interpretation } = search;
  // groups are counted anew, single listings go before the others
  const gear = search.gear && !route.names ? merged(live.shown, search.gear) : search.gear;
  const chosen = [...LISTS.flatMap((name) => route.lists[name]), ...RANGES.filter((name) => route.ranges[name])].length;
  const clear = () => go({ ...parse(""), names: route.names, platform: route.platform });
  const showNew = () => {
    live.show();
    search.retry();
    document.getElementById("results").focus();
    scrollTo(0, 0);
  };
  return html`<div class="results" hidden=${hidden}>
    <${Filters} sheet=${sheet} onClose=${() => setSheet(false)} total=${total} names=${route.names}
      lists=${route.lists} ranges=${route.ranges} facets=${facets} platform=${platform} go=${go} language=${spoken()} />
    <main id="results" tabindex="-1" aria-label=${say("viewItems")}>
      <h1 class="visually-hidden">${say("title")}</h1>
      <${Toolbar} route=${route} go=${go} total=${error && !gear ? null : total} loading=${loading} chosen=${chosen} meant=${interpretation?.sort} onFilters=${() => setSheet(true)} />
      <${Chips} route=${route} interpretation=${interpretation} currency=${platform.currency} go=${go} />
      <${NewListings} live=${live} onShow=${showNew} />
      ${error && html`<${ErrorMessage} error=${error} compact=${gear !== null} onRetry=${search.retry} />`}
      ${gear?.length === 0 && !error ? html`<${NothingFound} onClear=${clear} />`
        : !(error && gear === null) && html`<h2 class="visually-hidden">${say(route.names ? "viewNames" : "viewItems")}</h2><${Grid} search=${{ ...search, gear }} fresh=${new Set(live.shown.map(({ id }) => id))} platform=${platform} onOpen=${onOpen}
            hrefOf=${(item) => address({ ...search.of, item: String(item.id), order: null })} />`}
    </main>
  </div>`;
}

function TokenForm({ onEnter }) {
  const submit = (event) => {
    event.preventDefault();
    enterKey(new FormData(event.target).get("token").trim());
    onEnter();
  };
  return html`<main class="message" id="results"><h1>${say("tokenTitle")}</h1><p>${say("tokenText")}</p>
    <form onSubmit=${submit} class="token"><label for="token">${say("tokenLabel")}</label>
      <input id="token" name="token" type="password" required pattern="\\S+" autocomplete="off" />
      <button class="button accent">${say("tokenUse")}</button></form></main>`;
}

function App() {
  const [route, go] = useRoute();
  const [, setLanguage] = useState(spoken());
  const [asking, setAsking] = useState(false);
  const [hasKey, setHasKey] = useState(Boolean(access.key));
  const settled = useDelayed(route.q, TYPING_MS);
  const search = useSearch({ ...route, q: settled }, hasKey);
  const platform = config.platforms.find(({ id }) => id === route.platform);
  const elsewhere = Boolean(route.item || route.order);
  const live = useLive({ ...route, q: settled }, hasKey && !elsewhere);
  const scrolled = useRef(0);
  const typing = useRef(false);

  useEffect(() => {
    if (!elsewhere) scrollTo(0, scrolled.current);
    else scrollTo(0, 0);
  }, [elsewhere, route.item, route.order]);
  useEffect(() => {
    if (!elsewhere) document.title = route.q.trim() ? `${route.q.trim()} · ${say("title")}` : say("title");
  }, [route, elsewhere]);

  const leave = (patch) => {
    if (!elsewhere) scrolled.current = scrollY;
    go(patch);
  };
  const type = (q) => {
    // one step back undoes a text, not a letter
    go({ q, item: null, order: null }, { replace: typing.current && !elsewhere });
    typing.current = q !== "";
    scrolled.current = 0;
  };
  const pick = ({ text, kind }) => {
    typing.current = false;
    const sticker = kind === "sticker" ? { q: "", stickers: [...new Set([...route.stickers, text])] } : { q: text };
    go({ ...sticker, item: null, order: null });
  };
  const patch = useStable((change) => {
    typing.current = false;
    scrolled.current = 0;
    go(change);
  });
  const language = async (code) => {
    await choose(code);
    setLanguage(code);
  };
  const open = useStable((item) => leave({ item: String(item.id) }));
  const shared = { platform, go: leave, onRequest: () => setAsking(true) };
  return html`
    <${Paints} />
    <${Header} route=${route} go=${patch} onType=${type} onPick=${pick} onLanguage=${language} onRequest=${() => setAsking(true)} />
    ${!hasKey ? html`<${TokenForm} onEnter=${() => setHasKey(true)} />` : html`
      <${Results} route=${route} go=${patch} search=${search} live=${live} hidden=${elsewhere} platform=${platform} onOpen=${open} />
      ${route.order ? html`<${Later} from="order" part="OrderPage" key=${route.order} id=${route.order} ...${shared} />`
        : route.item && html`<${Later} from="item" part="ItemPage" key=${route.item} id=${route.item} route=${route} ...${shared} />`}`}
    ${asking && html`<${Later} from="request" part="RequestDrawer" onClose=${() => setAsking(false)} />`}`;
}

try {
  const theme = localStorage.getItem("gear.theme");
  if (theme === "dark" || theme === "light") document.documentElement.dataset.theme = theme;
} catch {
  // the system's theme does
}
await speak(preferredLanguage());
render(html`<${App} />`, document.getElementById("app"));
