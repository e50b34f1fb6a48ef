// What is said instead of results: an error with its request id and what to do, and that nothing was found.
import { html } from "./ui.js";
import { say, sayOr } from "./words.js";

/** An error for people: what happened, what to do, and the id that finds it in the logs. */
export function ErrorMessage({ error, onRetry, compact = false }) {
  const advice = sayOr(`error_${error.code}`, say("error_other"));
  return html`<div class=${`message error ${compact ? "compact" : ""}`} role="alert">
    <h2>${say("errorTitle")}</h2>
    <p>${error.code === "offline" ? say("offline") : error.message}</p>
    <p class="muted">${advice}</p>
    ${error.requestId && html`<p class="muted">${say("requestId")}: <code>${error.requestId}</code></p>`}
    ${onRetry && html`<button type="button" class="button" onClick=${onRetry}>${say("retry")}</button>`}
  </div>`;
}

export const NothingFound = ({ onClear }) => html`<div class="message empty">
  <svg viewBox="0 0 64 64" aria-hidden="true"><path d="M28 8a20 20 0 1 0 12.200 35.800L56 59.600l3.600-3.600-15.800-15.800A20 20 0 0 0 28 8zm0 5a15 15 0 1 1 0 30 15 15 0 0 1 0-30zM20 25.500h16v5H20z" /></svg>
  <h2>${say("emptyTitle")}</h2>
  <p class="muted">${say("emptyText")}</p>
  <button type="button" class="button" onClick=${onClear}>${say("clearAll")}</button>
</div>`;
