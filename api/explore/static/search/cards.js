// Cards of items and of names, the grid that they stand in, and the float's scale.
import { Picture, paintOf, toneOf } from "./picture.js";
import { html, memo, useEffect, useLasting, useRef } from "../ui.js";
import { money, percent, say, sayCount, spoken, wear } from "../words.js";

const SLOW_MS = 200; // after which the hits of before are shown as such

/** The parts of a name: what the thing is, what it looks like; the exterior has its own place. */
export function partsOf(item) {
  const { exterior } = item.details;
  const name = exterior && item.name.endsWith(` (${exterior})`) ? item.name.slice(0, -exterior.length - 3) : item.name;
  const at = name.indexOf(" | ");
  return at < 0 ? ["", name] : [name.slice(0, at), name.slice(at + 3)];
}

/** What the thing is, without the quality that a badge says. */
const plainly = (thing, quality) => thing.replace(quality ?? "", "").replace(/^\s+/, "");

/** Where a float lies on the scale from 0 to 1, with the bands of the exteriors. */
export function FloatScale({ value, to = null, exteriors }) {
  const place = (number) => `${100 * Math.min(1, Math.max(0, number))}%`;
  const mark = to === null || to === value
    ? html`<b style=${{ left: place(value) }}></b>`
    : html`<b class="span" style=${{ left: place(value), width: place(to - value) }}></b>`;
  return html`<div class="scale" aria-hidden="true">
    ${exteriors.map((band, at) => html`<i key=${band.name} class=${`band-${at % 5}`} style=${{ flexGrow: band.to - band.from }}></i>`)}
    ${mark}
  </div>`;
}

/** The stickers on an item; the worn ones are paler. */
function Stickers({ attachments }) {
  if (!attachments.length) return null;
  const shown = attachments.slice(0, 5);
  const text = attachments.map(({ name, wear: worn }) => (worn ? `${name} (${say("wear", { percent: percent(worn) })})` : name)).join(", ");
  return html`<div class="stickers" aria-label=${`${say("stickers")}: ${text}`} role="img" title=${text}>
    ${shown.map((sticker, at) => html`<span key=${at} class=${`worn-${Math.round(4 * (sticker.wear ?? 0))}`}>
      <${Picture} address=${sticker.image} type=${sticker.type === "charm" ? "Charm" : "Sticker"} seed=${paintOf(sticker.name)} /></span>`)}
  </div>`;
}

function Badges({ details, fresh }) {
  const quality = (details.quality ?? "").replace("★", "").trim();
  return html`<div class="badges">
    ${fresh && html`<span class="badge fresh">${say("fresh")}</span>`}
    ${quality && quality !== "Normal" && html`<span class=${`badge quality-${quality.startsWith("Souvenir") ? "souvenir" : "counter"}`}>${quality}</span>`}
    ${details.phase && html`<span class="badge phase">${details.phase}</span>`}
  </div>`;
}

function Wear({ item, exteriors }) {
  const { float } = item.paint;
  const span = item.offers ?? null;
  const low = span ? span.floatMin : float;
  const high = span ? span.floatMax : float;
  const numbers = low === null ? "" : low === high ? wear(low) : `${wear(low)} – ${wear(high)}`;
  return html`<div class="wear">
    <div class="line"><span>${item.details.exterior ?? item.details.type ?? ""}</span><span class="number">${numbers}</span></div>
    ${low === null ? html`<div class="scale none" aria-hidden="true"></div>` : html`<${FloatScale} value=${low} to=${high} exteriors=${exteriors} />`}
  </div>`;
}

function Price({ item, currency }) {
  const { offers, price } = item;
  const shown = price === null ? say("noPrice") : offers?.count > 1 ? say("priceFrom", { price: money(price, currency) }) : money(price, currency);
  return html`<span class=${price === null ? "price none" : "price"}>${shown}</span>
    ${offers && html`<span class="offers">${sayCount("offers", offers.count)}</span>`}`;
}

export const Card = memo(({ item, platform, href, onOpen, eager = false, fresh = false }) => {
  const [thing, look] = partsOf(item);
  const { seed, pattern } = item.paint;
  const open = (event) => {
    if (event.ctrlKey || event.metaKey || event.shiftKey || event.button !== 0) return;
    event.preventDefault();
    onOpen(item);
  };
  return html`<article class=${`card tone-${toneOf(item.details.rarity)}`}>
    <div class="stage">
      <${Badges} details=${item.details} fresh=${fresh} />
      <${Picture} address=${item.image} type=${item.details.type} seed=${paintOf(look)} eager=${eager} />
      <${Stickers} attachments=${item.attachments} />
    </div>
    <h3><a href=${href} onClick=${open} aria-label=${item.name}><small>${plainly(thing, item.details.quality) || item.details.type || " "}</small><span>${look}</span></a></h3>
    <${Wear} item=${item} exteriors=${platform.exteriors} />
    <div class="line bottom">
      <${Price} item=${item} currency=${platform.currency} />
      ${!item.offers && (pattern !== null || seed !== null) && html`<span class="seed" title=${say(pattern === null ? "seed" : "pattern")}>#${pattern ?? seed}</span>`}
    </div>
  </article>`;
});

const Skeletons = ({ count }) => Array.from({ length: count }, (_, at) => html`
  <li key=${`skeleton ${at}`} class="card skeleton-card" aria-hidden="true"><div class="stage skeleton"></div><div class="skeleton line"></div>
  <div class="skeleton line short"></div><div class="skeleton line"></div></li>`);

/** The hits; asks for more when its end comes near. */
export function Grid({ search, fresh, platform, hrefOf, onOpen }) {
  const end = useRef(null);
  const slow = useLasting(search.loading, SLOW_MS);
  const { gear, loading, more, end: atEnd, loadMore } = search;
  const waits = gear !== null && !atEnd && !loading && more === null;
  useEffect(() => {
    if (!waits || !end.current) return undefined;
    const observer = new IntersectionObserver((entries) => entries.at(-1).isIntersecting && loadMore(), { rootMargin: "600px" });
    observer.observe(end.current);
    return () => observer.disconnect();
  }, [waits, loadMore, gear?.length]);
  return html`<ul class=${`grid ${slow && gear ? "stale" : ""}`} aria-busy=${String(loading)}>
      ${gear === null ? html`<${Skeletons} count=${12} />` : gear.map((item, at) => html`<li key=${item.id}>
        <${Card} item=${item} platform=${platform} href=${hrefOf(item)} onOpen=${onOpen} eager=${at < 6} fresh=${fresh.has(item.id)} language=${spoken()} /></li>`)}
      ${more === "loading" && html`<${Skeletons} count=${4} />`}
    </ul>
    <div class="end" ref=${end}>
      ${more instanceof Error && html`<p role="alert">${more.message}</p>`}
      ${gear !== null && gear.length > 0 && (atEnd ? html`<p class="muted">${say("end")}</p>`
        : html`<button type="button" class="button" disabled=${more === "loading"} onClick=${loadMore}>${more === "loading" ? say("loading") : say("loadMore")}</button>`)}
    </div>`;
}
