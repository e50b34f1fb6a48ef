// Chips: how the text was understood and what else narrows the search, each of which can be taken away.
import { LISTS, MONEY, RANGES, parse } from "./route.js";
import { Icon, html } from "../ui.js";
import { money, say, sayName } from "../words.js";

const field = (name) => sayName("field", name);

/** A range for people. */
function rangeText(name, range, currency) {
  const show = (value) => (MONEY.has(name) ? money(value, currency) : String(value));
  const { min = null, max = null } = range;
  if (min !== null && max !== null) return min === max ? show(min) : `${show(min)} – ${show(max)}`;
  return min !== null ? `≥ ${show(min)}` : `≤ ${show(max)}`;
}

/** A meaning, in the shape of `filters`, for people: the fields and their values. */
function meaningText(meaning, currency) {
  return Object.entries(meaning).map(([name, value]) => {
    if (Array.isArray(value)) return `${field(name)}: ${[...new Set(value.map((one) => String(one.name ?? one).replace(/^★ /, "")))].join(", ")}`;
    if (value !== null && typeof value === "object" && ("min" in value || "max" in value)) return `${field(name)} ${rangeText(name, value, currency)}`;
    return `${field(name)}: ${typeof value === "object" ? JSON.stringify(value) : value}`;
  });
}

/** The text without a part of it as it was typed; with the word before it that excludes it. */
export function without(text, typed, terms) {
  const escaped = typed.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
  const part = new RegExp(`(?:-|\\b(?:not|no|non|without|except)\\s+)?${escaped}`, "i");
  const rest = part.test(text) ? text.replace(part, " ") : terms.filter((term) => term.typed !== typed).map((term) => term.typed).join(" ");
  return rest.replace(/\s+/g, " ").trim();
}

function Chip({ kind, typed = null, text, onRemove }) {
  const name = typed === null ? text : `${typed}: ${text}`;
  return html`<li class=${`chip ${kind}`}>
    <span>${typed !== null && html`<q>${typed}</q>`}${text}</span>
    <button type="button" aria-label=${say("remove", { what: name })} onClick=${onRemove}><${Icon} name="close" /></button>
  </li>`;
}

function textChips(route, interpretation, currency, go) {
  const { terms, relaxed, excluded } = interpretation;
  const ignored = interpretation.ignored ?? [];
  const instead = new Map(relaxed.map(({ typed, to }) => [typed, to]));
  const not = excluded.map((term) => ({ ...term, not: true }));
  const left = ignored.filter((word) => !terms.some(({ typed }) => typed === word)).map((typed) => ({ typed, means: [] }));
  return [...terms, ...not, ...left].map(({ typed, means, not: isNot = false }) => {
    const remove = () => go({ q: without(route.q, typed, terms) });
    const texts = [...new Set(means.flatMap((meaning) => meaningText(meaning, currency)))];
    const shown = texts.length > 3 ? [...texts.slice(0, 3), "…"] : texts;
    const meaning = isNot ? say("without") : ignored.includes(typed) ? say("ignored") : instead.get(typed) ?? shown.join(" · ");
    const kind = isNot ? "text excluded" : ignored.includes(typed) ? "text ignored" : "text";
    return html`<${Chip} key=${`text ${isNot} ${typed}`} kind=${kind} typed=${meaning ? typed : null} text=${meaning || typed} onRemove=${remove} />`;
  });
}

function filterChips(route, currency, go) {
  const lists = LISTS.flatMap((name) => route.lists[name].map((value) => ({
    key: `${name} ${value}`, text: `${field(name)}: ${value}`,
    patch: { lists: { ...route.lists, [name]: route.lists[name].filter((other) => other !== value) } },
  })));
  const ranges = RANGES.filter((name) => route.ranges[name]).map((name) => ({
    key: name, text: `${field(name)} ${rangeText(name, route.ranges[name], currency)}`, patch: { ranges: { ...route.ranges, [name]: null } },
  }));
  const stickers = route.stickers.map((name) => ({
    key: `sticker ${name}`, text: `${field("sticker")}: ${name}`, patch: { stickers: route.stickers.filter((other) => other !== name) },
  }));
  return [...lists, ...ranges, ...stickers].map(({ key, text, patch }) =>
    html`<${Chip} key=${key} kind="filter" text=${text} onRemove=${() => go(patch)} />`);
}

const EXAMPLES = { 730: ["ak redline ft under 50", "karambit doppler p2", "dragn lore", "awp float 0.01", "st m4 mw 20-50"] };

const Examples = ({ platform, go }) => html`<ul class="examples"><li class="muted">${say("examples")}</li>
  ${EXAMPLES[platform].map((text) => html`<li key=${text}><button type="button" class="link" onClick=${() => go({ q: text })}>${text}</button></li>`)}</ul>`;

export function Chips({ route, interpretation, currency, go }) {
  const fromText = route.q.trim() && interpretation ? textChips(route, interpretation, currency, go) : [];
  const chosen = filterChips(route, currency, go);
  const loosely = fromText.length > 0 && interpretation.reading !== "strict";
  const { lists, ranges } = parse("");
  const all = { q: "", lists, ranges, stickers: [] };
  if (!route.q && !chosen.length && route.platform in EXAMPLES) return html`<div class="chips"><${Examples} platform=${route.platform} go=${go} /></div>`;
  return html`<div class="chips">
    <ul aria-label=${say("understood")}>
      ${fromText}${chosen}
      ${fromText.length + chosen.length > 1 && html`<li><button type="button" class="link" onClick=${() => go(all)}>${say("clearAll")}</button></li>`}
    </ul>
    ${loosely && html`<p class="notice">${say("reading")}</p>`}
  </div>`;
}

export { field };
