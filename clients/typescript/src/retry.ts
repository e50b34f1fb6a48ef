// A fetch that repeats a request where that is safe and may help.
import { setTimeout as sleep } from "node:timers/promises";

import { ConnectionFailedError } from "./errors.js";

const FIRST_PAUSE_MS = 100;
const MAX_PAUSE_MS = 5_000;
/** A longer `Retry-After` is not waited for. */
const MAX_RETRY_AFTER_MS = 60_000;
/** Refusals that say that nothing was done. */
const NOT_DONE = new Set(["overloaded", "rate_limited"]);
const AWAY = new Set([502, 503, 504]);
/** POSTs that must not be sent again where they may have been done. */
const CHANGES = /\/(transitions|replay)$/;

/** A fetch with a deadline for each attempt; throws ConnectionFailedError where no answer of the service comes. */
export function retryingFetch(timeout: number, attempts: number): (request: Request) => Promise<Response> {
  return async (request) => {
    for (let attempt = 1; ; attempt += 1) {
      const outcome = await attemptOnce(request.clone(), timeout);
      const wait = pauseAfter(request, outcome, attempt);
      if (wait === null || attempt === attempts) {
        if (outcome.code === null) throw new ConnectionFailedError(outcome.reason, { cause: outcome.cause });
        return outcome.response;
      }
      await sleep(wait);
    }
  };
}

/** A response of the service, with the code of its error, `""` for a success; `code: null`: none came. */
type Outcome =
  | { code: string; response: Response }
  | { code: null; reason: string; cause?: unknown; connected: boolean };

async function attemptOnce(request: Request, timeout: number): Promise<Outcome> {
  let response: Response;
  try {
    response = await fetch(request, { signal: AbortSignal.timeout(timeout) });
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    return { code: null, reason, cause, connected: !isRefused(cause) };
  }
  if (response.ok) return { code: "", response };
  try {
    return { code: (await response.clone().json()).error.code, response };
  } catch (cause) {
    const reason = `HTTP ${response.status} without an error of the service`;
    return { code: null, reason, cause, connected: true };
  }
}

/** Milliseconds to wait before the next attempt; null: there is none. */
function pauseAfter(request: Request, outcome: Outcome, attempt: number): number | null {
  const repeatable = !CHANGES.test(new URL(request.url).pathname);
  const pause = Math.random() * Math.min(MAX_PAUSE_MS, FIRST_PAUSE_MS * 2 ** attempt);
  if (outcome.code === null) return repeatable || !outcome.connected ? pause : null;
  const passes = NOT_DONE.has(outcome.code) || (repeatable && AWAY.has(outcome.response.status));
  if (!passes) return null;
  const seconds = outcome.response.headers.get("Retry-After");
  if (seconds === null) return pause;
  const wait = Number(seconds) * 1000;
  return wait <= MAX_RETRY_AFTER_MS ? wait : null;
}

function isRefused(error: unknown): boolean {
  const cause = error instanceof Error ? (error.cause as { code?: string } | undefined) : undefined;
  return ["ECONNREFUSED", "ENOTFOUND", "EAI_AGAIN", "UND_ERR_CONNECT_TIMEOUT"].includes(cause?.code ?? "");
}
