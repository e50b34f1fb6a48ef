"""Names in what is pasted: links, percent-encoding, trade posts."""

import pytest

from api.search.parsing.links import is_listing
from api.search.parsing.parse import parse_query
from api.search.parsing.pasted import trade_part, unpacked
from tests.support.platforms import shared_platforms
from tests.support.search.relaxations import relaxations

CS2 = tuple(shared_platforms())
MARKET = "https://steamcommunity.com/market/listings/730/"


AMOUNTS = (
    *("нож 10 000-15 000 руб", "5 000-10 000 zł", "case hardened seeds 029 103 670", "seed 0661 100", "under 5.5. ft"),
    *("max 12.10. stattrak", "seed 12/34/56", "ak 5/10/15$", "fade 90:10", "mp5 80:20", "doppler phase (2) | x"[:-4]),
    *(
        "knife under (5)",
        "fn w > 0.03",
        "redline -.07",
        "awp ~~ 50 or ak ~~ 20",
        "r/b doppler",
        "~~fade~~",
        "12.05.2024",
    ),
    *("u/someone", "ak 0.15 - 0.18", "3/4 blue", "1.200.50"),
)


@pytest.mark.parametrize(
    ("text", "name"),
    [
        (f"{MARKET}AK-47%20%7C%20Redline%20%28Field-Tested%29", "AK-47 | Redline (Field-Tested)"),
        (f"{MARKET}AK-47 | Redline (Field-Tested)", "AK 47 | Redline (Field-Tested)"),
        ("AK-47%20%7C%20Vulcan", "AK-47 | Vulcan"),
        ("skinport.com/item/awp-asiimov-field-tested", "awp asiimov field tested"),
        ("https://csgoskins.gg/items/ak-47-redline/field-tested", "ak 47 redline field tested"),
        ("https://csfloat.com/search?sort_by=lowest&market_hash_name=Glock-18%20%7C%20Fade", "Glock-18 | Fade"),
        ("https://buff.163.com/goods/33960?from=market", ""),
        ("https://www.youtube.com/watch?v=dQw4w9WgXcQ", ""),
        ("www.booking.com/hotel/paris", "www.booking.com/hotel/paris"),  # of no market
        ("bitskins.com/ak-47-redline", "ak 47 redline"),
        ("https://youtu.be/12345", ""),
        ("fn/mw 50% off", "fn/mw 50% off"),
        ("a/b", "a/b"),
        ("AK-47 Redline TRADABLE UNTIL SEP 04 2026", "AK-47 Redline  "),
        ("#12 in my list glock fade", " in my list glock fade"),
        ("awp asiimov ft.png", "awp asiimov ft"),
        ("Karambit | Doppler (Factory New) (1).webp", "Karambit | Doppler (Factory New)"),
        ("awp 0.07", "awp 0.07"),
        ("[14:32] vanya_kek: knife night", "knife night"),
        ("Oleg K., 21:07: awp", "awp"),
        ("9:05:33 awp", "awp"),
        ("price: 50 ak", "price: 50 ak"),
        ("ak 12:30", "ak  "),
        ("dentist 2:30 pm, glock", "dentist  , glock"),
        ("ak since 14.03.2019", "ak since  "),
        ("2026-08-03 ak", "  ak"),
        ("am 24.12. ne m9", "  ne m9"),
        ("float 0.12. ak 10.50. ft", "float 0.12. ak 10.50. ft"),
        ("call 0151 555 0199 awp", "call   awp"),
        ("tel. +48 600 123 456 awp", "tel.   awp"),
        ("lower than .2 float", "lower than 0.2 float"),
        *((text, text) for text in AMOUNTS),
        ("~~M9 Lore~~ sold, still have M9", "  sold, still have M9"),
        ("Sealed Graffiti | GTG (1) tradable", "Sealed Graffiti | GTG   tradable"),
        ("https://cs.money/buy/?search=mac-10%20neon&exterior=factory-new", "mac-10 neon factory-new"),
        ("awp, 1:1 knife only", "awp,   knife only"),
        ("awp asiimov 0.5% chance", "awp asiimov   chance"),
        ("1,000x bravo cases", "  bravo cases"),
        ("?name=UMP-45+%7C+Djinn&page=1", "UMP-45 | Djinn"),
        ("?sort=price ak redline", "?sort=price ak redline"),
        ("?market_hash_name=AWP%20%7C%20Fade", "AWP | Fade"),
        ("S> ak redline", "wts ak redline"),
        ("hi, b > ak redline", "hi, wtb ak redline"),
        ("LF>> awp W> glove case H> btc", "lf awp [w] glove case [h] btc"),
        ("ak redline >20", "ak redline >20"),
        ("ak redline thx <3", "ak redline thx"),
        ("ak redline <3", "ak redline <3"),
        ("awp asiimov Tradable/Marketable After Sep 04, 2026 (7:00:00) GMT", "awp asiimov  "),
        ("awp asiimov after 5", "awp asiimov after 5"),
    ],
)
def test_a_link_is_the_name_in_it(text: str, name: str) -> None:
    assert unpacked(text) == name


@pytest.mark.parametrize(
    ("text", "part"),
    [
        ("[H] keys [W] ak vulcan", " ak vulcan"),
        ("[H] ak vulcan [W] keys", " ak vulcan "),
        ("H: keys W: awp", " awp"),
        ("(h) awp", " awp"),
        ("[W] keys", "[W] keys"),
        ("[H] ak [W] awp, m9 or keys", " awp / m9"),
        ("ak vulcan", "ak vulcan"),
        ("mac10 disco tech 2) mp9 3) galil", "mac10 disco tech ;  mp9 ;  galil"),
        ("karambit doppler (phase 2) fn", "karambit doppler (phase 2) fn"),
        ("doppler (phase 2 ) fn", "doppler (phase 2 ) fn"),
        ("[H] dragon lores [W] fire serpents", " fire serpent"),
        ("FURIA (or)", "FURIA (gold)"),
        ("broky (or, champion)", "broky (gold, champion)"),
    ],
)
def test_a_trade_post_is_what_is_wanted_or_what_is_offered_for_a_payment(text: str, part: str) -> None:
    assert trade_part(text, CS2[0].merged_vocabulary) == part


@pytest.mark.parametrize(
    ("text", "is_one"),
    [
        (f"{MARKET}AK-47%20%7C%20Vulcan", True),
        ("https://csfloat.com/search?market_hash_name=Glock-18%20%7C%20Fade", True),
        ("https://dmarket.com/items?title=ak-47%20redline", False),
        ("https://buff.163.com/goods/33960", False),
        ("AK-47%20%7C%20Vulcan", False),
        ("fn/mw", False),
        ("www.booking.com/hotel/paris", False),
    ],
)
def test_a_link_is_of_one_item_or_of_a_search(text: str, is_one: bool) -> None:
    assert is_listing(text) == is_one


@pytest.mark.parametrize(
    ("name", "not_wanted"),
    [
        ("AK-47%20%7C%20Redline%20(Field-Tested)", ("StatTrak™", "★ StatTrak™", "Souvenir")),
        ("StatTrak™ AK-47 | Redline (Field-Tested)", ()),
        ("Sticker%20%7C%20Crown%20(Foil)", ()),
    ],
)
def test_the_link_of_a_plain_skin_means_no_other_quality(name: str, not_wanted: tuple[str, ...]) -> None:
    parsed = parse_query(MARKET + name, CS2)
    excluded = [value for term in parsed.parses[0].excluded for meaning in term.meanings for value in meaning.names]
    assert tuple(excluded) == not_wanted
    relaxed = [parse for each in relaxations(parsed) for parse in each.parses]
    assert all(len(parse.excluded) == len(parsed.parses[0].excluded) for parse in relaxed)
