// The address of the page: what it shows, so that a search, an item and an order can be shared and gone back to.
import { config } from "../api.js";

const namesOf = (test) => config.facets.filter(({ kind }) => test(kind)).map(({ name }) => name);
export const LISTS = namesOf((kind) => kind === "folded");
export const RANGES = namesOf((kind) => kind !== "folded");
export const MONEY = new Set(namesOf((kind) => kind === "money"));
export const SORTS = config.sorts;
export const PAGE_SIZE = 24;
const NUMBER = /^(?:\d+(?:\.\d+)?)?$/;

/** A range as it stands in an address: `5-20`, `5-`, `-20`. */
function parseRange(text) {
  const [min, max] = (text ?? "").split("-");
  if (max === undefined || !NUMBER.test(min) || !NUMBER.test(max) || min + max === "") return null;
  const range = { min: min === "" ? null : Number(min), max: max === "" ? null : Number(max) };
  return range.min !== null && range.max !== null && range.min > range.max ? null : range;
}

const format = (number) => (number === null ? "" : String(number));

/** What an address shows. */
export function parse(search) {
  const query = new URLSearchParams(search);
  const lists = LISTS.map((name) => [name, query.getAll(name).filter(Boolean).slice(0, 100)]);
  const sort = query.get("sort");
  const platform = config.platforms.find(({ id }) => String(id) === query.get("platform")) ?? config.platforms[0];
  return {
    platform: platform.id,
    q: (query.get("q") ?? "").slice(0, 200),
    lists: Object.fromEntries(lists),
    stickers: query.getAll("sticker").filter(Boolean).slice(0, 20),
    ranges: Object.fromEntries(RANGES.map((name) => [name, parseRange(query.get(name))])),
    sort: SORTS.includes(sort) ? sort : null,
    names: query.get("view") === "names",
    item: /^-?\d{1,19}$/.test(query.get("item") ?? "") ? query.get("item") : null,
    order: /^[\w-]{1,64}$/.test(query.get("order") ?? "") ? query.get("order") : null,
  };
}

/** The address that shows this. */
export function address(route) {
  const query = new URLSearchParams();
  if (route.platform !== config.platforms[0].id) query.set("platform", route.platform);
  if (route.q.trim()) query.set("q", route.q);
  for (const name of LISTS) for (const value of route.lists[name]) query.append(name, value);
  for (const name of route.stickers) query.append("sticker", name);
  for (const name of RANGES) {
    const range = route.ranges[name];
    if (range) query.set(name, `${format(range.min)}-${format(range.max)}`);
  }
  if (route.sort) query.set("sort", route.sort);
  if (route.names) query.set("view", "names");
  if (route.item) query.set("item", route.item);
  if (route.order) query.set("order", route.order);
  const text = query.toString();
  return text ? `/explore?${text}` : "/explore";
}

/** The filters of a search's body. */
export function filters(route) {
  const chosen = {};
  for (const name of LISTS) if (route.lists[name].length) chosen[name] = route.lists[name];
  for (const name of RANGES) {
    if (!route.ranges[name]) continue;
    chosen[name] = Object.fromEntries(Object.entries(route.ranges[name]).filter(([, bound]) => bound !== null));
  }
  if (route.stickers.length) chosen.attachments = { all: route.stickers.map((name) => ({ name })) };
  return chosen;
}

/** What a search's body says whatever is done with it. */
export function criteria(route) {
  const body = { platform: route.platform };
  if (route.q.trim()) body.query = route.q;
  const chosen = filters(route);
  if (Object.keys(chosen).length) body.filters = chosen;
  return body;
}

/** The body of the first page. */
export function pageBody(route) {
  const body = criteria(route);
  if (route.sort) body.sort = route.sort;
  else if (!body.query) body.sort = "newest"; // a window of everything, not of the cheapest
  body.limit = PAGE_SIZE;
  if (route.names) body.groupBy = "name";
  if (body.query) body.explain = true;
  return body;
}
