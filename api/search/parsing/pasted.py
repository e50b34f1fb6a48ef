"""Takes what is of no item out of a pasted text: heads of chats, times, counts, what a trade post offers. Pure."""

import re
from collections.abc import Callable

from api.search.parsing.links import links_as_names
from api.search.parsing.quantities import ASKING_PRICE
from mappings.vocabulary.vocabulary import Vocabulary
from mappings.vocabulary.words import letters_of_text

# what a browser adds to the name of a picture that is kept
_PICTURE = re.compile(r"(?:\s*\(\d{1,3}\))?\.(?:png|jpe?g|webp|gif|avif|bmp)\s*$", re.IGNORECASE)
# the numbers of the lines in a list
_NEXT_NUMBER = re.compile(r"(?<=\s)[2-9]\)(?=\s)")
_LIST_NUMBER = re.compile(r"^\s*\d{1,3}(?:(?:[.)]|\s[-\u2013\u2014])\s+|_+)(?=[^\W\d_])")
# the time, and who wrote it then, before a line of a chat (`[14:32] vanya: …`, `Oleg, 21:07: …`)
_CLOCK = r"(?:[01]?\d|2[0-3]):[0-5]\d(?::[0-5]\d)?(?!\d)"
_CHAT_LINE = re.compile(rf"^\W*(?:{_CLOCK}\W*(?:\w[\w .-]{{0,24}}:\s+)?|\w[\w .-]{{0,24}},?\s*\W?{_CLOCK}\W*:\s+)")
# what a trade post calls selling, buying, what is wanted and what is given: `S> ak redline`, `W> glove case H> btc`
_TRADE_LETTER = re.compile(
    r"(?:^|(?<=\s))(lf|[sbwh])\s?>{1,2}\s(?!\s*[\d.])|^([sb])>{1,2}\s(?=\d{1,3}x?\s+[a-z])", re.IGNORECASE
)
_TRADE_WORDS = {"s": "wts ", "b": "wtb ", "w": "[w] ", "h": "[h] ", "lf": "lf "}
# the place in a list, no seed: `inventory #14: …`, `#12 in my list: …`
_LIST = r"(?:inventory|row|item|order|slot|lot|line)\s*#?\d{1,4}\s*[:|]"
_PLACE = rf"^\W?(?:{_LIST}|#\d{{1,2}}(?:\s*[:|]|\s(?=(?:in|on|of)\s(?:my|the)\s)))"
# that, what is struck out, who writes, times, dates and telephone numbers
_DAY, _MONTH, _YEAR = r"(?:0?[1-9]|[12]\d|3[01])", r"(?:0?[1-9]|1[0-2])", r"20[0-3]\d"
_NOT_OF_ITEMS = re.compile(
    rf"{_PLACE}|~~(?=\S)[^~]+(?<=\S)~~|(?<!\w)u/\w{{3,}}:?|(?<![\d:.,]){_CLOCK}(?![:.\d])(?:\s?[ap]m(?!\w))?"
    rf"|(?<![\d.,/-])(?:{_DAY}(?P<dot>[./]){_DAY}(?P=dot){_YEAR}|{_YEAR}-{_MONTH}-{_DAY})(?![\d/-]|\.\d)"
    rf"|(?<!\w)(?:am|vom|den)\s+{_DAY}\.{_MONTH}\.(?=\s)"
    r"|(?<![\w.,$€£+-])(?<!\d\s)(?:\+\d{1,3}(?:[ /-]\d{3,8}){2,4}|0\d{3,4}[ /-](?:\d{6,9}|\d{3,4}[ /-]\d{3,5}))"
    r"(?![\w$€£]|[.,]\d)",
    re.IGNORECASE,
)
# a float without its zero: `lower than .2 float`
_NO_ZERO = re.compile(r"(?<![\w.-])\.(?=\d)")
# how many copies a pasted name has: `Sealed Graffiti | GTG (1)`
_COPIES = re.compile(r"(?<=\s)\((?:\d|\d{1,2}x|x\d{1,2})\)", re.IGNORECASE)
# how many for how many: `1:1 knife only`; a share: `0.5% chance`
_RATIO = re.compile(r"(?<![\d:.])\d:\d(?![\d:.])|(?<![\w.,-])\d{1,3}[.,]\d{1,4}\s?%")
# how many things: `4\u00d7 titan`, `titan \u00d74`; of thousands: `1,000x bravo cases`
_THOUSANDS = re.compile(r"(?<![\w.,])\d{1,3}(?:,\d{3})+\s?x(?!\w)", re.IGNORECASE)
_TIMES = re.compile(r"(?<!\S)(?:(\d{1,2})\s?\u00d7(?!\s*\d)|\u00d7(?=\d{1,2}(?!\S)))")
# a heart, no bound: `thx <3`
_HEART = re.compile(r"(?<!\w)(thanks|thank you|thx|tysm|ty|pls|please|love)\s*<3+\s*$", re.IGNORECASE)
# when the item may be traded again, as an inventory says it: `Tradable/Marketable After Sep 04, 2026 (7:00:00) GMT`
_TRADABLE = re.compile(
    r"(?<!\w)(?:tradable|tradeable|marketable)(?:/\w+)?\s+(?:after|until):?\s+[a-z]{3,9}\.?\s+\d{1,2}(?!\w)(?:,?\s+20\d\d)?"
    r"(?:\s*\([\d:]+\))?(?:\s+gmt)?",
    re.IGNORECASE,
)
# the line of dashes before a price in a list, and the options of a command: `--max-price 5`
_LEADER = re.compile(r"\s[-.\u2013\u2014_]{4,}\s*(?=[$€£]?\d[\d.,]*\D{0,3}$)")
_OPTION = re.compile(r"(?<!\S)--(max|min|sort)-(?=[a-z]+)", re.IGNORECASE)
# a price in keys: `m9 doppler: 105 keys`, `dragon lore - 350~450 keys`, `b/o 28 keys for a gut knife`
PRICE_IN_KEYS = re.compile(
    r"(?:(?<=\S)\s*(?:[:=\u2013-]|(?<!\w)for)\s*(?:\d{1,5}\s?[~\u2013-]\s?)?\d{1,5}(?:[.,]\d{1,2})?\s*keys?[\s.!]*$"
    r"|(?<!\w)b/?o:?\s*\d{1,5}\s*keys?(?!\w))",
    re.IGNORECASE,
)
# how rare a pattern is, no seed: `karambit blue gem #1`, `#1 scar pattern`
_RANK = re.compile(r"(?<=gem\s)#\d(?!\S)|(?<!\S)#\d(?=\s+(?:blue\s?gem|\w+\s+pattern)(?!\w))", re.IGNORECASE)
# words of two scripts without a blank: `ГротStatTrak™`
_NEXT_SCRIPT = re.compile(r"(?<=[^\W\d_A-Za-z])(?=[A-Z][a-z]{2})")
# a letter that is drawn out (`faaaade`, `plsss`); `III` is a number
_THRICE = re.compile(r"([^\W\d_])\1\1", re.IGNORECASE)
_DRAWN_OUT = re.compile(r"([^\W\d_])(?!\1)([^\W\d_ivxIVX])\2{3,}(?!\2)(?=[^\W\d_])", re.IGNORECASE)
_DRAWN_OUT_END = re.compile(r"(?<!\w)((?:([^\W\d_])(?!\2))+)([^\W\d_aivoxAIVOX])\3{2,}(?!\w)", re.IGNORECASE)
_UNDERSCORE = re.compile(r"(?<=[^\W\d_])_+(?=[^\W_])|(?<=[^\W_])_+(?=[^\W\d_])")
# how many are listed: `top 10 awp skins`, `the 5 best knives`, `best ten knives`
_MANY = r"(?:\d{1,2}|three|five|ten|fifteen|twenty)"
_MOST = r"(?:best|coolest|nicest|rarest|cheapest|most)"
_HAS_COUNT = re.compile(rf"top|{_MOST}|double|triple|quad", re.IGNORECASE)  # what these begin with
_BEST = re.compile(
    rf"^\s*(?:the\s+)?(?:(?:top\s+)?{_MANY}\s+(?={_MOST}\s)|top\s+(?!\d){_MANY}\s+)|(?<![\w-])top\d{{2}}(?!\S)",
    re.IGNORECASE,
)
_BEST_MANY = re.compile(
    rf"(?<!\w)({_MOST}\s+){_MANY}\s+(?!(?:dollar|buck|euro|pound|cent|key)s)(?=[a-z]+s(?!\w))", re.IGNORECASE
)
# a float of so many zeros: `double zero float`
_ZEROS = re.compile(r"(?<!\w)(double|triple|quad(?:ruple)?)[\s-](?:zero|0)(?:e?s)?(?![\w.])", re.IGNORECASE)
_ZERO_FLOATS = {"double": "0.00x", "triple": "0.000x", "quad": "0.0000x", "quadruple": "0.0000x"}
# A chat's head, a picture's extension, hearts, ratios and dates of trade locks go; letters of trade posts are words.
_SUBSTITUTIONS: tuple[tuple[re.Pattern[str], str | Callable[[re.Match[str]], str]], ...] = (
    (_CHAT_LINE, ""),
    (_PICTURE, ""),
    (_TRADE_LETTER, lambda match: _TRADE_WORDS[(match[1] or match[2]).lower()]),
    (_THOUSANDS, " "),
    (_TIMES, r"\1x"),
    (_HEART, r"\1"),
    (_RATIO, " "),
    (_TRADABLE, " "),
    (_RANK, " "),
    (_LEADER, f" {ASKING_PRICE} "),
    (_OPTION, r"\1 "),
    (_NEXT_SCRIPT, " "),
)
# `[H] knife [W] keys`: what somebody has, and what they want for it
_TRADE_MARK = re.compile(
    r"(?<!\w)(?:[\[(<{]\s*(?P<mark>have|want|h|w)\s*[\])>}]|(?P<label>have|want|h|w)\s*:)", re.IGNORECASE
)
# a word that may mean another thing so: `FURIA (or)`, `broky (or, champion)`
_BRACKETED = re.compile(r"\((\w+)(?=[,)])")
_WORD = re.compile(r"\w+")
_MAX_NAME = 5  # words of a finish
_MAY_BE_NAME = re.compile(r"\(|\w\W+\w+s(?!\w)", re.IGNORECASE)  # what has one of these, or several words in the plural
# between what is wanted and what else would do
_OR_ELSE = re.compile(r"\s*(?:[,;|+&]|(?<!\w)or(?!\w))\s*", re.IGNORECASE)


def _with_english_names(text: str, vocabulary: Vocabulary) -> str:
    """The text, words that mean another thing in brackets in English (`FURIA (or)`), and finishes in the singular.

    Those are the names of several words: `dragon lores`.
    """
    text = _BRACKETED.sub(lambda match: f"({vocabulary.bracketed.get(match[1].lower(), match[1])}", text)
    words = [*_WORD.finditer(text)]
    for at in range(len(words) - 1, 0, -1):
        end = words[at].end() - 1
        if text[end] in "sS" and letters_of_text(words[at].group()[:-1]) in vocabulary.words_of_finishes:
            starts = [word.start() for word in words[max(0, at - _MAX_NAME + 1) : at]]
            names = [letters_of_text(text[start:end]) for start in starts]
            if any(name in vocabulary.finishes and not vocabulary.is_known(f"{name}s") for name in names):
                text = text[:end] + text[end + 1 :]
    return text


def unpacked(text: str) -> str:
    """The text without what is of no item (a line's number, a chat's head, times), names in the place of links."""
    if _THRICE.search(text):
        text = _DRAWN_OUT_END.sub(r"\1\3", _DRAWN_OUT.sub(r"\1\2", text))
    text = _without_counts(text) if _HAS_COUNT.search(text) else text
    if text.replace(" ", "").isalpha():  # as most
        return text
    if "%" in text or "/" in text or "?" in text[:2]:
        text = links_as_names(text)
    for pattern, replacement in _SUBSTITUTIONS:
        text = pattern.sub(replacement, text)
    return _UNDERSCORE.sub(" ", _LIST_NUMBER.sub("", _of_items(text)))


def _without_counts(text: str) -> str:
    """The text without how many are listed, zeros of a float as digits."""
    text = _ZEROS.sub(lambda match: _ZERO_FLOATS[match[1].lower()], text)
    return _BEST_MANY.sub(r"\1", _BEST.sub("", text))


def _of_items(text: str) -> str:
    """The text without what is of no item, floats with their zero (`.2`); the same where nothing would be left."""
    text = _COPIES.sub(" ", text) if "|" in text else text
    without = _NO_ZERO.sub("0.", _NOT_OF_ITEMS.sub(" ", text))
    return without if without.strip() else text


def trade_part(text: str, vocabulary: Vocabulary) -> str:
    """Of a trade post what is wanted, or what is offered where only a payment is wanted; else the text.

    The numbers of a list are separators (`1) ak redline 2) awp asiimov`). Names are in English and in the singular.
    """
    if _MAY_BE_NAME.search(text):
        text = _with_english_names(text, vocabulary)
    if text.count(")") > text.count("("):
        text = _NEXT_NUMBER.sub("; ", text)
    marks = list(_TRADE_MARK.finditer(text))
    # of what `fade w:fn` says first, nothing is offered
    is_label = len(marks) == 1 and marks[0]["label"] is not None and text[: marks[0].start()].strip()
    if not marks or is_label:
        return text
    parts: dict[str, str] = {}
    for at, mark in enumerate(marks):
        end = marks[at + 1].start() if at + 1 < len(marks) else len(text)
        name = (mark["mark"] or mark["label"])[0].lower()
        parts.setdefault(name, text[mark.end() : end])
    wanted = _OR_ELSE.split(parts.get("w", ""))
    items = [each for each in wanted if each.strip() and not vocabulary.is_payment(each)]
    if len(items) < len(wanted):
        return " / ".join(items) or parts.get("h") or text
    return parts["w"]
