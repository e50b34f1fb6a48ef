// The form of a sandbox order: which way it shall go, and where its callbacks are sent.
import { call } from "../api.js";
import { ErrorMessage } from "../messages.js";
import { html, useState } from "../ui.js";
import { say } from "../words.js";

// docs/sandbox.md has them all
const CASES = ["10", "21", "23", "30", "11", "40", "41"];
const SANDBOX_PRICE = 10;

export function OrderForm({ platform, go }) {
  const [outcome, setOutcome] = useState("10");
  const [callback, setCallback] = useState("");
  const [state, setState] = useState({ busy: false, error: null });
  const place = async (event) => {
    event.preventDefault();
    setState({ busy: true, error: null });
    const fresh = String(Date.now()); // an item of its own, which no other visitor's order binds
    const body = {
      account: "explore", email: "visitor@example.com", platform: platform.slug, item: `-${outcome}${fresh}`,
      ...(outcome === "41" ? { expectedPrice: SANDBOX_PRICE } : {}),
      ...(callback.trim() ? { callbackUrl: callback.trim() } : {}),
    };
    try {
      const { order } = await call("order", "POST", "/v1/gear", body, { headers: { "Idempotency-Key": `explore-${fresh}-${Math.random().toString(36).slice(2)}` } });
      go({ order: order.id });
    } catch (error) {
      setState({ busy: false, error });
    }
  };
  return html`<section class="panel"><h2>${say("order")}</h2><p class="muted">${say("orderIntro")}</p>
    <form class="order-form" onSubmit=${place}>
      <label for="outcome">${say("orderHow")}</label>
      <select id="outcome" value=${outcome} onChange=${(event) => setOutcome(event.target.value)}>
        ${CASES.map((code) => html`<option key=${code} value=${code}>${say(`case_${code}`)}</option>`)}
      </select>
      <label for="callback">${say("orderCallback")}</label>
      <input id="callback" type="url" value=${callback} placeholder="https://shop.example.com/hooks/gear" onInput=${(event) => setCallback(event.target.value)} />
      <button class="button accent" disabled=${state.busy}>${say("orderPlace")}</button>
    </form>
    ${state.error && html`<${ErrorMessage} error=${state.error} compact />`}
  </section>`;
}
