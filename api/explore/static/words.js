// The page's own words: English here, other languages in languages/, each a file of the same keys.
const ENGLISH = {
  title: "Explore gear",
  skip: "Skip to the results",
  searchLabel: "Search the catalogue",
  searchHint: "ak redline ft under 50",
  clear: "Clear",
  suggestions: "Suggestions",
  kind_item: "Item", kind_weapon: "Weapon", kind_finish: "Finish", kind_set: "Collection", kind_sticker: "Sticker on an item",
  items: { one: "{n} item", other: "{n} items" },
  names: { one: "{n} name", other: "{n} names" },
  offers: { one: "{n} offer", other: "{n} offers" },
  filters: "Filters",
  showResults: "Show results",
  view: "View", viewItems: "Listings", viewNames: "By name",
  sort: "Sort",
  sort_relevance: "Best match", sort_price_asc: "Price: low to high", sort_price_desc: "Price: high to low",
  sort_float_asc: "Float: low to high", sort_float_desc: "Float: high to low", sort_newest: "Newest",
  sort_name_asc: "Name: A to Z", sort_name_desc: "Name: Z to A",
  field_type: "Type", field_weapon: "Weapon", field_exterior: "Exterior", field_rarity: "Rarity", field_quality: "Quality",
  field_phase: "Phase", field_set: "Collection", field_tournament: "Tournament", field_color: "Color",
  field_price: "Price", field_float: "Float", field_seed: "Seed", field_pattern: "Pattern", field_paintIndex: "Paint index",
  field_sticker: "Sticker", field_attachments: "Stickers", field_sort: "Sort",
  from: "from", to: "to", minimum: "{field}: minimum", maximum: "{field}: maximum",
  showAll: "Show all {n}", showFewer: "Show fewer", find: "Find in {field}",
  understood: "Understood as", examples: "Try", remove: "Remove {what}", clearAll: "Clear all",
  ignored: "left out: nothing has it", without: "not wanted",
  reading: "Nothing has all of this exactly, so it was read more loosely.",
  request: "Show the request",
  requestTitle: "The request behind it",
  requestWhich: "Request", requestOwnKey: "Your token is not shown: put it into GEAR_TOKEN first.",
  requestPublicKey: "The key in it is this page’s public one: it works as it stands.",
  response: "Response", copy: "Copy", copied: "Copied", close: "Close",
  step_search: "Search", step_facets: "Counts", step_more: "More results", step_suggest: "Suggestions", step_item: "One item",
  step_same: "Same name", step_variants: "Other versions", step_similar: "Similar items", step_order: "Place an order",
  step_state: "Order", step_deliveries: "Callbacks", step_cancel: "Cancel the order", step_live: "New listings",
  newListings: { one: "{n} new listing", other: "{n} new listings" }, newMany: "Many new listings", fresh: "New",
  loading: "Loading", loadMore: "Show more", end: "That is all of it.",
  emptyTitle: "Nothing found", emptyText: "No item has all of this. Remove a filter or a word.",
  errorTitle: "This did not work", offline: "The service does not answer.",
  error_offline: "Is it running, and are you online?",
  error_search_unavailable: "The search engine is not there at the moment. This page tries again by itself.",
  error_store_unavailable: "The order store is not there at the moment. This page tries again by itself.",
  error_overloaded: "There are more requests than can be answered in time. This page tries again by itself.",
  error_rate_limited: "This key has made too many requests for now. This page tries again by itself.",
  error_unauthorized: "The key is not valid any more. Load this page again, or enter a token.",
  error_item_not_found: "It may have been sold or removed.",
  error_order_not_found: "No order of this key has this id.",
  error_other: "Try it again. If it stays so, tell whoever runs the service the request id.",
  retry: "Try again", requestId: "Request id",
  back: "Back to the results",
  inspect: "Inspect in the game", noPrice: "No price", unavailable: "Not on offer", priceFrom: "from {price}",
  facts: "Facts", float: "Float", seed: "Seed", pattern: "Pattern", paintIndex: "Paint index",
  stickers: "Stickers and charms", wear: "{percent} scraped off", asNew: "as new",
  spread: "Offers of the same name", spreadText: "{n} offers from {low} to {high}. This one: {rank}.",
  spreadRank: "number {rank} by price", spreadOnly: "The only offer of this name.",
  spreadAxis: "Price by float", spreadStrip: "Price",
  variants: "Other versions", similar: "Similar items at about this price",
  order: "Try an order", orderIntro: "A rehearsal in the sandbox: nothing is bought and no real item is touched. Choose how it shall end.",
  orderHow: "How it ends", orderCallback: "Callback address (optional)", orderPlace: "Place the sandbox order",
  case_10: "Completed", case_11: "Stays open until you cancel", case_21: "Fails on its way", case_23: "Cancelled on its way",
  case_30: "Taken back while the trade is held", case_40: "Sold meanwhile: refused", case_41: "Costs more than shown: refused",
  orderTitle: "Sandbox order", orderItem: "Sandbox item {item}", orderPage: "The buyer’s page", orderCancel: "Cancel the order",
  orderLive: "Live: follows the order every second", orderEnded: "The order has ended",
  amount_price: "Price", amount_fee: "Fee", amount_total: "Total",
  state_created: "Created", state_processing: "Processing", state_delivered: "Delivered", state_completed: "Completed",
  state_failed: "Failed", state_cancelled: "Cancelled", state_reverted: "Reverted",
  callbacks: "Callbacks", callbacksNone: "No callback address was given.", callbackBody: "What is sent",
  delivery_pending: "waiting", delivery_delivered: "delivered", delivery_failed: "given up",
  nextAttempt: "next attempt at {at}",
  theme: "Dark or light", language: "Language", docs: "API documentation",
  tokenTitle: "Enter a token", tokenText: "This service gives this page no key of its own. Enter a token with the scope search. It stays in this tab’s memory.",
  tokenLabel: "Token", tokenUse: "Use it",
};

export const LANGUAGES = {
  en: "English", cs: "Čeština", de: "Deutsch", es: "Español", fr: "Français", it: "Italiano", nl: "Nederlands", pl: "Polski",
  "pt-BR": "Português (Brasil)", sv: "Svenska", tr: "Türkçe", ru: "Русский", uk: "Українська", ja: "日本語", ko: "한국어",
  "zh-Hans": "简体中文", "zh-Hant": "繁體中文",
};

let language = "en";
let words = ENGLISH;

const remembered = () => {
  try {
    return localStorage.getItem("gear.language");
  } catch {
    return null; // storage is switched off
  }
};

/** A language and its script, such as `zh-Hant` for `zh-TW`; null for what names no language. */
function written(code) {
  try {
    const { language: name, script } = new Intl.Locale(code).maximize();
    return `${name}-${script}`;
  } catch {
    return null;
  }
}

/** The language that was chosen here before, else the first of the browser's that there is. */
export function preferredLanguage() {
  for (const wish of [remembered(), ...navigator.languages].filter(Boolean)) {
    const match = Object.keys(LANGUAGES).find((code) => written(code) === written(wish));
    if (match) return match;
  }
  return "en";
}

/** Speaks this language from now on, and at the next visit. */
export function choose(code) {
  try {
    localStorage.setItem("gear.language", code);
  } catch {
    // it is forgotten with the page
  }
  return speak(code);
}

// English words, and where files of other languages are: those of every page, then those of a page of its own.
const sources = [{ english: ENGLISH, folder: new URL("languages/", import.meta.url) }];

/** Words of a page of its own, with a folder of the same languages; they go before shared ones of the same keys. */
export const addWords = (english, folder) => sources.push({ english, folder });

async function wordsOf({ english, folder }, code) {
  if (code === "en") return english;
  const response = await fetch(new URL(`${code}.json`, folder));
  if (!response.ok) throw new Error(response.statusText);
  return response.json();
}

/** Speaks this language from now on; English where a file of it cannot be had. */
export async function speak(code) {
  try {
    words = Object.assign({}, ...(await Promise.all(sources.map((source) => wordsOf(source, code)))));
    language = code;
  } catch {
    words = Object.assign({}, ...sources.map(({ english }) => english));
    language = "en";
  }
  document.documentElement.lang = language;
}

export const spoken = () => language;
const fill = (text, values) => text.replace(/\{(\w+)\}/g, (_, name) => values[name] ?? "");

/** The words of this key with these values in their places. */
export function say(key, values = {}) {
  const text = words[key];
  return typeof text === "string" ? fill(text, values) : key;
}

/** The words of this key if there are any, else others. */
export const sayOr = (key, other) => (typeof words[key] === "string" ? words[key] : other);

/** The words of a field or a sort; where there are none, its name: `paintIndex` as "Paint index". */
export function sayName(kind, name) {
  const plain = name.replace(/_|(?=[A-Z])/g, " ").toLowerCase();
  return sayOr(`${kind}_${name}`, plain[0].toUpperCase() + plain.slice(1));
}

/** The words of this key for a number of things. */
export function sayCount(key, n) {
  const forms = words[key];
  return fill(forms[new Intl.PluralRules(language).select(n)] ?? forms.other, { n: number(n) });
}

const formats = new Map();
function formatted(value, options) {
  const name = language + JSON.stringify(options);
  if (!formats.has(name)) formats.set(name, new Intl.NumberFormat(language, options));
  return formats.get(name).format(value);
}

export const number = (value) => formatted(value, {});
export const percent = (value) => formatted(value, { style: "percent", maximumFractionDigits: 0 });

/** An amount, short where it is only a mark on an axis. */
export function money(value, currency, short = false) {
  const digits = short && (value >= 10 || Number.isInteger(value)) ? { maximumFractionDigits: 0 } : {};
  return formatted(value, { style: "currency", currency, currencyDisplay: "narrowSymbol", ...digits });
}

/** A float with so many digits that two listings can be told apart. */
export const wear = (value) => value.toFixed(value < 0.001 ? 6 : 4);
export const clock = (text) => new Date(text).toLocaleTimeString(language, { hour12: false });
