// New listings of this search, read from the feed of changes while somebody looks at the page.
import { call } from "../api.js";
import { criteria } from "./route.js";
import { useCallback, useEffect, useMemo, useRef, useState } from "../ui.js";

export const MAX_WAITING = 99;
const SETTLE_MS = 1000; // nobody who still types needs the feed
const WAIT_SECONDS = 25;
const RETRY_MS = [5_000, 10_000, 30_000, 60_000];
const NOTHING = { waiting: [], shown: [] };

/** Ends after so many milliseconds, or when `signal` says so. */
const rest = (milliseconds, signal) => new Promise((resolve) => {
  const timer = setTimeout(resolve, milliseconds);
  signal.addEventListener("abort", () => {
    clearTimeout(timer);
    resolve();
  });
});

/** Reads the feed from `place` on until `signal` ends it; without a word where it cannot be read. */
async function follow(asked, place, signal, apply) {
  await rest(SETTLE_MS, signal);
  for (let failures = 0; !signal.aborted;) {
    const begins = place.since === null;
    const body = begins ? asked : { ...asked, since: place.since, wait: WAIT_SECONDS };
    try {
      const options = { signal, quiet: !begins, patience: 1000 * (WAIT_SECONDS + 15) };
      const { changes, next } = await call("live", "POST", "/v1/gear/changes", body, options);
      place.since = next;
      apply(changes);
      failures = 0;
    } catch (error) {
      if (signal.aborted) return;
      if (error.code === "bookmark_expired") place.since = null;
      else if (!error.passes) return;
      await rest(Math.max(RETRY_MS[Math.min(failures++, RETRY_MS.length - 1)], 1000 * (error.retryAfter ?? 0)), signal);
    }
  }
}

/** The lists of items after these changes: `waiting` are new and not shown yet. */
function after({ waiting, shown }, changes) {
  for (const { id, change, gear } of changes) {
    if (change === "gone") {
      waiting = waiting.filter((item) => item.id !== id);
      shown = shown.filter((item) => item.id !== id);
    } else if (change === "listed" || waiting.some((item) => item.id === id)) {
      waiting = [gear, ...waiting.filter((item) => item.id !== id)].slice(0, MAX_WAITING + 1);
    }
  }
  return { waiting, shown };
}

function useVisible() {
  const [visible, setVisible] = useState(!document.hidden);
  useEffect(() => {
    const update = () => setVisible(!document.hidden);
    document.addEventListener("visibilitychange", update);
    return () => document.removeEventListener("visibilitychange", update);
  }, []);
  return visible;
}

/** What is new to this search since it was opened: items that wait to be shown, those that were, and `show`. */
export function useLive(route, enabled) {
  const body = JSON.stringify(criteria(route));
  const [all, setAll] = useState({ body, ...NOTHING });
  const place = useRef({ body, since: null });
  const visible = useVisible();
  const change = useCallback((to) => setAll((before) => ({ body, ...to(before.body === body ? before : NOTHING) })), [body]);
  useEffect(() => {
    if (!enabled || !visible) return undefined;
    const controller = new AbortController();
    if (place.current.body !== body) place.current = { body, since: null };
    follow(JSON.parse(body), place.current, controller.signal, (changes) => changes.length && change((before) => after(before, changes)));
    return () => controller.abort();
  }, [body, enabled, visible]);
  const show = useCallback(() => change(({ waiting, shown }) => ({
    waiting: [],
    // so many are better found by the search itself
    shown: waiting.length > MAX_WAITING ? [] : [...waiting, ...shown.filter(({ id }) => !waiting.some((item) => item.id === id))],
  })), [change]);
  return useMemo(() => ({ ...(all.body === body ? all : NOTHING), show }), [all, body, show]);
}
