"""Finds the offer that counts in a trade post, its items, and the price that is asked for it. Pure.

A text is a trade post if it has a word of `selling` or `buying` (`WTS`, `售`), or says what is asked (`算你5000`). Of
several offers the first one counts, what is wanted before what is sold. Where each of several names has its price, the
first name counts. In an exchange (`my AK for an AWP`) what is wanted counts, and in a list (`ak redline, awp asiimov`)
each item, also of names whose type is said once (`cases: fracture, prisma 2, revolution`).

A bare number behind a name is the price that is asked if it has cents or four digits or more, ends its offer, or stands
before the next weapon. Years are no prices, and no number that is part of a known name is (`毁灭者 2000`).

Where a market name is pasted with what stands around it elsewhere (`Order 7: 2x FAMAS | Djinn (Field-Tested) - $4.10`),
the name counts, with the details and bounds that the text has besides.
"""

import re
from collections.abc import Collection, Sequence
from dataclasses import replace
from itertools import takewhile

from api.search.parsing.quantities import ASKING_PRICE, Quantity
from api.search.relaxation.lists import is_named_item, items_of_list
from api.search.relaxation.parts import (
    EXCLUSIONS,
    NAMES,
    SEPARATORS,
    THINGS,
    Kind,
    Part,
    Parts,
    has,
    is_bound,
    names_finish,
    parts_in,
    text_of,
)
from mappings.vocabulary.vocabulary import Vocabulary
from mappings.vocabulary.words import letters_of, letters_of_text

_SURE = re.compile(r"\d{4}|\dk|[.,]\d\d$")  # a seed has three digits
# of a market name: the end of a clause, a column or its exterior
_NAME_END = re.compile(r"[,;:\t\n\[\])]|\s[-\u2013\u2014]\s|\s{2}")
_ARROW = re.compile(r"[-=]>|\u2192|\s>+\s")  # of an exchange
_OFFERS = (Kind.SELLING, Kind.BUYING)


def items_in(text: str, quantities: Sequence[Quantity], vocabulary: Vocabulary, *, may_list: bool = True) -> list[str]:
    """The items of the offer that counts, its price as an amount of no currency; empty: the text is no more than one.

    `may_list`: the text may be a list of items.
    """
    parts = list(parts_in(text, quantities, vocabulary))
    wanted = _wanted(parts, vocabulary)
    offers = [_with_prices(offer) for offer in _offers(wanted) if has(offer, *NAMES)]
    is_post = has(wanted, *_OFFERS) or any(ASKING_PRICE in quantity.typed for quantity in quantities)
    offer = wanted
    if offers and is_post:
        offer = _first_name(next((each for each in offers if has(each, Kind.BUYING)), offers[0]))
    name = _pasted_name(offer)
    items = [name] if name else items_of_list(offer, vocabulary) if may_list or is_post else [offer]
    if [list(item) for item in items] == [parts]:
        return []
    return [text_of(item) for item in items]


def _pasted_name(parts: Parts) -> Parts:
    """A market name with the details and bounds beside it; empty where there are none or more."""
    names = [
        at
        for at, part in enumerate(parts)
        if at and "|" in part.gap and part.kind in NAMES and parts[at - 1].kind in THINGS
    ]
    if len(names) != 1 or has(parts, *EXCLUSIONS) or has(parts[: names[0] - 1], Kind.WEAPON):
        return []
    start = names[0] - 1
    end = next((at for at in range(start + 2, len(parts)) if not _goes_on(parts[at])), len(parts))
    return [part for at, part in enumerate(parts) if start <= at < end or _is_said_of_item(part)]


def _goes_on(part: Part) -> bool:
    """Whether a market name goes on there."""
    is_word = part.kind in (*NAMES, Kind.NUMBER, Kind.EITHER, Kind.OTHER)
    return is_word and ("|" in part.gap or not _NAME_END.search(part.gap))


def _is_said_of_item(part: Part) -> bool:
    return is_bound(part) or part.kind in (Kind.DETAIL, Kind.QUANTITY)


def _wanted(parts: Parts, vocabulary: Vocabulary) -> Parts:
    """What is wanted where something is offered for it: `ak for an awp`, `karambit, looking for a talon`."""
    exchanged = [at for at, part in enumerate(parts) if part.kind is Kind.EXCHANGING]
    for at, part in enumerate(parts):
        before = parts[:at]
        if _ARROW.search(part.gap) and has(before, Kind.WEAPON) and has(parts[at:], *THINGS):
            return parts[at:]
        end = next((position for position in exchanged if position > at), len(parts))
        offered, wanted = [*before, *parts[end:]], parts[at + 1 : end]
        if part.kind is Kind.SEEKING:
            is_exchange = has(offered, Kind.WEAPON) and not (has(before, Kind.SEEKING) or _ends_clause(parts, at))
        elif _is_return(part, before, vocabulary):
            is_exchange = _is_exchanged(offered, wanted, vocabulary)
        else:
            continue
        if is_exchange and (has(wanted, *THINGS) or _is_finish(wanted, vocabulary)):
            return wanted
    positions = (at for at in exchanged if has(parts[:at], *THINGS) and has(parts[at:], *THINGS))
    return next((parts[:at] for at in positions if _begins_clause(parts, at)), parts)


def _begins_clause(parts: Parts, at: int) -> bool:
    """Whether the clause of the part there names no thing before it: `king snake mw, can give 2 karambits`."""
    clause = takewhile(lambda part: part.kind not in THINGS, reversed(parts[: at + 1]))
    return any(SEPARATORS.search(part.gap) for part in clause)


def _is_return(part: Part, before: Parts, vocabulary: Vocabulary) -> bool:
    """Whether what is wanted follows; a word of exchange may say so behind a thing (`ak takas awp`)."""
    is_either = part.kind is Kind.EXCHANGING and letters_of_text(part.text) in vocabulary.returns
    return part.kind is Kind.RETURN or (is_either and has(before, *THINGS))


def _is_exchanged(offered: Parts, wanted: Parts, vocabulary: Vocabulary) -> bool:
    """Whether the one is given for the other. A finish may stand for its weapon on both sides (`howl for dragon lore`).

    What is sold (`wts knife want gloves`) is given for no payment.
    """
    if _is_finish(offered, vocabulary) and (_is_finish(wanted, vocabulary) or _is_weapon(wanted)):
        return has(offered, Kind.EXCHANGING) or _is_finish(wanted, vocabulary)
    if has(offered, Kind.EXCHANGING):
        return _is_item(offered)
    if has(offered, Kind.SELLING) and not has(offered, Kind.BUYING, Kind.SEEKING, Kind.ATTACHED):
        are_items = all(has(parts, Kind.WEAPON, Kind.TYPE) for parts in (offered, wanted))
        return are_items and not vocabulary.is_payment(text_of(wanted))
    return _is_weapon(wanted) and _is_given(offered, wanted, vocabulary.own)


def _is_finish(parts: Parts, vocabulary: Vocabulary) -> bool:
    """Whether no more is named than a finish."""
    return names_finish(parts, vocabulary, Kind.NAME) and not has(parts, *THINGS, Kind.DETAIL)


def _is_given(before: Parts, wanted: Parts, own: Collection[str]) -> bool:
    """Whether the parts say no more than somebody's weapon (`my ak redline`), or one before another.

    In `awp asiimov to match my ak redline` and `scar cardiac for the autosniper fans` nothing is exchanged.
    """
    if not has(before, Kind.WEAPON) or has(before, Kind.SEEKING, *_OFFERS):
        return False
    is_own = letters_of([before[0].text]) in own
    return is_own or before[0].kind is wanted[0].kind is Kind.WEAPON


def _is_weapon(parts: Parts) -> bool:
    """Whether the parts name a weapon with its finish."""
    return has(parts, Kind.WEAPON) and has(parts, Kind.NAME)


def _is_item(parts: Parts) -> bool:
    """Whether the parts name an item: keys alone are none."""
    is_finish = has(parts, Kind.NAME) and has(parts, Kind.DETAIL)  # `vulcan mw`
    return is_finish or has(parts, Kind.WEAPON, Kind.NAMED_TYPE) or is_named_item(parts)


def _ends_clause(parts: Parts, at: int) -> bool:
    """Whether the part there is the last of its clause: in `bayonet doppler arıyorum, ucuz olsun` it is a verb."""
    return at > 0 and at + 1 < len(parts) and bool(SEPARATORS.search(parts[at + 1].gap))


def _offers(parts: Parts) -> list[list[Part]]:
    """The offers: each has one word of trade, what stands before the first one included.

    Words of trade may stand behind their offers (`ak バルカン 譲 awp アジモフ 求`).
    """
    if parts[-1:] and parts[-1].kind in _OFFERS and parts[0].kind not in _OFFERS:
        return [offer[::-1] for offer in reversed(_offers(parts[::-1]))]
    offers: list[list[Part]] = [[]]
    for part in parts:
        if part.kind in _OFFERS and has(offers[-1], *_OFFERS):
            offers.append([])
        offers[-1].append(part)
    return offers


def _with_prices(offer: Parts) -> Parts:
    """The offer, the numbers in it that are prices as amounts that are asked; so is each amount for what is sold."""
    is_sold = has(offer, Kind.SELLING) and not has(offer, Kind.BUYING)
    return [
        replace(part, kind=Kind.PRICE, text=f" {part.text} {ASKING_PRICE} ")
        if (part.kind is Kind.NUMBER and _is_price(offer, at))
        or (is_sold and part.kind is Kind.PRICE and not is_bound(part))
        else part
        for at, part in enumerate(offer)
    ]


def _is_price(offer: Parts, at: int) -> bool:
    if not has(offer[:at], *NAMES):
        return False
    next_kind = next((part.kind for part in offer[at + 1 :] if part.kind in NAMES), Kind.WEAPON)
    return next_kind is Kind.WEAPON or bool(_SURE.search(offer[at].text))


def _first_name(offer: Parts) -> Parts:
    """The first of several names that have their prices, with its own."""
    prices = [at for at, part in enumerate(offer) if part.kind is Kind.PRICE]
    if len(prices) < 2 or not (has(offer[: prices[0]], *NAMES) and has(offer[prices[0] : prices[1]], *NAMES)):
        return offer
    return offer[: prices[0] + 1]
