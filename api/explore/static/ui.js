// The library's parts that every component uses; an import map in the page says where they are.
import { h, render } from "preact";
import { useCallback, useEffect, useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import htm from "htm";

export const html = htm.bind(h);
export { render, useCallback, useEffect, useLayoutEffect, useMemo, useRef, useState };

/** A component that is drawn again only where one of its properties is another one than before. */
export function memo(part) {
  const isOther = (before, after) => Object.keys({ ...before, ...after }).some((name) => before[name] !== after[name]);
  return function Memo(properties) {
    this.shouldComponentUpdate = (next) => isOther(this.props, next);
    return h(part, properties);
  };
}

/** A function that stays the same one and does what the newest one does. */
export function useStable(act) {
  const newest = useRef(act);
  newest.current = act;
  return useCallback((...given) => newest.current(...given), []);
}

/** Whether this has been so for so many milliseconds. */
export function useLasting(is, milliseconds) {
  const [lasting, setLasting] = useState(false);
  useEffect(() => {
    const timer = is ? setTimeout(() => setLasting(true), milliseconds) : setLasting(false);
    return () => clearTimeout(timer);
  }, [is, milliseconds]);
  return is && lasting;
}

/** A value that follows another one: at once where that has rested for so many milliseconds, else once it has. */
export function useDelayed(value, milliseconds) {
  const [delayed, setDelayed] = useState(value);
  const changedAt = useRef(-Infinity);
  useLayoutEffect(() => {
    const rested = performance.now() - changedAt.current;
    changedAt.current = performance.now();
    if (rested >= milliseconds) {
      setDelayed(value);
      return undefined;
    }
    const timer = setTimeout(() => setDelayed(value), milliseconds);
    return () => clearTimeout(timer);
  }, [value, milliseconds]);
  return delayed;
}

const ICONS = {
  search: "M10 4a6 6 0 1 0 3.7 10.7l4.8 4.8 1.5-1.5-4.8-4.8A6 6 0 0 0 10 4zm0 2a4 4 0 1 1 0 8 4 4 0 0 1 0-8z",
  close: "M6.4 5 5 6.4 10.6 12 5 17.6 6.4 19l5.6-5.6 5.6 5.6 1.4-1.4-5.6-5.6L19 6.4 17.6 5 12 10.6z",
  code: "m8.6 7.4-1.4-1.4L1.2 12l6 6 1.4-1.4L4 12zm6.8 0L16.8 6l6 6-6 6-1.4-1.4L20 12z",
  back: "M11 5.4 9.6 4l-8 8 8 8 1.4-1.4L5.4 13H22v-2H5.4z",
  filter: "M3 5h18v2H3zm3 6h12v2H6zm4 6h4v2h-4z",
  theme: "M12 3a9 9 0 1 0 0 18 9 9 0 0 0 0-18zm0 2v14a7 7 0 0 1 0-14z",
  copy: "M8 3h11a2 2 0 0 1 2 2v11h-2V5H8zM5 7h9a2 2 0 0 1 2 2v10a2 2 0 0 1-2 2H5a2 2 0 0 1-2-2V9c0-1.100.9-2 2-2zm0 2v10h9V9z",
  check: "m9.500 16.200-4-4L4 13.600l5.500 5.400L20.500 8 19 6.600z",
  eye: "M12 5C6.500 5 2.700 9.500 1.500 12c1.200 2.500 5 7 10.500 7s9.300-4.500 10.500-7C21.300 9.500 17.500 5 12 5zm0 2c4 0 6.900 3 8.200 5-1.300 2-4.200 5-8.200 5s-6.900-3-8.200-5c1.300-2 4.200-5 8.200-5zm0 2a3 3 0 1 0 0 6 3 3 0 0 0 0-6z",
};

/** A drawing beside a text, or in a button that has a name. */
export const Icon = ({ name }) =>
  html`<svg class="icon" viewBox="0 0 24 24" aria-hidden="true" focusable="false"><path d=${ICONS[name]} /></svg>`;
