// The words of the page of operators in English; other languages in languages/. Shared ones are in ../words.js.
import { addWords, say } from "../words.js";

addWords({
  title: "Operations", skip: "Skip to the state", pages: "Pages", explore: "Explore", leave: "Forget the token",
  tokenText: "Enter a token with the scopes operate and catalogue. It stays in this tab until it is closed.", state: "State",
  searches: "Searches", orders: "Orders", work: "work", fail: "do not work", engine: "Engine", store: "Store",
  silent: "does not answer", nodes: "{0} nodes", unassigned: "{0} unassigned shards", indexSync: "Index updates waiting",
  overdue: "Callbacks overdue", givenUp: "Callbacks given up", active: "Active orders", platform: "Platform",
  indices: "Indices", index: "Index", age: "Age", itemsHead: "Items", size: "Size", fingerprint: "Definition",
  serving: "serves", notLoaded: "Nothing is loaded.", intakes: "Loads and followers", command: "Command", source: "Reads",
  heard: "Last heard of", read: "Read", rejected: "Rejected", lag: "Not read yet", delay: "Delay", runs: "runs", ended: "ended",
  silentSince: "silent", rejects: "Rejected, by reason", reason: "Reason", running: "gear-indexer {0} on {1}",
  since: "since {0}, last heard of {1}", progress: "Progress", indexed: "{0} records read, {1} items indexed",
  unanswered: "Searches without results", unansweredText: "Texts of the last 30 days, without who searched.",
  nothing: "Every search had results.", text: "Text", reading: "Result", last: "Last", reading_none: "nothing",
  reading_partial: "words left out", reading_similar: "similar words", word: "Add a word", spelling: "What buyers write",
  words: "The words of names that it stands for", query: "A text to try it on", try: "Try it", addWord: "Add it",
  before: "As it is", after: "With it", addedNotice: "Added: every worker understands it within 5 seconds.",
  removed: "Removed: every worker forgets it within 5 seconds.", vocabulary: "Vocabulary", noEntries: "Nothing was added.",
  kind: "Kind", means: "Means", author: "Author", added: "Added", removeWord: "Remove", term: "term", pin: "pin", hide: "hide",
  newer: "of a newer version", everyText: "every text", more: "More",
}, new URL("languages/", import.meta.url));

/** The words of this key in the language that is spoken, with these values in their places. */
export const tell = (key, ...values) => say(key, values);
