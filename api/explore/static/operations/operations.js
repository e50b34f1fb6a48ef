// The page of operators: what serves, what is being loaded, what waits, searches without results, and the vocabulary.
import { access, call, enterKey } from "../api.js";
import { ErrorMessage } from "../messages.js";
import { html, render, useCallback, useEffect, useRef, useState } from "../ui.js";
import { LANGUAGES, choose, number, preferredLanguage, say, speak, spoken } from "../words.js";
import { tell } from "./words.js";

const REFRESH_MS = 5000;
const APPLIED_MS = 5000;
const SILENT_MS = 60_000; // a follower is heard of every 5 seconds
const MEMORY = "gear.operator";

/** The token of this tab, which a reload keeps and another tab does not have. */
const session = {
  read: () => { try { return sessionStorage.getItem(MEMORY); } catch { return null; } },
  write: (token) => { try { sessionStorage.setItem(MEMORY, token); } catch { /* a reload forgets it */ } },
  clear: () => { try { sessionStorage.removeItem(MEMORY); } catch { /* there is none */ } },
};

const when = (text) => new Date(text).toLocaleString(spoken(), { dateStyle: "medium", timeStyle: "short" });
const lasting = (seconds) => number(Math.round(seconds)) + " s";
const mebibytes = (bytes) => number(Math.round(bytes / 2 ** 20)) + " MiB";

function age(text) {
  const minutes = Math.max(0, Math.round((Date.now() - new Date(text)) / 60000));
  const [value, unit] = minutes < 60 ? [minutes, "minute"] : minutes < 2880 ? [Math.round(minutes / 60), "hour"] : [Math.round(minutes / 1440), "day"];
  return new Intl.NumberFormat(spoken(), { style: "unit", unit, unitDisplay: "long" }).format(value);
}

const Fact = ({ name, children, bad = false }) => html`<div class=${bad ? "fact bad" : "fact"}><dt>${name}</dt><dd>${children}</dd></div>`;

/** A table that scrolls by itself where it is wider than the screen. */
const Table = ({ caption, heads, children }) => html`<div class="scroll" role="group" tabindex="0" aria-label=${caption}>
  <table><caption class="visually-hidden">${caption}</caption>
    <thead><tr>${heads.map((head) => html`<th scope="col">${head || html`<span class="visually-hidden">${tell("more")}</span>`}</th>`)}</tr></thead>
    <tbody>${children}</tbody></table></div>`;

const Section = ({ id, title, children }) => html`<section class="panel" aria-labelledby=${id}><h2 id=${id}>${title}</h2>${children}</section>`;

function State({ state }) {
  const { engine, backlogs } = state;
  return html`<${Section} id="state" title=${tell("state")}>
    <dl class="facts">
      <${Fact} name=${tell("searches")} bad=${!state.search}>${tell(state.search ? "work" : "fail")}<//>
      <${Fact} name=${tell("orders")} bad=${!state.orders}>${tell(state.orders ? "work" : "fail")}<//>
      <${Fact} name=${tell("engine")} bad=${!engine || engine.status === "red"}>
        ${engine ? `${engine.status}, ${tell("nodes", engine.nodes)}, ${tell("unassigned", engine.unassignedShards)}` : tell("silent")}<//>
      ${backlogs ? html`
        <${Fact} name=${tell("indexSync")} bad=${backlogs.indexSyncSeconds > 60}>${number(backlogs.indexSyncPending)} · ${lasting(backlogs.indexSyncSeconds)}<//>
        <${Fact} name=${tell("overdue")} bad=${backlogs.callbacksOverdueSeconds > 60}>${number(backlogs.callbacksOverdue)} · ${lasting(backlogs.callbacksOverdueSeconds)}<//>
        <${Fact} name=${tell("givenUp")}>${number(backlogs.callbacksFailed)}<//>
        <${Fact} name=${tell("active")}>${number(backlogs.activeOrders)}<//>`
      : html`<${Fact} name=${tell("store")} bad>${tell("silent")}<//>`}
    </dl>
  <//>`;
}

function Work({ work, total }) {
  const of = total ? Math.min(1, (work.indexed ?? 0) / total) : 0;
  return html`<div class="work">
    <p><strong>${tell("running", work.command, work.host)}</strong> ${tell("since", when(work.since), when(work.heartbeat))}</p>
    ${work.read !== null && html`<p><progress max="1" value=${of} aria-label=${tell("progress")}></progress> ${tell("indexed", number(work.read), number(work.indexed))}</p>`}
  </div>`;
}

/** Whether a follower has neither said that it ends nor been heard of for a minute. */
const isSilent = ({ ended, heartbeat }) => !ended && Date.now() - new Date(heartbeat) > SILENT_MS;

/** The last load and the followers of a platform: how far behind they are, and what they refused and why. */
function Intakes({ platform }) {
  const { intakes, slug } = platform;
  const reasons = intakes.flatMap((intake) => intake.reasons.map((each) => ({ ...each, intake })));
  return html`<h3>${tell("intakes")}</h3>
    <${Table} caption=${`${tell("intakes")}: ${slug}`} heads=${[tell("command"), tell("source"), tell("heard"), tell("read"), tell("rejected"), tell("lag"), tell("delay")]}>
      ${intakes.map((each) => html`<tr key=${each.command + each.host + each.since}>
        <td>${each.command}</td><td>${each.source}<small class="muted"> ${each.host}</small></td>
        <td>${when(each.heartbeat)} <span class=${isSilent(each) ? "badge bad" : "badge"}>${tell(isSilent(each) ? "silentSince" : each.ended ? "ended" : "runs")}</span></td>
        <td class="number">${number(each.read)}</td><td class="number">${number(each.rejected)}</td>
        <td class="number">${each.lag === null ? "–" : number(each.lag)}</td><td class="number">${each.ageSeconds === null ? "–" : lasting(each.ageSeconds)}</td></tr>`)}
    <//>
    ${reasons.length > 0 && html`<h3>${tell("rejects")}</h3>
    <${Table} caption=${`${tell("rejects")}: ${slug}`} heads=${[tell("reason"), tell("itemsHead"), tell("source")]}>
      ${reasons.map(({ reason, count, intake }) => html`<tr key=${intake.command + intake.host + intake.since + reason}>
        <td>${reason}</td><td class="number">${number(count)}</td><td>${intake.command} · ${intake.source}</td></tr>`)}
    <//>`}`;
}

function Platform({ platform }) {
  const serving = platform.generations.find((each) => each.serving);
  return html`<${Section} id=${`platform-${platform.id}`} title=${`${tell("platform")} ${platform.slug}`}>
    ${platform.work && html`<${Work} work=${platform.work} total=${serving?.items} />`}
    ${platform.generations.length === 0 ? html`<p class="muted">${tell("notLoaded")}</p>` : html`
    <${Table} caption=${`${tell("indices")}: ${platform.slug}`} heads=${[tell("index"), tell("age"), tell("itemsHead"), tell("size"), tell("fingerprint"), ""]}>
      ${platform.generations.map((each) => html`<tr key=${each.index}>
        <td><code>${each.index}</code></td><td title=${when(each.createdAt)}>${age(each.createdAt)}</td><td class="number">${number(each.items)}</td>
        <td class="number">${mebibytes(each.bytes)}</td><td><code>${each.fingerprint}</code></td>
        <td>${each.serving && html`<span class="badge">${tell("serving")}</span>`}</td></tr>`)}
    <//>`}
    ${platform.intakes.length > 0 && html`<${Intakes} platform=${platform} />`}
  <//>`;
}

function Unanswered({ searches, onPick }) {
  return html`<${Section} id="unanswered" title=${tell("unanswered")}>
    <p class="muted">${tell("unansweredText")}</p>
    ${searches.length === 0 ? html`<p>${tell("nothing")}</p>` : html`
    <${Table} caption=${tell("unanswered")} heads=${[tell("text"), tell("searches"), tell("reading"), tell("last"), ""]}>
      ${searches.map((each) => html`<tr key=${`${each.platform} ${each.text} ${each.reading}`}>
        <td>${each.text}</td><td class="number">${number(each.count)}</td><td>${tell(`reading_${["none", "partial"].includes(each.reading) ? each.reading : "similar"}`)}</td><td>${each.lastDay}</td>
        <td><button type="button" class="link" onClick=${() => onPick(each)}>${tell("word")}<span class="visually-hidden"> ${each.text}</span></button></td></tr>`)}
    <//>`}
  <//>`;
}

const Trial = ({ name, trial }) => html`<div><h3>${name}: ${number(trial.total)}</h3><ol>${trial.names.map((each) => html`<li>${each}</li>`)}</ol></div>`;

/** The form for a word that is missing: tried on a text before it is added. */
function WordForm({ platforms, picked, onAdded }) {
  const [fields, setFields] = useState({ platform: platforms[0].id, spelling: "", words: "", query: "" });
  const [trial, setTrial] = useState(null);
  const [error, setError] = useState(null);
  const [busy, setBusy] = useState(false);
  const words = useRef(null);
  useEffect(() => {
    if (!picked) return;
    setFields((before) => ({ ...before, platform: picked.platform, spelling: picked.text.slice(0, 60), query: picked.text }));
    setTrial(null);
    words.current.focus();
  }, [picked]);
  const change = (name) => (event) => setFields({ ...fields, [name]: event.target.value });
  const entry = () => ({ platform: Number(fields.platform), term: { spellings: [fields.spelling.trim()], words: fields.words.trim() } });
  const send = async (work) => {
    setBusy(true);
    setError(null);
    try {
      await work();
    } catch (failure) {
      setError(failure);
    } finally {
      setBusy(false);
    }
  };
  const tryIt = () => send(async () => setTrial(await call("try", "POST", "/v1/vocabulary/test", { ...entry(), query: fields.query || fields.spelling })));
  const add = (event) => {
    event.preventDefault();
    send(async () => {
      await call("add", "POST", "/v1/vocabulary", entry());
      setFields({ ...fields, spelling: "", words: "", query: "" });
      setTrial(null);
      onAdded();
    });
  };
  const input = (name, required, more = {}) => html`<label class="field"><span>${tell(name)}</span>
    <input name=${name} value=${fields[name]} required=${required} maxlength=${more.max ?? 100} ref=${more.ref} onInput=${change(name)} autocomplete="off" /></label>`;
  return html`<${Section} id="word" title=${tell("word")}>
    <form onSubmit=${add}>
      ${platforms.length > 1 && html`<label class="field"><span>${tell("platform")}</span>
        <select value=${fields.platform} onChange=${change("platform")}>${platforms.map((each) => html`<option value=${each.id}>${each.slug}</option>`)}</select></label>`}
      ${input("spelling", true, { max: 60 })} ${input("words", true, { ref: words })} ${input("query", false, { max: 200 })}
      <p class="actions"><button type="button" class="button" disabled=${busy || !fields.spelling.trim() || !fields.words.trim()} onClick=${tryIt}>${tell("try")}</button>
        <button type="submit" class="button accent" disabled=${busy}>${tell("addWord")}</button></p>
    </form>
    ${error && html`<${ErrorMessage} error=${error} compact />`}
    ${trial && html`<div class="trial" role="status"><${Trial} name=${tell("before")} trial=${trial.before} /><${Trial} name=${tell("after")} trial=${trial.after} /></div>`}
  <//>`;
}

function Vocabulary({ entries, onRemove }) {
  const shown = ({ term, pin, hide }) => term ?? pin ?? hide ?? {};
  const kind = (each) => ["term", "pin", "hide"].find((name) => each[name]) ?? "newer";
  const texts = (each) => (shown(each).spellings ?? shown(each).texts ?? []).join(", ") || tell("everyText");
  const meaning = ({ words, names, filters }) => [words, ...(names ?? []), ...Object.entries(filters ?? {}).map(([name, values]) => `${name}: ${values.join(", ")}`)].filter(Boolean).join("; ");
  return html`<${Section} id="vocabulary" title=${tell("vocabulary")}>
    ${entries.length === 0 ? html`<p class="muted">${tell("noEntries")}</p>` : html`
    <${Table} caption=${tell("vocabulary")} heads=${[tell("kind"), tell("text"), tell("means"), tell("author"), tell("added"), ""]}>
      ${entries.map((each) => html`<tr key=${each.id}><td>${tell(kind(each))}</td><td>${texts(each)}</td><td>${meaning(shown(each))}</td>
        <td>${each.author}</td><td>${when(each.createdAt)}</td>
        <td><button type="button" class="link" onClick=${() => onRemove(each)}>${tell("removeWord")}<span class="visually-hidden"> ${texts(each)}</span></button></td></tr>`)}
    <//>`}
  <//>`;
}

function TokenForm({ onEnter, error }) {
  const [token, setToken] = useState("");
  const enter = (event) => {
    event.preventDefault();
    onEnter(token.trim());
  };
  return html`<main id="main" class="token"><h1>${tell("title")}</h1><p>${tell("tokenText")}</p><pre><code>gear-api token create --name operator --scope operate --scope catalogue</code></pre>
    ${error && html`<${ErrorMessage} error=${error} compact />`}
    <form onSubmit=${enter}><label class="field"><span>${say("tokenLabel")}</span>
      <input type="password" required autocomplete="off" value=${token} onInput=${(event) => setToken(event.target.value)} /></label>
      <button class="button accent">${say("tokenUse")}</button></form></main>`;
}

/** What the page shows, read again every few seconds while somebody looks at it. */
function useOperations(hasToken, onRefused) {
  const [data, setData] = useState(null);
  const [error, setError] = useState(null);
  const read = useCallback(async () => {
    try {
      const [state, searches, vocabulary] = await Promise.all([
        call("state", "GET", "/v1/operations"),
        call("searches", "GET", "/v1/searches/unanswered?limit=50"),
        call("vocabulary", "GET", "/v1/vocabulary"),
      ]);
      setData({ state, searches: searches.searches, entries: vocabulary.entries });
      setError(null);
    } catch (failure) {
      if (failure.status === 401 || failure.status === 403) onRefused(failure);
      else setError(failure);
    }
  }, [onRefused]);
  useEffect(() => {
    if (!hasToken) return undefined;
    read();
    const timer = setInterval(() => document.visibilityState === "visible" && read(), REFRESH_MS);
    return () => clearInterval(timer);
  }, [hasToken, read]);
  return [data, error, read];
}

function Header({ onLanguage, onLeave }) {
  return html`<header class="top"><a class="skip" href="#main">${tell("skip")}</a><a class="brand" href="/explore">gear</a>
    <nav aria-label=${tell("pages")}><a class="button quiet" href="/explore">${tell("explore")}</a><a class="button quiet" href="/docs">${say("docs")}</a></nav>
    <label class="language"><span class="visually-hidden">${say("language")}</span>
      <select value=${spoken()} onChange=${(event) => onLanguage(event.target.value)}>${Object.entries(LANGUAGES).map(([code, name]) => html`<option key=${code} value=${code} lang=${code}>${name}</option>`)}</select></label>
    ${onLeave && html`<button type="button" class="button" onClick=${onLeave}>${tell("leave")}</button>`}</header>`;
}

function App() {
  const [hasToken, setHasToken] = useState(Boolean(access.key));
  const [refused, setRefused] = useState(null);
  const [, setLanguage] = useState(spoken());
  const [picked, setPicked] = useState(null);
  const [notice, setNotice] = useState("");
  const leave = useCallback((failure = null) => {
    session.clear();
    enterKey(null);
    setRefused(failure);
    setHasToken(false);
  }, []);
  const enter = (token) => {
    session.write(token);
    enterKey(token);
    setRefused(null);
    setHasToken(true);
  };
  const [data, error, read] = useOperations(hasToken, leave);
  useEffect(() => { document.title = tell("title"); });
  const language = async (code) => {
    await choose(code);
    setLanguage(code);
  };
  const changed = (text) => {
    setNotice(text);
    read();
    setTimeout(() => setNotice(""), APPLIED_MS);
  };
  const remove = async (entry) => {
    try {
      await call("remove", "DELETE", `/v1/vocabulary/${encodeURIComponent(entry.id)}`);
    } catch (failure) {
      changed(failure.message);
      return;
    }
    changed(tell("removed"));
  };
  if (!hasToken) return html`<${Header} onLanguage=${language} /><${TokenForm} onEnter=${enter} error=${refused} />`;
  return html`<${Header} onLanguage=${language} onLeave=${() => leave()} />
    <main id="main" class="operations" tabindex="-1"><h1>${tell("title")}</h1>
      <p class="notice" role="status">${notice}</p>
      ${error && html`<${ErrorMessage} error=${error} onRetry=${read} compact />`}
      ${!data ? !error && html`<p role="status">${say("loading")}</p>` : html`
        <${State} state=${data.state} />
        ${(data.state.platforms ?? []).map((platform) => html`<${Platform} key=${platform.id} platform=${platform} />`)}
        <${Unanswered} searches=${data.searches} onPick=${(each) => setPicked({ ...each })} />
        ${data.state.platforms && html`<${WordForm} platforms=${data.state.platforms} picked=${picked} onAdded=${() => changed(tell("addedNotice"))} />`}
        <${Vocabulary} entries=${data.entries} onRemove=${remove} />`}
    </main>`;
}

await speak(preferredLanguage());
enterKey(session.read());
render(html`<${App} />`, document.getElementById("app"));
