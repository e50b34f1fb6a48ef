// A search as it goes on: its first page, its facets, and what follows while somebody scrolls.
import { call } from "../api.js";
import { PAGE_SIZE, LISTS, RANGES, criteria, pageBody } from "./route.js";
import { useCallback, useLayoutEffect, useRef, useState } from "../ui.js";

const FACETS = [...LISTS, ...RANGES];
const MAX_LIMIT = 100;
const RETRY_MS = [1000, 2000, 4000, 8000];
const EMPTY = { gear: null, total: null, interpretation: null, facets: null, of: null, loading: true, error: null, end: false, more: null };

/** The first items, then those of the next that are none of them. */
export const merged = (gear, next) => {
  const known = new Set(gear.map(({ id }) => id));
  return [...gear, ...next.filter(({ id }) => !known.has(id))];
};

/** The search of this route: its state, and functions that load more of it and try it again. */
export function useSearch(route, enabled) {
  const [state, setState] = useState(EMPTY);
  const [attempts, setAttempts] = useState({ body: "", n: 0 });
  const progress = useRef({ cursor: null, page: 1, controller: null });
  const body = JSON.stringify(pageBody(route));
  const attempt = attempts.body === body ? attempts.n : 0;
  const retry = useCallback(() => setAttempts(({ n, ...before }) => ({ body, n: before.body === body ? n + 1 : 1 })), [body]);

  useLayoutEffect(() => { // not after the next frame: the request is what somebody waits for
    if (!enabled) return undefined;
    const controller = new AbortController();
    let timer = 0;
    progress.current = { cursor: null, page: 1, controller };
    setState((before) => ({ ...before, loading: true, more: null, error: attempt ? before.error : null }));
    const first = call("search", "POST", "/v1/gear/search", JSON.parse(body), { signal: controller.signal });
    // the counts do not take the engine's time from the hits
    const facets = first.then(() => call("facets", "POST", "/v1/gear/search", { ...criteria(route), limit: 1, facets: FACETS }, {
      signal: controller.signal,
    }));
    first.then(
      ({ gear, total, interpretation = null }) =>
        setState((before) => ({ ...before, gear, total, interpretation, of: route, loading: false, error: null, end: gear.length < PAGE_SIZE })),
      (error) => {
        if (error.name === "AbortError") return;
        setState((before) => ({ ...before, loading: false, error }));
        if (error.passes) {
          const wait = Math.max(RETRY_MS[Math.min(attempt, RETRY_MS.length - 1)], 1000 * (error.retryAfter ?? 0));
          timer = setTimeout(retry, wait);
        }
      },
    );
    facets.then(({ facets: counts }) => setState((before) => ({ ...before, facets: counts })), () => {});
    return () => {
      controller.abort();
      clearTimeout(timer);
    };
  }, [body, enabled, attempt]);

  const loadMore = useCallback(async () => {
    const { controller } = progress.current;
    setState((before) => ({ ...before, more: "loading" }));
    try {
      const { gear, end } = await (route.names ? nextNames : nextItems)(route, progress.current);
      if (controller.signal.aborted) return;
      setState((before) => ({ ...before, gear: merged(before.gear, gear), end, more: null }));
    } catch (error) {
      if (error.name === "AbortError") return;
      if (error.code === "cursor_expired") progress.current.cursor = null;
      setState((before) => ({ ...before, more: error }));
    }
  }, [body]);

  return { ...state, loadMore, retry };
}

/** The next groups: pages, because groups have no cursor. */
async function nextNames(route, progress) {
  const page = progress.page + 1;
  const body = { ...pageBody(route), page };
  delete body.explain;
  const { gear } = await call("more", "POST", "/v1/gear/search", body, { signal: progress.controller.signal });
  progress.page = page;
  return { gear, end: gear.length < PAGE_SIZE || (page + 1) * PAGE_SIZE > 10_000 };
}

/** The next items. Nobody who only types needs a cursor, so it begins here, once more with what is shown. */
async function nextItems(route, progress) {
  const body = { ...pageBody(route), cursor: progress.cursor ?? "*" };
  body.limit = progress.cursor === null ? Math.min(2 * PAGE_SIZE, MAX_LIMIT) : PAGE_SIZE;
  delete body.explain;
  const { gear, nextCursor } = await call("more", "POST", "/v1/gear/search", body, { signal: progress.controller.signal });
  progress.cursor = nextCursor;
  return { gear, end: nextCursor === null };
}
