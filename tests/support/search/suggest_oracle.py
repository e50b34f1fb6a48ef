"""The oracle of suggestions: what the contract promises for a typed text, by plain Python over a list of items."""

from collections import Counter
from collections.abc import Callable, Iterable
from functools import cache
from typing import Any

from mappings.vocabulary.entries import Meaning
from mappings.vocabulary.vocabulary import Vocabulary
from mappings.vocabulary.words import letters_of
from tests.support.platforms import shared_platforms
from tests.support.search.oracle import Item, fold
from tests.support.search.text_oracle import spellings, words

VOCABULARIES = tuple(platform.merged_vocabulary for platform in shared_platforms())
KINDS = ("item", "weapon", "finish", "set", "sticker")
Suggested = tuple[str, str, int]


def texts(item: Item, kind: str) -> set[str]:
    """The names of a kind that an item has."""
    details = item["details"]
    if kind == "item":
        return {item["name"]}
    if kind == "sticker":
        return {each["name"] for each in item["attachments"] if each.get("type") in (None, "sticker", "Sticker")}
    if kind == "finish":
        if details["weapon"] is None or " | " not in item["name"]:
            return set()
        finish = item["name"].split(" | ", 1)[1]
        return {finish.removesuffix(f" ({details['exterior']})")}
    return {details[kind]} - {None}


def expected(items: Iterable[Item], typed: str, limit: int) -> list[Suggested]:
    """The best suggestions, those that begin with the text first, then the most frequent, then by text and kind."""
    if not words(typed):
        return []
    counts = Counter((text, kind) for item in items for kind in KINDS for text in texts(item, kind))
    for meets, completed in ((_exactly, False), (_exactly, True), (_loosely, False)):
        matches = [(text, kind, count) for (text, kind), count in counts.items() if _has(text, typed, meets, completed)]
        if matches:
            break
    matches.sort(key=lambda each: (not fold(each[0]).startswith(fold(typed)), -each[2], each[0], KINDS.index(each[1])))
    return matches[:limit]


def _has(text: str, typed: str, meets: Callable[[str, str], bool], completed: bool) -> bool:
    """Whether each typed word is in the text, as it is or written as one with its neighbours; the last one begun."""
    typed_words, stored = _typed_words(typed, completed), spellings(text)
    spans = [(start, length) for length in (1, 2, 3) for start in range(len(typed_words) - length + 1)]

    def is_in(start: int, length: int) -> bool:
        joined = "".join(word for word, _ in typed_words[start : start + length])
        if start + length == len(typed_words):
            return any(each.startswith(joined) for each in stored)
        return joined in stored

    return all(
        any(is_in(start, length) for start, length in spans if start <= place < start + length)
        or any(set(words(name)) <= stored for name in meanings)
        or (not meanings and any(meets(word, each) for each in stored))
        for place, (word, meanings) in enumerate(typed_words)
    )


def _typed_words(typed: str, completed: bool) -> list[tuple[str, set[str]]]:
    """The words and what they mean; `completed`: without those before the last one that say nothing of an item."""
    *before, last = zip(words(typed), _meanings_of(typed, completed), strict=True)
    ignored = frozenset().union(*(each.ignored for each in VOCABULARIES)) if completed else ()
    return [*((word, meanings) for word, meanings in before if meanings or letters_of([word]) not in ignored), last]


@cache
def _meanings_of(typed: str, completed: bool) -> list[set[str]]:
    """For each word what the vocabulary has for it: words for words, and the names of values.

    `completed`: what the glossary has, too, and what the last words are the beginning of.
    """
    letters = [letters_of([word]) for word in words(typed)]
    matches: list[set[str]] = [set() for _ in letters]
    for vocabulary in VOCABULARIES:
        for lexicon in (vocabulary, vocabulary.lexicon) if completed else (vocabulary,):
            for start, length, entry in lexicon.longest_spellings(letters):
                _add(matches[start : start + length], entry.meanings if entry else ())
        if completed:
            _add(*_completion(vocabulary, letters, matches))
    return matches


def _completion(
    vocabulary: Vocabulary, letters: list[str], matches: list[set[str]]
) -> tuple[list[set[str]], Iterable[Meaning]]:
    for start in range(len(letters)):
        beginning = "".join(letters[start:])
        limit = max(1, 40 // (len(letters) - start))
        meanings: list[Meaning] = []
        for entries in (vocabulary.entries, vocabulary.lexicon.entries):
            spellings_of = sorted((len(each), each) for each in entries if each.startswith(beginning))
            of_all = [meaning for _, each in spellings_of for meaning in entries[each].meanings]
            meanings += list(dict.fromkeys(of_all))[:limit]
        if meanings and len(beginning) > 1:
            return matches[start:], meanings[:limit]
    return [], ()


def _add(matches: list[set[str]], meanings: Iterable[Meaning]) -> None:
    for each in matches:
        each |= {name for meaning in meanings for name in meaning.names}


def _exactly(word: str, stored: str) -> bool:
    return False


def _loosely(word: str, stored: str) -> bool:
    if len(word) < 4 or any(each.isdigit() for each in word) or word[0] != stored[0]:
        return False
    return _edits(word, stored) <= (1 if len(word) < 8 else 2)


@cache
def _edits(each: str, other: str) -> int:
    if not each or not other:
        return len(each) + len(other)
    least = min(
        _edits(each[1:], other) + 1, _edits(each, other[1:]) + 1, _edits(each[1:], other[1:]) + (each[0] != other[0])
    )
    if len(each) > 1 and len(other) > 1 and (each[0], each[1]) == (other[1], other[0]):
        least = min(least, _edits(each[2:], other[2:]) + 1)
    return least


def suggested(response: dict[str, Any]) -> list[Suggested]:
    """The suggestions of an answer, to compare."""
    assert set(response) == {"status", "suggestions"}
    for each in response["suggestions"]:
        assert set(each) == {"text", "kind", "count"}
    return [(each["text"], each["kind"], each["count"]) for each in response["suggestions"]]
