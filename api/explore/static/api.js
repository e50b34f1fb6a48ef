// The API as this page calls it: with its key, and with a journal of the requests for "Show the request".
export const config = JSON.parse(document.getElementById("config").textContent);

const MAX_ENTRIES = 30;
const TIMEOUT_MS = 15_000;
const listeners = new Set();
let key = config.key;
let entries = [];
let count = 0;

/** Whether the page may call the API, and whether it may order in the sandbox. */
export const access = { get key() { return key; }, published: config.key !== null, get orders() { return config.orders; } };

/** Uses a visitor's own token, in memory alone: a reload forgets it. */
export function enterKey(text) {
  key = text;
}

/** Why a call failed, as the error envelope says it; `offline` where nothing answered. */
export class Failure extends Error {
  constructor(status, error, retryAfter) {
    super(error.message);
    this.status = status;
    this.code = error.code;
    this.requestId = error.requestId ?? null;
    this.retryAfter = retryAfter;
  }

  /** Whether the same call may succeed later. */
  get passes() {
    return this.status === 0 || this.status === 429 || this.status >= 500;
  }
}

/** The requests so far, newest first, and a function that ends the subscription to them. */
export const journal = {
  get entries() { return entries; },
  subscribe(listener) {
    listeners.add(listener);
    return () => listeners.delete(listener);
  },
};

/** The newest first; what is read again and again, such as an order's state, keeps its one place. */
function record(entry) {
  const before = entries.find(({ method, path }) => entry.method === "GET" && method === "GET" && path === entry.path);
  entries = before
    ? entries.map((other) => (other === before ? { ...entry, n: before.n } : other))
    : [entry, ...entries].slice(0, MAX_ENTRIES);
  for (const listener of listeners) listener(entries);
}

/** Calls the API; resolves to the content of its response, rejects with a Failure, or an AbortError where `signal` says so. A `quiet` call
 * is not in the journal.
 */
export async function call(step, method, path, body = null, { signal, headers = {}, quiet = false, patience = TIMEOUT_MS } = {}) {
  const entry = { n: ++count, step, method, path, body, headers, status: null, milliseconds: null, response: null };
  const options = { method, headers: { Authorization: `Bearer ${key}`, ...headers }, cache: "no-store" };
  if (body !== null) {
    options.headers["Content-Type"] = "application/json";
    options.body = JSON.stringify(body);
  }
  const timeout = AbortSignal.timeout(patience);
  options.signal = signal ? AbortSignal.any([signal, timeout]) : timeout;
  const started = performance.now();
  const note = (facts) => quiet || record({ ...entry, milliseconds: Math.round(performance.now() - started), ...facts });
  let response, content;
  try {
    response = await fetch(path, options);
    content = await response.json();
  } catch (error) {
    if (signal?.aborted) throw new DOMException("superseded", "AbortError");
    const failure = { code: "offline", message: String(error.message ?? error) };
    note({ status: 0 });
    throw new Failure(0, failure, null);
  }
  note({ status: response.status, response: content });
  if (!response.ok) throw new Failure(response.status, content.error, Number(response.headers.get("Retry-After")) || null);
  return content;
}
