// The column of filters: histograms and lists of values with their counts.
import { field } from "./chips.js";
import { RangeFacet } from "./histogram.js";
import { toneOf } from "./picture.js";
import { LISTS, MONEY, RANGES } from "./route.js";
import { html, memo, useState } from "../ui.js";
import { money, number, say } from "../words.js";

const SHOWN = 7;
const FINDABLE = 14;
const OPEN = new Set(LISTS.slice(0, 5));
const folded = (text) => text.normalize("NFKD").replace(/[\u0300-\u036f™★]/g, "").trim().toLowerCase();

/** One entry for spellings that a filter takes for one, such as `StatTrak™` and `★ StatTrak™`. */
function distinct(values) {
  const known = new Map();
  for (const entry of values) {
    const key = folded(entry.value) || entry.value;
    if (!known.has(key) || entry.value.length < known.get(key).value.length) known.set(key, entry);
  }
  return [...known.values()];
}

function Value({ name, entry, checked, onToggle }) {
  return html`<li><label class="value">
    <input type="checkbox" checked=${checked} onChange=${onToggle} />
    ${name === "rarity" && html`<i class=${`dot tone-${toneOf(entry.value)}`} aria-hidden="true"></i>`}
    <span class="text">${entry.value}</span>
    <span class="count">${number(entry.count)}</span>
  </label></li>`;
}

function ListFacet({ name, values, chosen, onChange }) {
  const [all, setAll] = useState(false);
  const [text, setText] = useState("");
  const entries = distinct(values ?? []);
  if (values && !entries.length) return null;
  const selected = new Set(chosen.map(folded));
  const isChosen = (value) => selected.has(folded(value)) || chosen.includes(value);
  const matching = all && text ? entries.filter(({ value }) => folded(value).includes(folded(text))) : entries;
  const shown = all ? matching : entries.filter(({ value }, at) => at < SHOWN || isChosen(value));
  const toggle = (value) => onChange(isChosen(value)
    ? chosen.filter((other) => folded(other) !== folded(value) || (folded(value) === "" && other !== value))
    : [...chosen, value]);
  return html`<details class="facet" open=${OPEN.has(name) || chosen.length > 0}>
    <summary>${field(name)}${chosen.length > 0 && html` <span class="badge">${chosen.length}</span>`}</summary>
    ${all && entries.length > FINDABLE && html`<input class="find" type="search" value=${text} placeholder=${say("find", { field: field(name) })}
      aria-label=${say("find", { field: field(name) })} onInput=${(event) => setText(event.target.value)} />`}
    <ul class=${all ? "values long" : "values"} aria-label=${field(name)}>
      ${values === undefined
        ? Array.from({ length: 5 }, (_, at) => html`<li key=${at} class="skeleton line"></li>`)
        : shown.map((entry) => html`<${Value} key=${entry.value} name=${name} entry=${entry} checked=${isChosen(entry.value)}
            onToggle=${() => toggle(entry.value)} />`)}
    </ul>
    ${entries.length > SHOWN && html`<button type="button" class="link" aria-expanded=${String(all)} onClick=${() => { setAll(!all); setText(""); }}>
      ${all ? say("showFewer") : say("showAll", { n: number(entries.length) })}</button>`}
  </details>`;
}

/** The wear bands, as wide as they are on the float's scale. */
export const Bands = ({ exteriors }) => html`<div class="bands" aria-hidden="true">
  ${exteriors.map((band, at) => html`<i key=${band.name} class=${`band-${at % 5}`} style=${{ flexGrow: band.to - band.from }} title=${band.name}></i>`)}
</div>`;

export const Facets = memo(({ lists, ranges, facets, platform, go }) => {
  const amounts = { most: 40, step: "0.01", show: (value) => money(value, platform.currency, true) };
  const shares = { most: 50, step: "any", show: (value) => value.toFixed(2) };
  return html`<div class="facets">
    ${RANGES.map((name) => html`<${RangeFacet} key=${name} name=${name} counts=${facets?.[name]} range=${ranges[name]}
      ...${MONEY.has(name) ? amounts : shares} onChange=${(range) => go({ ranges: { ...ranges, [name]: range } })} />`)}
    ${LISTS.map((name) => html`<${ListFacet} key=${name} name=${name} values=${facets?.[name]} chosen=${lists[name]}
      onChange=${(values) => go({ lists: { ...lists, [name]: values } })} />`)}
  </div>`;
});
