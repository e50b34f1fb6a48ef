"""Meanings: what the bounds and values of filters mean, as OpenAPI and docs/api.md tell it."""

AT_LEAST = "at least this much, inclusive"
AT_MOST = "at most this much, inclusive; not less than `min`"
ANY_OF = "any of these"
FOLDING = "compared whole, but case, accents, ★, ™ and outer or double blanks do not count"

MEANINGS = {
    "quality": f"{ANY_OF}; {FOLDING}: `StatTrak` and `StatTrak™` find `★ StatTrak™` too, and the other way round; "
    "`★` alone is compared as it is",
    "seed": "any of these `paint.seed`",
    "paintIndex": "any of these `paint.index`",
    "pattern": "any of these `paint.pattern`",
    "ids": "any of these `id`",
}
