// The words of the page of operators; the shared ones, as of errors, are in ../words.js.
import { spoken } from "../words.js";

const WORDS = {
  en: {
    title: "Operations", skip: "Skip to the state", pages: "Pages", explore: "Explore", docs: "API documentation", language: "Language",
    leave: "Forget the token", token: "Token", enter: "Use it", loading: "Loading",
    tokenText: "Enter a token with the scopes operate and catalogue. It stays in this tab until it is closed.",
    state: "State", searches: "Searches", orders: "Orders", work: "work", fail: "do not work", engine: "Engine", store: "Store", silent: "does not answer",
    nodes: "{0} nodes", unassigned: "{0} unassigned shards", indexSync: "Index updates waiting", overdue: "Callbacks overdue", givenUp: "Callbacks given up", active: "Active orders",
    platform: "Platform {0}", generations: "Indices of {0}", index: "Index", age: "Age", items: "Items", size: "Size", fingerprint: "Definition", serving: "serves", notLoaded: "Nothing is loaded.",
    intakes: "Loads and followers", intakesOf: "Loads and followers of {0}", command: "Command", source: "Reads", heard: "Last heard of", readHead: "Read",
    rejected: "Rejected", lag: "Not read yet", delay: "Delay", runs: "runs", ended: "ended", silentSince: "silent", rejects: "Rejected, by reason",
    rejectsOf: "Rejected of {0}, by reason", reason: "Reason", countHead: "Items",
    running: "gear-indexer {0} on {1}", since: "since {0}, last heard of {1}", progress: "Progress", read: "{0} records read, {1} items indexed",
    unanswered: "Searched in vain", unansweredText: "Texts of the last 30 days, without who searched.", nothing: "Nothing was searched in vain.",
    text: "Text", count: "Searches", reading: "Result", last: "Last", add: "Add a word", reading_none: "nothing", reading_partial: "words left out",
    reading_typos: "similar words", reading_all_typos: "similar words", reading_first_letters: "similar words",
    word: "Add a word", platformLabel: "Platform", spelling: "What buyers write", words: "The words of names that it stands for", query: "A text to try it on", try: "Try it", addWord: "Add it",
    before: "As it is", after: "With it", addedNotice: "Added: every worker understands it within 5 seconds.", removed: "Removed: every worker forgets it within 5 seconds.",
    vocabulary: "Vocabulary", noEntries: "Nothing was added.", kind: "Kind", means: "Means", author: "Author", added: "Added", remove: "Remove",
    term: "term", pin: "pin", hide: "hide", newer: "of a newer version", everyText: "every text", more: "More",
  },
  de: {
    title: "Betrieb", skip: "Zum Zustand", pages: "Seiten", explore: "Entdecken", docs: "API-Dokumentation", language: "Sprache",
    leave: "Token vergessen", token: "Token", enter: "Verwenden", loading: "Lädt",
    tokenText: "Gib ein Token mit den Rechten operate und catalogue ein. Es bleibt in diesem Tab, bis er geschlossen wird.",
    state: "Zustand", searches: "Suchen", orders: "Bestellungen", work: "gehen", fail: "gehen nicht", engine: "Suchmaschine", store: "Datenbank", silent: "antwortet nicht",
    nodes: "{0} Knoten", unassigned: "{0} Shards ohne Platz", indexSync: "Wartende Indexänderungen", overdue: "Überfällige Callbacks", givenUp: "Aufgegebene Callbacks", active: "Laufende Bestellungen",
    platform: "Plattform {0}", generations: "Indizes von {0}", index: "Index", age: "Alter", items: "Gegenstände", size: "Größe", fingerprint: "Definition", serving: "dient", notLoaded: "Nichts ist geladen.",
    intakes: "Ladevorgänge und Folger", intakesOf: "Ladevorgänge und Folger von {0}", command: "Befehl", source: "Liest", heard: "Zuletzt gehört", readHead: "Gelesen",
    rejected: "Abgelehnt", lag: "Noch nicht gelesen", delay: "Verzug", runs: "läuft", ended: "beendet", silentSince: "schweigt", rejects: "Abgelehnt, nach Grund",
    rejectsOf: "Abgelehnt von {0}, nach Grund", reason: "Grund", countHead: "Gegenstände",
    running: "gear-indexer {0} auf {1}", since: "seit {0}, zuletzt gehört {1}", progress: "Fortschritt", read: "{0} Datensätze gelesen, {1} Gegenstände im Index",
    unanswered: "Vergeblich gesucht", unansweredText: "Texte der letzten 30 Tage, ohne wer gesucht hat.", nothing: "Nichts wurde vergeblich gesucht.",
    text: "Text", count: "Suchen", reading: "Ergebnis", last: "Zuletzt", add: "Wort hinzufügen", reading_none: "nichts", reading_partial: "Wörter ausgelassen",
    reading_typos: "ähnliche Wörter", reading_all_typos: "ähnliche Wörter", reading_first_letters: "ähnliche Wörter",
    word: "Ein Wort hinzufügen", platformLabel: "Plattform", spelling: "Was Käufer schreiben", words: "Die Wörter von Namen, für die es steht", query: "Ein Text zum Probieren", try: "Probieren", addWord: "Hinzufügen",
    before: "So wie es ist", after: "Damit", addedNotice: "Hinzugefügt: in 5 Sekunden versteht es jeder Prozess.", removed: "Entfernt: in 5 Sekunden hat es jeder Prozess vergessen.",
    vocabulary: "Vokabular", noEntries: "Nichts wurde hinzugefügt.", kind: "Art", means: "Bedeutet", author: "Von", added: "Seit", remove: "Entfernen",
    term: "Wort", pin: "angeheftet", hide: "verborgen", newer: "einer neueren Version", everyText: "jeder Text", more: "Mehr",
  },
};

/** The languages that this page has words in. */
export const LANGUAGES_HERE = Object.keys(WORDS);

/** The words of this key in the language that is spoken, with these values in their places. */
export function tell(key, ...values) {
  const text = (WORDS[spoken()] ?? WORDS.en)[key] ?? key;
  return text.replace(/\{(\d)\}/g, (_, place) => values[place] ?? "");
}
