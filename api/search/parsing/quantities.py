"""Finds the prices, floats and seeds in a buyer's text. Pure.

How quantities are written (cases and blanks do not count):
- price: `under 50`, `<50`, `max 50`, `50 or less`, `over 20`, `20+`, `20〜`, `20-50`, `from 20 to 50`, `$50`, `50 eur`,
  `20$-50$`, `30 cents`, `14.50`. A currency or cents alone are a budget (at most). `around 50`, `~50` and `50 about`
  are up to a quarter less or more.
- float: `<0.07`, `0.15-0.2`, `float 0.15-0.2`, `fv < 0.01`, `max float 0.02`, `0.45+`, `0.00x`, `0.01`. A bare one is
  the beginning of a float, as it is read off a screen: `0.01` is from 0.01 to below 0.02. One of eight decimals or more
  is that of an item; where none has it, similar ones are found, near ones first.
- seed: `seed 661`, `pattern 661`, `template 661`, `id 661`, `#661`, `661 seed`, `seed 661, 670`.

`<` and `>` are strict, and so are words that say less or more (`under`, `未満`), not `max`, `at most` and ranges.

`¤RUB` stands for another currency, in whatever words the vocabulary has for it (`api.search.parsing.numerals`).

A number from 0 to 1 with a point is a float unless it has a currency. Two numbers with a dash are a price unless both
are years, one begins with 0, or the vocabulary knows them as a name (`5-7`). Any other number is a word.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from decimal import ROUND_FLOOR, Decimal
from math import inf, nextafter
from operator import attrgetter

from mappings.money import ceil_minor, floor_minor, from_minor
from mappings.vocabulary.amounts import CURRENCIES, CURRENCY_WORDS
from mappings.vocabulary.numerals import UNSPACED_LETTERS

_CURRENCIES = {"$": "USD", "€": "EUR", "e": "EUR", "£": "GBP"} | {
    word: code for code, words in CURRENCIES.items() for word in words
}
OTHER_CURRENCY = "¤"  # before the code of a currency that the vocabulary has words for
_CURRENCY_MARK = 4  # letters of one with its code; one more (`¤RUBc`) for its hundredths
_AROUND_SHARE = Decimal("0.25")  # of an amount that is said with `around`
_FEWEST = 10  # a lower number without a currency counts things: `around 4 cases`
ASKING_PRICE = "¤ASK"  # beside what a trade post asks, in a currency that it does not say
# A float of more decimals is of one item. The game's have 24 bits (IEEE 754 binary32), which sources write out at
# different lengths; others are similar if they begin with the same two decimals.
_MAX_DECIMALS, _ERROR, _SIMILAR = 7, Decimal("0.00000005"), Decimal("0.01")
_CENTS = ("cents", "cent", "c", "¢", "ct")

# with the words that a sentence has between: `doesn't cost`, `don't want to spend`, `can't go`
_NO = (
    r"(?:no|not|nothing|never|without|cannot|(?:do|does|is|are|wo|would|should|could|ca)n['\u2019]?t)"
    r"(?:\s+(?:want|wanna|to|be|cost(?:s|ing)?|go(?:ing|es)?|priced?|pay(?:ing)?|afford|spend(?:ing)?)){0,3}"
)
_AT_MOST = (
    r"(?P<most>(?:<=?|=<|≤|(?<!\S)[\u301c\uff5e]|(?<!\w)"
    r"(?:(?:at\s+or\s+)?(?:under|below)(?:\s+or\s+at)?|sub|max(?:imum)?|budget|within|up\s?to|at\s+most"
    r"|(?:less|fewer|cheaper|better(?=\s+than\s+0?[.,]\d))\s+than(?:\s+or\s+equal(?:\s+to)?)?"
    rf"|{_NO}\s+(?:over|above|past|more\s+than|higher\s+than|greater\s+than|exceed(?:ing)?|worse\s+than))"
    r"(?![^\W\d])(?:\s+(?:of|price|is)(?!\w)){0,2}[.:]?))"
)
_AT_LEAST = (
    r"(?P<least>(?:>=?|=>|≥|(?<!\w)"
    r"(?:(?:at\s+or\s+)?(?:over|above)(?:\s+or\s+at)?|min(?:imum)?|from|at\s+least|(?:more|worse(?=\s+than\s+0?[.,]\d))\s+than|starting\s+(?:at|from)"
    rf"|{_NO}\s+(?:under|below|less\s+than|lower\s+than|cheaper\s+than))"
    r"(?![^\W\d])(?:\s+(?:of|price|is)(?!\w)){0,2}[.:]?))"
)
_BOUND = rf"(?:{_AT_MOST}|{_AT_LEAST})"
# a bound behind its number: `50 max`, `20+`, but not the `min` of a `min wear`; `<max` and `>min` exclude the number
_BOUND_AFTER = (
    r"\s*(?:about\s+)?(?:(?P<most><?(?<!\w)(?:max(?:imum)?(?!\s+fade)|tops|at\s+(?:the\s+)?(?:most|max)(?!\s+[\d$€£])|(?:or|and|&)\s+(?:less|lower|below|under|cheaper))(?!\w))"
    r"|(?P<least>\+(?!\w)|[~\u301c\uff5e](?!\s*[\d$€£])|>?(?<!\w)(?:min(?:imum)?(?!\s*wear)|at\s+(?:the\s+)?least(?!\s+[\d$€£])|(?:or|and|&)\s+(?:more|up|above|over|higher))(?!\w)))"
)
_FLOAT_BOUND_AFTER = _BOUND_AFTER.replace("lower|", "lower|better|").replace("higher)", "higher|worse)")
_TO = r"\s*(?:[-~\u2013\u2014\u223c\u301c\uff5e]|\.{2,3}|(?<!\w)to(?!\w)|(?<!\w)(?:and|n)(?!\w)|&)\s*"
_BETWEEN = r"(?P<between>(?<!\w)(?:between|b/w|from)\s+)?"
# Of a word that a number may be part of. With `(?-i:`, compiling a pattern does not look up the case of 30,000 letters.
_WORD = rf"(?-i:[^\W{UNSPACED_LETTERS}])"
_START = rf"(?<!{_WORD})(?<![$€£.,-])"
_END = rf"(?!{_WORD}|[$€£%]|[.,]\d|-\w)"
_CURRENCY_WORD = rf"(?:(?<=\d)e(?!\w)|(?<![a-z])(?:{CURRENCY_WORDS})(?![a-z]))"
_MARK = rf"(?:[$€£]|{OTHER_CURRENCY}[A-Z]{{3}}c?|{_CURRENCY_WORD})"
_CENT_MARK = r"(?:cents?|¢|(?<=\d)ct?)(?![a-z0-9])"
_THOUSANDS = r"[1-9]\d{0,2}(?:\.\d{3})+(?:,\d{1,2})?"  # no other number above 1 has a point and three digits
_NUMBER = rf"(?:\d{{1,3}}(?:,\d{{3}})+(?:\.\d{{1,2}})?|{_THOUSANDS}(?!\d)|\d{{1,12}}(?:[.,]\d{{1,2}})?)k?"
_UNIT = rf"(?:{_MARK}|{_CENT_MARK})"
_LOW, _HIGH = (
    rf"(?P<{end}mark>(?!{ASKING_PRICE}){_MARK}\s*)?(?P<{end}>{_NUMBER})(?P<{end}after>\s*{_UNIT})?"
    for end in ("low", "high")
)
_SHARE = r"(?:0[.,]\d{1,30}|\.\d{1,30})"
_ANY_SHARE = rf"(?:{_SHARE}|[01](?:[.,]0+)?)"
_NO_MARK = rf"(?!{_MARK}|\s+{_MARK}(?!\s*\d))"  # nor one of the next number
_FLOAT = rf"(?<!{_WORD})(?:float|fv|wear)s?(?:\s+(?:value|rating))?(?![^\W\d])"
_FLOAT_WORD = rf"{_FLOAT}\s*(?:[:=]|(?:of|is)(?!\w))?\s*"
_SEEDS = r"(?P<seeds>\d{1,9}(?:\s*(?:[,/]|,?\s*(?<!\w)(?:or|and)(?!\w))\s*#?\d{1,9})*)"
_SEED = r"(?:(?:paint\s*)?(?:seed|pattern|template)s?(?:\s+(?:id|index|number|no))?|id)"
_PATTERN = re.compile(r"(?i)pattern|template")
_FLOAT_SAID = re.compile(r"(?i)float|fv|wear")
_STRICT = re.compile(
    r"(?is)(?!<=|>=|.*\b(?:at|equal)\b)(?:[<>]|under|below|sub|less|fewer|cheaper|better|over|above|more|worse)"
)
_DIGIT = re.compile(r"\d")
_BARE_SEED = re.compile(
    rf"(?<![^\s(\[{UNSPACED_LETTERS}])(?:[0-9]{{3}}|[pP]\s?[0-9]{{2,3}})(?![^\s)\],{UNSPACED_LETTERS}])"
)

_FLOAT_FORMS = (
    rf"(?:{_FLOAT_WORD})?{_START}(?P<low>0[.,]\d{{1,30}})(?P<open>[x\u0445\u00d7]{{1,6}})(?!\w)(?:\s*{_FLOAT})?",
    rf"{_BOUND}\s*{_FLOAT_WORD}(?P<low>{_ANY_SHARE}){_END}",
    rf"{_FLOAT_WORD}{_BETWEEN}(?P<low>{_ANY_SHARE}){_TO}(?P<high>{_ANY_SHARE}){_END}",
    rf"{_FLOAT_WORD}(?P<low>{_ANY_SHARE}){_FLOAT_BOUND_AFTER}",
    rf"{_START}(?P<low>{_SHARE})\s*{_FLOAT}{_FLOAT_BOUND_AFTER}(?!\s*[\d.])",
    rf"{_FLOAT_WORD}{_BOUND}?\s*(?P<low>{_ANY_SHARE}){_END}",
    rf"{_BOUND}?\s*{_START}(?P<low>{_ANY_SHARE})(?:{_TO}(?P<high>{_ANY_SHARE}))?\s*{_FLOAT}",
    rf"{_BETWEEN}{_START}(?P<low>{_SHARE}){_TO}(?P<high>{_SHARE}){_END}{_NO_MARK}",
    rf"{_BOUND}\s*(?P<low>{_SHARE}){_END}{_NO_MARK}",
    rf"{_START}(?P<low>{_SHARE}){_FLOAT_BOUND_AFTER}",
    rf"{_START}(?P<low>{_SHARE}){_END}{_NO_MARK}",
)
_SEED_FORMS = (
    rf"(?<!{_WORD}){_SEED}(?![^\W\d])(?:\s+in(?=\s*\())?\s*[:=(]?\s*[#\"\u201c]?{_SEEDS}{_END}",
    rf"(?<![\w#])#\s?{_SEEDS}{_END}",
    rf"{_START}(?<!phase\s)(?P<seeds>\d{{1,4}})\s+{_SEED}(?!\w)",
)
_EXTREME = r"m(?:ax|in)(?:imum)?(?!\w|\s*wear)"
_LIKE = rf"like(?=\s+(?:[$€£]|{_NUMBER}\s*{_MARK}))"  # an amount of money, but a seed without a currency
_AROUND = rf"(?P<around>(?<!\w)(?:around|about|roughly|approx(?:imately)?\.?|circa|{_LIKE})\s+|(?<!\S)[~\u2248]\s?)"
_MAY_COUNT = re.compile(rf"(?i)\+$|^{_AROUND}.*\d$|^(?:at\s+least|min(?:imum)?)\s+\d$|^\d\s+or\s+more$")
_AROUND_AFTER = r"\s*(?P<around>(?<!\w)about)(?!\w)(?!\s*[$€£]?\s*\d)"
_PRICE_WORD = r"(?:(?<!\w)price(?!\w)\s*[:=]?\s*)?"
_PRICE_FORMS = (
    rf"{_START}{_LOW}\s*<=?\s*price\s*<=?\s*{_HIGH}{_END}",
    rf"{_START}{_LOW}\s*{_EXTREME}\s+(?:and\s+)?{_HIGH}\s*{_EXTREME}",  # `50 min 100 max`
    # `~50 to ~60`, but no share
    rf"{_PRICE_WORD}(?:{_AT_MOST}\s*)?{_BETWEEN}(?:~\s?)?{_START}{_LOW}{_TO}(?:~\s?)?{_HIGH}{_END}(?!\s*%)",
    rf"{_PRICE_WORD}{_BOUND}\s*(?:{_AROUND})?{_LOW}{_END}",
    rf"{_START}(?P<low>{_NUMBER})(?P<least>\+)(?P<lowafter>\s*{_MARK})",
    rf"{_PRICE_WORD}{_START}{_LOW}{_BOUND_AFTER}",
    rf"{_AROUND}{_LOW}{_END}(?!\s*%)",
    rf"{_START}{_LOW}{_AROUND_AFTER}",
    rf"(?:(?<!\w)price(?!\w)(?!(?<=the\sprice)\s+4\s+[a-z])\s*[:=]?\s*{_START}|{_START}(?=[$€£{OTHER_CURRENCY}]|{_NUMBER}(?:{_UNIT}|\s+(?:{ASKING_PRICE}|{_UNIT}(?!\s*\d))))){_LOW}{_END}",
    rf"{_START}(?P<low>\d{{1,6}}[.,]\d\d|\d{{1,4}}[.,]\d{{1,2}}k){_END}(?!%)",  # cents, for it is no float
)

ASKED = "ASK"  # the currency of `ASKING_PRICE`
PLAIN_AMOUNT = re.compile(rf"(?:{_MARK}\s*)?{_NUMBER}(?:\s*{_UNIT})?", re.IGNORECASE)
BARE_AMOUNT = re.compile(_NUMBER, re.IGNORECASE)
AMOUNT_OF_LINE = re.compile(rf"{PLAIN_AMOUNT.pattern}(?:\s*[-~\u2013]\s*{PLAIN_AMOUNT.pattern})?", re.IGNORECASE)


@dataclass(frozen=True)
class Quantity:
    """A number in a text: `field` between inclusive bounds, or one of the values of a `seed` or `pattern`.

    `is_strict`: a price's bound that is not part of it (`under 50`).

    Buyers call both the seed and the template a pattern, so `pattern` is either.

    `certain`: it has a word, a comparison or a currency, so it is not part of a name. `currency` is the typed one.
    `start` and `end` are its place in the text. `is_excluded`: what it says is not wanted. `near`: what is near to
    this float comes first.
    """

    typed: str
    start: int
    end: int
    field: str
    certain: bool
    low: Decimal | None = None
    high: Decimal | None = None
    values: tuple[int, ...] = ()
    currency: str | None = None
    is_excluded: bool = False
    is_strict: bool = False
    near: Decimal | None = None


def with_inclusive_bounds(quantity: Quantity, minor_digits: int) -> Quantity:
    """The quantity, the strict bound of a price as the next amount that a currency of so many decimals has."""
    if not quantity.is_strict:
        return quantity
    low, high = quantity.low, quantity.high
    return replace(
        quantity,
        low=None if low is None else from_minor(floor_minor(low, minor_digits) + 1, minor_digits),
        high=None if high is None else from_minor(ceil_minor(high, minor_digits) - 1, minor_digits),
        is_strict=False,
    )


def quantities_of(
    text: str, is_name: Callable[[str], bool], is_measure: Callable[[str], bool], has_floats: Callable[[], bool]
) -> list[Quantity]:
    """All quantities in their order; `is_name` tells whether an uncertain one, such as `5-7`, is a name.

    `is_measure` tells whether a text begins with what the number before it says how much of: `500+ hours` is no price.
    Where `has_floats` denies it, a number from 0 to 1 is a price.
    """
    quantities: list[Quantity] = []
    if not _DIGIT.search(text):
        return quantities
    taken = bytearray(len(text))
    may_be_floats: bool | None = None
    readers = [(form, read) for needed, forms, read in _READERS if needed.search(text) for form in forms]
    for form, read in readers:
        for match in form.finditer(text):
            start, end = match.span()
            if taken.find(1, start, end) >= 0:
                continue
            if read is _float:
                may_be_floats = has_floats() if may_be_floats is None else may_be_floats
                if not may_be_floats:
                    continue
            quantity = read(match)
            if quantity is None or (_MAY_COUNT.search(quantity.typed) and is_measure(text[quantity.end :])):
                continue
            if quantity.certain or not is_name(quantity.typed):
                quantities.append(quantity)
                taken[quantity.start : quantity.end] = b"\1" * (quantity.end - quantity.start)
    return sorted(quantities, key=attrgetter("start"))


def with_similar_floats(quantity: Quantity) -> Quantity:
    """The float of one item as those that are similar to it; other quantities as they are."""
    if quantity.near is None:
        return quantity
    low = quantity.near.quantize(_SIMILAR, ROUND_FLOOR)
    return replace(quantity, low=low, high=_next_double(low + _SIMILAR, 0))


def either_ranges(quantities: Sequence[Quantity]) -> list[Quantity]:
    """Ranges of floats of which any is wanted, for nothing is in all of them: `0.15-0.18 or 0.07-0.09`."""
    floats = [each for each in quantities if each.field == "float" and not each.is_excluded]
    ends = [(each.low, each.high) for each in floats if each.low is not None and each.high is not None]
    is_either = len(ends) == len(floats) > 1 and max(ends)[0] > min(high for _, high in ends)
    return floats if is_either else []


def with_bare_seeds(text: str, quantities: list[Quantity], is_value: Callable[[str], bool]) -> list[Quantity]:
    """The quantities, and as seeds, any of them, numbers of three digits that stand alone, and `p69` but not `p90`."""
    free = [match for match in _BARE_SEED.finditer(text) if not is_value(match.group())]
    free = [
        each for each in free if not any(each.start() < other.end and other.start < each.end() for other in quantities)
    ]
    values = tuple(int(match.group().lstrip("pP ")) for match in free)
    seeds = (
        Quantity(match.group(), match.start(), match.end(), "seed", certain=False, values=values) for match in free
    )
    return sorted([*quantities, *seeds], key=attrgetter("start"))


def text_between(text: str, quantities: Sequence[Quantity]) -> Iterator[str]:
    """The pieces of the text before, between and after the quantities."""
    end = 0
    for quantity in quantities:
        yield text[end : quantity.start]
        end = quantity.end
    yield text[end:]


def _float(match: re.Match[str]) -> Quantity | None:
    groups = match.groupdict()
    low = Decimal(groups["low"].replace(",", "."))
    certain = bool(_FLOAT_SAID.search(match.group()) or groups.get("between") or groups.get("open"))
    if groups.get("high") is not None:
        ends = sorted((low, Decimal(groups["high"].replace(",", "."))))
        return _quantity(match, "float", certain=certain, low=ends[0], high=ends[1])
    if groups.get("most"):
        return _quantity(match, "float", certain=True, high=_next_double(low, 0) if _is_strict(groups) else low)
    if groups.get("least"):
        return _quantity(match, "float", certain=True, low=_next_double(low, 1) if _is_strict(groups) else low)
    digits = -int(low.as_tuple().exponent)
    if low >= 1:
        return _quantity(match, "float", certain=certain, low=low, high=low)
    if digits > _MAX_DECIMALS:
        own = _quantity(match, "float", certain=certain, low=low - _ERROR, high=low + _ERROR)
        return replace(own, near=low)
    high = _next_double(low + Decimal(1).scaleb(-digits), 0)
    return _quantity(match, "float", certain=certain, low=low, high=high)


def _is_strict(groups: dict[str, str]) -> bool:
    """Whether the number is not part of its bound."""
    return bool(_STRICT.match(groups.get("most") or groups.get("least") or ""))


def _next_double(number: Decimal, towards: int) -> Decimal:
    """The next double, for bounds that are strict: floats are doubles, so nothing lies between."""
    if number == towards:
        return Decimal(repr(nextafter(float(number), inf if towards else -inf)))
    return Decimal(repr(nextafter(float(number), towards)))


def _seeds(match: re.Match[str]) -> Quantity:
    values = tuple(int(digits) for digits in re.findall(r"\d+", match["seeds"]))
    field = "pattern" if _PATTERN.search(match.group()) else "seed"
    return _quantity(match, field, certain=not match.group().startswith("#"), values=values)


def _price(match: re.Match[str]) -> Quantity | None:
    groups = match.groupdict()
    low_units, high_units = (
        [unit.strip().lower() for side in ("mark", "after") if (unit := groups.get(f"{end}{side}"))]
        for end in ("low", "high")
    )
    units = low_units + high_units
    currency = next(filter(None, map(_currency, sorted(units, key="$".__eq__))), None)  # `$50 CAD`
    if groups.get("high") is not None:
        certain = bool(units or groups.get("between") or "price" in match.group().lower())
        if not certain and not _may_be_prices(groups):
            return None
        low, high = _ends(groups, low_units, high_units)
        return _quantity(match, "price", certain=certain, low=low, high=high, currency=currency)
    low = _money(groups["low"]) * _unit(low_units)
    is_around = bool(groups.get("around")) and not groups.get("most") and not groups.get("least")
    # `2014+` is no price, `20+` is more likely one than not
    is_plus = match.group().strip().endswith("+") and not units
    may_count = is_around and not units
    if ((is_plus or may_count) and not _may_be_prices(groups)) or (may_count and low < _FEWEST):
        return None
    if is_around:
        share = low * _AROUND_SHARE
        return _quantity(match, "price", certain=True, low=low - share, high=low + share, currency=currency)
    if groups.get("least"):
        quantity = _quantity(match, "price", certain=not is_plus, low=low, currency=currency)
        return replace(quantity, is_strict=_is_strict(groups))
    is_bare = not currency and match.group().strip() == groups["low"]
    quantity = _quantity(match, "price", certain=not is_bare, high=low, currency=currency)
    return replace(quantity, is_strict=_is_strict(groups))


def _ends(groups: dict[str, str], low_units: Sequence[str], high_units: Sequence[str]) -> list[Decimal]:
    """The lower and the higher end of a range of prices, whose units may be said of one end alone."""
    low = _money(groups["low"]) * _unit(low_units or high_units)
    high = _money(groups["high"]) * _unit(high_units or low_units)
    if high < low and not high_units:
        high = _money(groups["high"])  # `50 cents to 2`
    if groups["high"][-1] in "kK" and low * 1000 < high and not (low_units and high_units):
        low *= 1000  # the `k` of `1-2k` is said of both
    return sorted((low, high))


def _currency(unit: str) -> str | None:
    return unit[1:_CURRENCY_MARK].upper() if unit.startswith(OTHER_CURRENCY) else _CURRENCIES.get(unit)


def _unit(units: Sequence[str]) -> Decimal:
    is_in_cents = any(unit in _CENTS or unit[_CURRENCY_MARK:] == "c" for unit in units)
    return Decimal("0.01") if is_in_cents else Decimal(1)


def _may_be_prices(groups: dict[str, str]) -> bool:
    ends = [groups[end] for end in ("low", "high") if groups.get(end)]
    years = all(re.fullmatch(r"(?:19|20)\d\d", end) for end in ends)
    return not years and not any(re.match(r"0\d", end) for end in ends)


def _money(text: str) -> Decimal:
    """A price as it is typed: `1,000`, `1.000`, `49.99`, `49,99`, `2k`."""
    digits = text.lower().removesuffix("k")
    if re.fullmatch(_THOUSANDS, digits):
        digits = digits.replace(".", "")
    elif re.fullmatch(r"\d{1,3}(?:,\d{3})+(?:\.\d{1,2})?", digits):
        digits = digits.replace(",", "")
    number = Decimal(digits.replace(",", "."))
    return number * 1000 if text[-1] in "kK" else number


def _quantity(
    match: re.Match[str],
    field: str,
    *,
    certain: bool,
    low: Decimal | None = None,
    high: Decimal | None = None,
    values: tuple[int, ...] = (),
    currency: str | None = None,
) -> Quantity:
    typed = match.group().strip()
    start = match.start() + match.group().index(typed)
    return Quantity(typed, start, start + len(typed), field, certain, low, high, values, currency)


# What a text must have for one of the forms to match, the forms, and what reads their matches.
_READERS = tuple(
    (re.compile(needed, re.IGNORECASE), [re.compile(form, re.IGNORECASE) for form in forms], read)
    for needed, forms, read in (
        (r"float|fv|wear|[.,]\d", _FLOAT_FORMS, _float),
        (r"seed|pattern|template|id|#", _SEED_FORMS, _seeds),
        (r"\d", _PRICE_FORMS, _price),
    )
)
