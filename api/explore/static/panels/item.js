// An item's page: what it is, where its float lies, the offers of the same name, and what is like it.
import { access, call } from "../api.js";
import { Card, FloatScale, partsOf } from "../search/cards.js";
import { ErrorMessage } from "../messages.js";
import { Picture, paintOf, toneOf } from "../search/picture.js";
import { address } from "../search/route.js";
import { Icon, html, useEffect, useRef, useState } from "../ui.js";
import { money, number, percent, say, sayName, wear } from "../words.js";
import { OrderForm } from "./order-form.js";

const search = (step, body, signal) => call(step, "POST", "/v1/gear/search", body, { signal });

/** What is shown around an item; each part is missing where it could not be had. */
function useAround(item, platform) {
  const [around, setAround] = useState({});
  useEffect(() => {
    if (!item) return undefined;
    const controller = new AbortController();
    const put = (name) => (part) => setAround((before) => ({ ...before, [name]: part }));
    const ask = (name, body, select) =>
      search(name, { platform: platform.id, ...body }, controller.signal).then((response) => put(name)(select(response)), () => put(name)(null));
    const [thing, look] = partsOf(item);
    const { weapon, type } = item.details;
    const kind = weapon ? { weapon: [weapon] } : type ? { type: [type] } : {};
    ask("same", { filters: { name: [item.name] }, sort: "price_asc", limit: 100 }, ({ gear }) => gear);
    ask("variants", { query: `${thing} ${look}`.trim().slice(0, 200), filters: kind, groupBy: "name", limit: 12 },
      ({ gear }) => gear.filter((other) => other.name !== item.name && partsOf(other)[1] === look).slice(0, 6));
    if (item.price !== null) {
      const price = { min: Math.floor(item.price * 80) / 100, max: Math.ceil(item.price * 125) / 100 };
      ask("similar", { filters: { ...kind, price }, sort: "price_asc", groupBy: "name", limit: 12 },
        ({ gear }) => gear.filter(({ name }) => name !== item.name).slice(0, 6));
    }
    return () => controller.abort();
  }, [item]);
  return around;
}

/** The prices of the same name: a dot an offer, by float where they have one. */
function Spread({ item, same, currency }) {
  const priced = (same ?? []).filter(({ price }) => price !== null);
  if (item.price === null || !same) return null;
  if (priced.length < 2) return html`<section><h2>${say("spread")}</h2><p class="muted">${say("spreadOnly")}</p></section>`;
  const prices = priced.map(({ price }) => price).sort((a, b) => a - b);
  const [low, high] = [prices[0], prices.at(-1)];
  const floats = priced.map(({ paint }) => paint.float).filter((float) => float !== null);
  const [from, to] = floats.length ? [Math.min(...floats), Math.max(...floats)] : [0, 1];
  const left = ({ paint, id }) => 4 + 92 * (paint.float === null ? (id % 97) / 97 : (paint.float - from) / (to - from || 1));
  const top = ({ price }) => 92 - 84 * ((price - low) / (high - low || 1));
  const rank = say("spreadRank", { rank: number(prices.findIndex((price) => price >= item.price) + 1) });
  const text = say("spreadText", { n: number(priced.length), low: money(low, currency), high: money(high, currency), rank });
  const others = priced.filter(({ id }) => id !== item.id);
  return html`<section><h2>${say("spread")}</h2><p class="muted">${text}</p>
    <figure class="spread">
      <span class="axis high">${money(high, currency)}</span><span class="axis low">${money(low, currency)}</span>
      <div class="dots" role="img" aria-label=${text}>
        ${[...others, item].map((offer) => html`<i key=${offer.id} class=${offer.id === item.id ? "this" : ""} title=${money(offer.price, currency)}
          style=${{ left: `${left(offer)}%`, top: `${top(offer)}%` }}></i>`)}
      </div>
      <figcaption><span>${floats.length ? wear(from) : ""}</span><span>${say(floats.length ? "spreadAxis" : "spreadStrip")}</span><span>${floats.length ? wear(to) : ""}</span></figcaption>
    </figure></section>`;
}

function Facts({ item }) {
  const rows = [
    ...Object.entries(item.details).map(([name, value]) => [sayName("field", name), value]),
    ...["seed", "pattern", "index"].map((name) => [say(name === "index" ? "paintIndex" : name), item.paint[name]]),
    ["Id", item.id],
  ].filter(([, value]) => value !== null);
  return html`<section><h2>${say("facts")}</h2><dl class="facts">
    ${rows.map(([name, value]) => html`<div key=${name}><dt>${name}</dt><dd>${String(value)}</dd></div>`)}
  </dl></section>`;
}

function Attachments({ attachments }) {
  if (!attachments.length) return null;
  return html`<section><h2>${say("stickers")}</h2><ul class="attachments">
    ${attachments.map((sticker, at) => html`<li key=${at}>
      <${Picture} address=${sticker.image} type=${sticker.type === "charm" ? "Charm" : "Sticker"} seed=${paintOf(sticker.name)} />
      <div><span>${sticker.name}</span>
        ${sticker.wear !== null && html`<small>${sticker.wear === 0 ? say("asNew") : say("wear", { percent: percent(sticker.wear) })}</small>
          <div class="meter" aria-hidden="true"><i style=${{ width: `${100 * (1 - sticker.wear)}%` }}></i></div>`}</div>
    </li>`)}
  </ul></section>`;
}

function Row({ title, items, platform, route, go }) {
  if (!items?.length) return null;
  const open = (item) => go({ item: String(item.id) });
  return html`<section class="row"><h2>${title}</h2><ul class="grid">
    ${items.map((item) => html`<li key=${item.id}><${Card} item=${item} platform=${platform} href=${address({ ...route, item: String(item.id) })} onOpen=${open} /></li>`)}
  </ul></section>`;
}

/** Links of listings are hostile: only what opens the game, or a page over TLS, is one. */
const safeLink = (text) => (/^(steam:\/\/|https:\/\/)/.test(text ?? "") ? text : null);

function Waiting() {
  return html`<div class="item-head" aria-busy="true"><div class="stage big skeleton"></div><div><div class="skeleton line"></div><div class="skeleton line short"></div><div class="skeleton line"></div></div></div>`;
}

export function ItemPage({ id, route, platform, go, onRequest }) {
  const [response, setResponse] = useState(null);
  const [error, setError] = useState(null);
  const [attempt, setAttempt] = useState(0);
  const heading = useRef(null);
  const item = response?.gear;
  const around = useAround(item, platform);
  useEffect(() => {
    const controller = new AbortController();
    call("item", "GET", `/v1/gear/${id}?platform=${platform.id}`, null, { signal: controller.signal }).then(
      (found) => {
        setResponse(found);
        setError(null);
      },
      (failure) => failure.name !== "AbortError" && setError(failure),
    );
    return () => controller.abort();
  }, [id, attempt]);
  useEffect(() => {
    if (!item) return;
    document.title = `${item.name} · ${say("title")}`;
    heading.current.focus({ preventScroll: true });
  }, [item]);
  const back = html`<a class="button quiet back" href=${address({ ...route, item: null })} onClick=${(event) => { event.preventDefault(); go({ item: null }); }}>
    <${Icon} name="back" />${say("back")}</a>`;
  if (error) return html`<main class="page">${back}<${ErrorMessage} error=${error} onRetry=${() => setAttempt(attempt + 1)} /></main>`;
  if (!item) return html`<main class="page">${back}<${Waiting} /></main>`;
  const [thing, look] = partsOf(item);
  const inspect = safeLink(item.inspectLink);
  return html`<main class="page" id="item">
    ${back}
    <div class=${`item-head tone-${toneOf(item.details.rarity)}`}>
      <div class="stage big"><${Picture} address=${item.image} type=${item.details.type} seed=${paintOf(look)} eager /></div>
      <div class="about">
        <h1 ref=${heading} tabindex="-1"><small>${thing}</small>${look}</h1>
        <p class="tags">${[item.details.quality, item.details.exterior, item.details.phase, item.details.rarity].filter((tag) => tag && tag !== "Normal").map((tag) =>
          html`<span key=${tag} class="badge">${tag}</span>`)}</p>
        ${item.paint.float !== null && html`<div class="wear"><div class="line"><span>${say("float")}</span><span class="number">${item.paint.float}</span></div>
          <${FloatScale} value=${item.paint.float} exteriors=${platform.exteriors} />
          <div class="line small muted" aria-hidden="true"><span>0</span><span>1</span></div></div>`}
        <p class="buy"><span class="price">${item.price === null ? say("noPrice") : money(item.price, platform.currency)}</span>
          ${!response.available && html`<span class="badge">${say("unavailable")}</span>`}</p>
        <p class="actions">
          ${inspect && html`<a class="button" href=${inspect} rel="noreferrer noopener"><${Icon} name="eye" />${say("inspect")}</a>`}
          <button type="button" class="button" onClick=${onRequest}><${Icon} name="code" />${say("request")}</button></p>
        ${item.description && html`<p class="muted">${item.description}</p>`}
      </div>
    </div>
    <div class="columns">
      <div><${Spread} item=${item} same=${around.same} currency=${platform.currency} /><${Attachments} attachments=${item.attachments} /></div>
      <div><${Facts} item=${item} /></div>
      <div>${access.orders && html`<${OrderForm} platform=${platform} go=${go} />`}</div>
    </div>
    <${Row} title=${say("variants")} items=${around.variants} platform=${platform} route=${route} go=${go} />
    <${Row} title=${say("similar")} items=${around.similar} platform=${platform} route=${route} go=${go} />
  </main>`;
}
