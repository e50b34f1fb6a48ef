// A sandbox order's page: its state as it goes on, its amounts, and the callbacks that were sent.
import { call } from "../api.js";
import { pretty } from "./code.js";
import { ErrorMessage } from "../messages.js";
import { Icon, html, useEffect, useRef, useState } from "../ui.js";
import { clock, money, say, spoken } from "../words.js";

const LOOK_MS = 1000;
const WAY = ["created", "processing", "delivered", "completed"];
const BAD = new Set(["failed", "cancelled", "reverted"]);
const QUIET_LOOKS = 15; // a completed order may still be taken back

/** The order and its callbacks, looked at every second until nothing more can happen. */
function useOrder(id) {
  const [state, setState] = useState({ order: null, deliveries: null, error: null, live: true });
  const [attempt, setAttempt] = useState(0);
  useEffect(() => {
    const controller = new AbortController();
    let timer = 0;
    let quiet = 0;
    const options = { signal: controller.signal };
    const look = async () => {
      try {
        const [{ order }, { deliveries }] = await Promise.all([
          call("state", "GET", `/v1/orders/${id}`, null, options),
          call("deliveries", "GET", `/v1/orders/${id}/deliveries`, null, options),
        ]);
        const waiting = deliveries.some((delivery) => delivery.state === "pending");
        quiet = BAD.has(order.state) || order.state === "completed" ? quiet + 1 : 0;
        const live = !(BAD.has(order.state) && !waiting) && quiet < QUIET_LOOKS;
        setState({ order, deliveries, error: null, live });
        if (live) timer = setTimeout(look, LOOK_MS);
      } catch (error) {
        if (error.name === "AbortError") return;
        setState((before) => ({ ...before, error }));
        if (error.passes) timer = setTimeout(look, 2 * LOOK_MS);
      }
    };
    look();
    return () => {
      controller.abort();
      clearTimeout(timer);
    };
  }, [id, attempt]);
  return { ...state, again: () => setAttempt(attempt + 1) };
}

/** The states that the order has been through and those ahead of it. */
function Steps({ order }) {
  const reached = order.history.map(({ state }) => state);
  const ahead = BAD.has(order.state) ? [] : WAY.slice(WAY.indexOf(order.state) + 1);
  return html`<ol class="steps">
    ${[...reached, ...ahead].map((state, at) => {
      const event = order.history[at];
      const kind = BAD.has(state) ? "bad" : event ? "done" : "";
      const current = at === reached.length - 1;
      return html`<li key=${state} class=${kind} aria-current=${current ? "step" : undefined}>
        <span>${say(`state_${state}`)}</span><small>${event ? html`<time datetime=${event.at}>${clock(event.at)}</time>` : ""}</small>
        ${event?.reason && html`<small>${event.reason}</small>`}</li>`;
    })}
  </ol>`;
}

const bodyOf = (order, event, at) => pretty({ type: event.event, timestamp: at, data: { order: { ...order, history: undefined, state: event.event.slice(6) } } });

function Deliveries({ order, deliveries }) {
  if (!deliveries.length) return html`<p class="muted">${say("callbacksNone")}</p>`;
  return html`<ol class="deliveries">${deliveries.map((delivery) => html`<li key=${delivery.n}>
    <div class="line"><code>${delivery.event}</code><span class=${`badge delivery-${delivery.state}`}>${say(`delivery_${delivery.state}`)}</span></div>
    <ul>${delivery.attempts.map((attempt, at) => html`<li key=${at} class="muted small">${clock(attempt.at)} · ${attempt.outcome}${attempt.statusCode ? ` ${attempt.statusCode}` : ""} · ${attempt.milliseconds} ms</li>`)}</ul>
    ${delivery.nextAttemptAt && html`<p class="muted small">${say("nextAttempt", { at: clock(delivery.nextAttemptAt) })}</p>`}
    <details><summary>${say("callbackBody")}</summary><pre tabindex="0"><code>${bodyOf(order, delivery, order.history[delivery.n - 1]?.at ?? order.updatedAt)}</code></pre></details>
  </li>`)}</ol>`;
}

export function OrderPage({ id, platform, go, onRequest }) {
  const { order, deliveries, error, live, again } = useOrder(id);
  const heading = useRef(null);
  const known = order !== null;
  useEffect(() => {
    document.title = `${say("orderTitle")} · ${say("title")}`;
    if (known) heading.current.focus({ preventScroll: true });
  }, [known]);
  const cancel = () => call("cancel", "POST", `/v1/orders/${id}/transitions`, { to: "cancelled", reason: "the visitor cancelled" }).then(again, again);
  const back = html`<a class="button quiet back" href="/explore" onClick=${(event) => { event.preventDefault(); go({ order: null, item: null }); }}>
    <${Icon} name="back" />${say("back")}</a>`;
  return html`<main class="page" id="order">
    ${back}
    ${error && html`<${ErrorMessage} error=${error} compact=${known} onRetry=${again} />`}
    ${known && html`
      <div class="order-head"><div><p class="muted small">${say("orderTitle")} <code>${order.id}</code></p>
        <h1 ref=${heading} tabindex="-1" aria-live="polite">${say(`state_${order.state}`)}</h1></div>
        <p class=${`live ${live ? "on" : ""}`}>${say(live ? "orderLive" : "orderEnded")}</p></div>
      <${Steps} order=${order} />
      <div class="columns two">
        <section class="panel"><h2>${say("orderItem", { item: order.item })}</h2>
          <dl class="amounts">${["price", "fee", "total"].map((name) => html`<div key=${name} class=${`amount-${name}`}><dt>${say(`amount_${name}`)}</dt><dd>${money(order.amounts[name], order.amounts.currency)}</dd></div>`)}</dl>
          <p class="actions"><a class="button" href=${`${order.statusUrl}?language=${spoken()}`} target="_blank" rel="noreferrer noopener">${say("orderPage")}</a>
            <button type="button" class="button" onClick=${onRequest}><${Icon} name="code" />${say("request")}</button>
            ${order.state === "created" && html`<button type="button" class="button danger" onClick=${cancel}>${say("orderCancel")}</button>`}</p></section>
        <section class="panel"><h2>${say("callbacks")}</h2><${Deliveries} order=${order} deliveries=${deliveries} /></section>
      </div>`}
  </main>`;
}
