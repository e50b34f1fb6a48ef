// A range over a histogram: bars, two handles that are range inputs, and two fields for exact numbers.
import { field } from "./chips.js";
import { html, useEffect, useState } from "../ui.js";
import { say } from "../words.js";

/** Neighbouring buckets together, so that there are at most so many. */
function coarser(buckets, most) {
  const size = Math.ceil(buckets.length / most);
  if (size <= 1) return buckets;
  return Array.from({ length: Math.ceil(buckets.length / size) }, (_, at) => buckets.slice(at * size, (at + 1) * size))
    .map((part) => ({ from: part[0].from, to: part.at(-1).to, count: part.reduce((sum, { count }) => sum + count, 0) }));
}

/** The handle's place for a value: the edge beside it. */
function placeOf(edges, value, otherwise, upper) {
  if (value === null || value === undefined) return otherwise;
  const at = upper ? edges.findIndex((edge) => edge >= value) : edges.findLastIndex((edge) => edge <= value);
  return at < 0 ? otherwise : at;
}

function Bars({ buckets, low, high }) {
  const most = Math.max(1, ...buckets.map(({ count }) => count));
  const width = 100 / buckets.length;
  const gap = Math.min(0.8, 0.2 * width);
  return html`<svg class="bars" viewBox="0 0 100 40" preserveAspectRatio="none" aria-hidden="true">
    ${buckets.map(({ count }, at) => {
      const height = count ? Math.max(1.5, 40 * Math.sqrt(count / most)) : 0;
      return html`<rect key=${at} class=${at >= low && at < high ? "in" : "out"} x=${at * width + gap / 2} y=${40 - height}
        width=${width - gap} height=${height} />`;
    })}
  </svg>`;
}

function Exact({ name, bound, value, onChange, step }) {
  return html`<label><span class="visually-hidden">${say(bound === "min" ? "minimum" : "maximum", { field: field(name) })}</span>
    <input type="number" inputmode="decimal" min="0" step=${step} value=${value ?? ""} placeholder=${say(bound === "min" ? "from" : "to")}
      onChange=${(event) => onChange(event.target.value === "" ? null : Math.max(0, Number(event.target.value)))} /></label>`;
}

/** `counts` is the facet; `range` what is chosen, null for everything; `show` writes a value for people. */
export function RangeFacet({ name, counts, range, show, most, step, under, onChange }) {
  const buckets = coarser(counts?.buckets ?? [], most);
  const edges = buckets.length ? [...buckets.map(({ from }) => from), buckets.at(-1).to] : [0, 1];
  const end = edges.length - 1;
  const placed = [placeOf(edges, range?.min, 0, false), placeOf(edges, range?.max, end, true)];
  const [dragged, setDragged] = useState(null);
  const [low, high] = dragged ?? placed;
  useEffect(() => setDragged(null), [JSON.stringify(range), JSON.stringify(edges)]);

  const choose = (min, max) => {
    const ordered = min !== null && max !== null && min > max ? [max, min] : [min, max];
    onChange(ordered[0] === null && ordered[1] === null ? null : { min: ordered[0], max: ordered[1] });
  };
  const drag = (at, value) => setDragged(at === 0 ? [Math.min(value, high), high] : [low, Math.max(value, low)]);
  const drop = () => dragged && choose(low === 0 ? null : edges[low], high === end ? null : edges[high]);
  const handle = (at, bound, value) => html`<input type="range" min="0" max=${end} step="1" value=${value} disabled=${!buckets.length}
    aria-label=${say(bound === "min" ? "minimum" : "maximum", { field: field(name) })} aria-valuetext=${show(edges[value])}
    onInput=${(event) => { drag(at, Number(event.target.value)); event.target.value = at === 0 ? Math.min(Number(event.target.value), high) : Math.max(Number(event.target.value), low); }}
    onChange=${drop} />`;
  return html`<fieldset class="facet range">
    <legend>${field(name)}</legend>
    <div class=${`plot ${counts ? "" : "waiting"}`}>
      <${Bars} buckets=${buckets} low=${low} high=${high} />
      ${under}
      <div class="handles">
        <div class="track" aria-hidden="true"><div style=${{ left: `${(100 * low) / end}%`, right: `${100 - (100 * high) / end}%` }}></div></div>
        ${handle(0, "min", low)}${handle(1, "max", high)}
      </div>
    </div>
    <div class="exact">
      <${Exact} name=${name} bound="min" value=${dragged && low > 0 ? edges[low] : dragged ? null : range?.min} step=${step} onChange=${(value) => choose(value, range?.max ?? null)} />
      <span aria-hidden="true">–</span>
      <${Exact} name=${name} bound="max" value=${dragged && high < end ? edges[high] : dragged ? null : range?.max} step=${step} onChange=${(value) => choose(range?.min ?? null, value)} />
    </div>
  </fieldset>`;
}
