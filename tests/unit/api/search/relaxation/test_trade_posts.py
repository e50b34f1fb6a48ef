"""Of a trade post one offer counts, and the price that is asked for it is no word of a name."""

import pytest

from api.search.parsing.parse import parse_query, with_quantities
from api.search.relaxation.fillers import offered_items
from api.search.relaxation.trade_posts import items_in
from mappings.vocabulary.vocabulary import Vocabulary
from tests.support.platforms import shared_platforms
from tests.support.search.relaxations import relaxations

CS2 = next(iter(shared_platforms()))


def offer(text: str) -> str:
    """The first item of the offer; empty where it is the text."""
    return next(iter(items(text)), "")


def items(text: str) -> list[str]:
    offered = items_in(*with_quantities(text, CS2.merged_vocabulary), CS2.merged_vocabulary)
    return [" ".join(item.replace(" ¤ASK", "¤").split()) for item in offered]


@pytest.mark.parametrize(
    ("text", "counts"),
    [
        ("售 AK-47 紅線 久經 5000", "售 AK-47 紅線 久經 5000¤"),
        ("WTS ak redline ft 20", "WTS ak redline ft 20¤"),
        ("wtb ak redline 850 pls", "wtb ak redline 850¤ pls"),
        ("продам ак редлайн 1500", "продам ак редлайн 1500¤"),
        ("売ります AK-47 レッドライン 5000", "売ります AK-47 レッドライン 5000¤"),
        ("WTS ak redline 14.50", "WTS ak redline 14.50¤"),
        ("WTS ak redline 5k", "WTS ak redline 5k¤"),
        ("售 夜行衣 2100*4.4=9200", "售 夜行衣 2100¤"),
        ("夜行衣 同磨底2100*4.4=9200算5000", "夜行衣 2100¤ * 4¤ 5000¤"),
        ("售ak紅線850 awp二西莫夫1200", "售ak紅線 850¤"),  # before the next weapon
        ("售 AK-47 5000 紅線", "售 AK-47 5000¤ 紅線"),
        ("出2把ak 14卡托紅線 7480 火神4xtitan 14000", "出2把ak 14卡托紅線 7480¤"),
        ("售 沙鷹鈷分裂 5000 收 AWP 電擊 3000", "收 AWP 電擊 3000¤"),
        ("售 沙鷹鈷分裂 5000 售 AWP 電擊 3000", "售 沙鷹鈷分裂 5000¤"),
        ("WTS 100% fade glock 20", "WTS 100% fade glock 20¤"),
        ("WTS ak redline not souvenir 20", "WTS ak redline not souvenir 20¤"),
        ("WTS m4a1 two times 20", "WTS m4a1 two times 20¤"),
        ("WTS awp no scope 30", "WTS awp no scope 30¤"),
        ("WTS ak redline #661 30", "WTS ak redline #661 30¤"),
        ("WTS ak redline $20 awp asiimov $50", "WTS ak redline $20¤"),
        ("AUG Torque FT / SG 553 Integrale FN / Nova Djinn MW", "AUG Torque FT"),
        ("AK-47: Hydroponic FT - 48$ / Bloodsport FT - ??$", "AK-47 Hydroponic FT - 48$"),
        ("P90: Asiimov FT/MW ; Trigon MW ;", "P90 Asiimov FT/MW"),
        ("AK - Hydroponic/Fire Serpent ST/Neon Revolution ST", "AK Hydroponic"),
        ("Deagle Blaze 0.00x & Hypnotic 0.01x", "Deagle Blaze 0.00x"),
        ("m4a4 Asiimov/ m4a1 golden coil", "m4a4 Asiimov"),
        ("deagle mecha industries w/ ibuypower sticker", ""),
        ("M4A4 Howl FT za Karambit Fade", "Karambit Fade"),
        ("awp asiimov to match my ak redline", ""),
        ("scar20 cardiac for the autosniper haters", ""),
        ("ak redline / blue laminate", "ak redline"),  # one of the finishes
        ("WTS ak redline $20", "WTS ak redline $20¤"),
        ("WTS ak redline max $20", ""),  # a bound
        ("WTB ak redline $20", ""),  # what the buyer pays
        ("WTB under 50 ak redline under 60", ""),
        ("inv: [p250 asiimov] [ump-45 scorched] [famas djinn]", "inv: [p250 asiimov"),
        ("ak asiimov or m4a4 asiimov, ft only", "ak asiimov, ft only"),  # said of both
        ("p250 asiimov oder five seven monkey business, und unter 20$", "p250 asiimov, und under 20$"),
        ("karambit, looking for a talon", "for a talon"),
        ("wts karambit want butterfly slaughter", "butterfly slaughter"),
        ("wts ak vulcan for 20 keys", ""),  # a payment
        ("selling stickers for ak redline", ""),
        ("my kara for your bfly slaughter", "your bfly slaughter"),
        ("ak vulcan >>> awp asiimov", ">>> awp asiimov"),
        ("меняю хаул на драгон лор", "драгон лор"),  # finishes that imply their weapons
        ("хаул на драгон лор", "драгон лор"),
        ("do you have asiimov for awp", ""),
        ("akバルカン 譲 awpアジモフ 求", "awpアジモフ 求"),
        ("譲 ak バルカン 求 awp アジモフ", "求 awp アジモフ"),
        ("出ak火蛇久经 换蝴蝶刀", "蝴蝶刀"),
        ("ak vulcan ile awp asiimov takas", "awp asiimov"),
        ("verkaufe messer will handschuhe", "handschuhe"),
        ("got 2 redlines and a kitty p90 to swap, need famas roll cage", "famas roll cage"),
        ("have usp cyrex fn, want deagle conspiracy fn", "deagle conspiracy fn"),
        ("upgrade from gut knife night ft to huntsman knife fade fn", "huntsman knife fade fn"),
        ("my st ak vulcan bs in return for a plain awp graphite fn", "a plain awp graphite fn"),
        ("swapping sticker crown foil for an m4a4 x-ray ft", "an m4a4 x-ray ft"),
        ("my sawed off kraken for someones p2000 corticera mw", "someones p2000 corticera mw"),
        ("hydra gloves emerald -> driver gloves imperial plaid ft", "-> driver gloves imperial plaid ft"),
        ("giving 3 riptide cases for nova bloomstick ww", "nova bloomstick ww"),
        ("swap my vulcan mw for an ak head shot fn", "an ak head shot fn"),
        ("driver gloves king snake mw, giving 2 karambits", "driver gloves king snake mw"),
        ("want m4 asiimov for my ak redline set", ""),  # what it goes with
        ("my friend wants ak vulcan to match his m4 hyper beast", ""),
        ("do you have keys for the clutch case", ""),  # keys alone are no item that is given
        ("my friend plays with scar bloodsport, want the same", ""),
        ("kato 2014 stickers, paper only, no holo", ""),  # no list of names
        ("p2000 imperial dragon arıyorum mw olsun", ""),  # what is behind it is a detail
        ("bayonet doppler faz 1 veya 3 arıyorum, sıfır olsun (fn)", ""),  # a verb at the end of its clause
    ],
)
def test_the_price_that_is_asked_is_marked_in_the_offer_that_counts(text: str, counts: str) -> None:
    assert offer(text) == counts


def test_a_sentence_is_no_list_of_items() -> None:
    assert offered_items(parse_query("he wants the bloody darryl agent, the miami one i believe", [CS2])) == []


@pytest.mark.parametrize(
    "text",
    [
        "ak redline 5000",  # no post
        "售 AK-47 紅線 久經",
        "收 titan 2014",  # a year
        "售 M4A1-S 毀滅者 2000",  # part of a name
        "售 14 卡托",
        "WTS ak 661 case hardened",  # no end of an offer, and no more than three digits
        "WTS ak redline #661",
        "WTS ak redline 0.15",
        "WTS 20",
        "WTS 20 ak redline",
        "收藏 ak 20",
        "出廠 ak 20",
    ],
)
def test_other_numbers_are_left_as_they_are(text: str) -> None:
    assert offer(text) == ""


@pytest.mark.parametrize(
    ("text", "counts"),
    [
        ("swap my ak redline for an m4 asiimov", "an m4 asiimov"),
        ("Wymienię M4A4 Howl za Karambit Fade", "Karambit Fade"),
        ("обмен: м4а1с хот род на бабочку", "бабочку"),
        ("M4A4 Howl FT + dopłata za Karambit Fade FN", "Karambit Fade FN"),
        ("Looking for a Karambit | Doppler. Have M4A4 | Howl to trade", "Karambit | Doppler"),
        ("Karambit Fade FN looking for AWP Dragon Lore", "for AWP Dragon Lore"),
        ("WTB swap ak redline for awp asiimov 50", "awp asiimov 50"),
        ("swap my ak redline for 50 dollars", ""),
        ("looking for an awp", ""),
        ("ak redline for sale", ""),
    ],
)
def test_of_an_exchange_what_is_wanted_counts(text: str, counts: str) -> None:
    assert offer(text) == counts


@pytest.mark.parametrize(
    ("text", "counts"),
    [
        ("AK-47 Redline FT x2, AWP Asiimov BS x1", "AK-47 Redline FT x2"),
        ("cheap skins, ak neon rider ft, awp neo noir", "cheap skins, ak neon rider ft"),
        ("Driver Gloves King Snake MW + Nomad Knife Fade", "Driver Gloves King Snake MW"),
        ("ak redline, ft, 4x crown", ""),
        ("ak, awp asiimov", ""),
        ("wts ak redline, awp asiimov", "wts ak redline"),
        ("cases: fracture, prisma 2, revolution", "cases: fracture"),
        ("fracture, prisma 2, revolution cases", "fracture cases"),
        ("fracture; prisma 2 case; revolution", "fracture case"),
        ("кейсы: гремучий, киловатт, революция", "кейсы: гремучий"),
        ("fracture, prisma 2 cases", ""),
        ("case, fracture, prisma 2", ""),
        ("cases: fracture, gloves, prisma 2", ""),
        ("case fracture, prisma 2, ak", ""),
        ("knife doppler, p2, ft", ""),
    ],
)
def test_of_a_list_the_first_item_counts(text: str, counts: str) -> None:
    assert offer(text) == counts


@pytest.mark.parametrize(
    ("text", "counts"),
    [
        ("Order #88213 - 3 x FAMAS | Roll Cage (Factory New) - $24.17 - done", "FAMAS | Roll Cage (Factory New"),
        ("14\tAWP | Fever Dream (Minimal Wear)\tbought 11.20\tsold 13.05", "AWP | Fever Dream (Minimal Wear"),
        ("AK-47 | Neon Revolution, Covert Rifle, Exterior: Field-Tested", "AK-47 | Neon Revolution: Field-Tested"),
        (
            "StatTrak™ MP5-SD | Phosphor (Minimal Wear);under 9;tradable Aug 14",
            "StatTrak MP5-SD | Phosphor (Minimal Wear);under 9",
        ),
        ("m4a4 | howl float 0.2, is it here", "m4a4 | howl float 0.2"),
        ("Sticker | FURIA (Gold) | Rio 2022, how much", "Sticker | FURIA (Gold) | Rio 2022"),
        ("AK-47 | Redline (Field-Tested)", ""),
        ("AK-47 | Redline, not souvenir", ""),
        ("Flip Fade | Knife | AWP | Fade (Minimal Wear)", "Flip Fade | Knife"),  # another weapon
        ("redline | is it here", ""),
    ],
)
def test_of_a_pasted_market_name_the_name_counts_with_what_is_said_of_the_item(text: str, counts: str) -> None:
    assert offer(text) == counts


def test_a_vocabulary_without_words_of_trade_knows_no_posts() -> None:
    assert items_in("wts ak 5000", [], Vocabulary()) == []


def test_the_offer_is_read_once_the_text_as_it_stands_finds_nothing() -> None:
    strict = parse_query("售 AK-47 紅線 久經 5000", [CS2])
    (post,) = offered_items(strict)
    (parse,) = post.parses
    assert [quantity.typed for quantity in parse.other_amounts] == ["5000 ¤ASK"]
    assert [term.typed for term in parse.terms] == ["售", "AK 47", "紅線", "久經"]
    read = relaxations(strict, post)
    assert read.index(strict) < read.index(post)
    later = [term.typed for each in read[read.index(post) :] for term in each.parses[0].terms]
    assert "5000" not in later
    assert offered_items(parse_query(strict.text, [CS2, CS2])) == []
    assert offered_items(parse_query("ak redline", [CS2])) == []
    assert offered_items(parse_query("wts ak redline", [CS2])) == []
    assert offered_items(parse_query("ak redline, awp asiimov", [CS2]))
    assert offered_items(parse_query("cases: fracture, prisma 2, revolution", [CS2]))
    assert offered_items(parse_query("cases fracture, prisma 2", [CS2])) == []


@pytest.mark.parametrize(
    ("text", "first"),
    [
        ("1x Fracture Case, 1x Recoil Case", "1x Fracture Case"),
        ("ssg 08 dragonfire or awp asiimov", "ssg 08 dragonfire"),
        ("TROCO AK redline e AWP Neo-Noir", "TROCO AK redline"),
        ("glock or usp fade", ""),
        ("武器箱：裂空，棱彩2，变革", "武器箱：裂空"),
        ("кейсы фракчер, призма 2, хрома 3", "кейсы фракчер"),
        ("グローブケースとクラッチケース以外の箱", ""),  # not a list of what is wanted
        ("AK売ってAWPアシモフFT買いたい", "AWPアシモフFT買いたい"),
        ("나 ak 팔고 awp 아시모프 사고싶음", "awp 아시모프 사고싶음"),
        ("刚卖了p90，现在想收个二西莫夫大狙", "二西莫夫大狙"),
    ],
)
def test_the_first_of_several_things_counts(text: str, first: str) -> None:
    assert offer(text) == first


@pytest.mark.parametrize(
    ("text", "listed"),
    [
        ("ak asiimov or m4a4 howl, ft only", ["ak asiimov, ft only", "m4a4 howl, ft only"]),
        ("ak redline, awp asiimov under 50", ["ak redline under 50", "awp asiimov under 50"]),
        ("karambit fade or bayonet doppler ruby", ["karambit fade", "bayonet doppler ruby"]),
        ("awp asiimov or talon knife vanilla", ["awp asiimov", "talon knife vanilla"]),
        ("ak redline or knife ft", ["ak redline", "knife ft"]),
        ("ak redline or awp asiimov 50 max", ["ak redline 50 max", "awp asiimov 50 max"]),
        ("ak redline, awp asiimov $20-$50", ["ak redline $20-$50", "awp asiimov $20-$50"]),
        ("AK-47 Redline $20, AWP Asiimov $50", ["AK-47 Redline $20", "AWP Asiimov $50"]),
        ("ak redline or awp asiimov max 50 no st", ["ak redline max 50 no st", "awp asiimov max 50 no st"]),
        ("ak redline, awp asiimov, no stickers", ["ak redline, no stickers", "awp asiimov, no stickers"]),
        ("ak redline no st, awp asiimov", ["ak redline no st"]),
        ("need ak redline, need awp asiimov", ["need ak redline", "need awp asiimov"]),
        ("looking for ak vulcan, also looking for awp paw", ["looking for ak vulcan", "also looking for awp paw"]),
        ("neon rider mac10 or disco tech max 9", ["neon rider mac10 max 9", "disco tech mac10 max 9"]),
        ("neon rider mac10 or disco tech ft", ["neon rider mac10 ft", "disco tech ft mac10"]),
        ("usp orion glock fade max 100", ["usp orion max 100", "glock fade max 100"]),
        ("karambit doppler knife blue", []),
        ("awp dragon lore souvenir or factory new", []),
        (
            "cases: gamma 2, prisma 2, fever max 2",
            ["cases: gamma 2 max 2", "prisma 2 cases max 2", "fever cases max 2"],
        ),
        ("ak redline or awp asiimov ft", ["ak redline ft", "awp asiimov ft"]),
        ("ak redline, awp asiimov 0.01", ["ak redline", "awp asiimov 0.01"]),
        ("kukri vanilla, no paint just the blade", ["kukri vanilla"]),
        ("knives or gloves under 20", ["knives under 20", "gloves under 20"]),
        ("ak redline mw or awp asiimov ft", ["ak redline mw", "awp asiimov ft"]),
        ("ak redline or awp asiimov no stattrak", ["ak redline no stattrak", "awp asiimov no stattrak"]),
        ("souvenir awp, charm no, charms with gold yes", ["souvenir awp"]),
        ("tec9 fuel injector + clown wig sticker", ["tec9 fuel injector"]),
        ("ak wasteland rebel ww, offering usp cortex", ["ak wasteland rebel ww"]),
        ("gloves vice skeleton knife urban masked", ["gloves vice", "skeleton knife urban masked"]),
        ("P90: Asiimov FT/MW ; Trigon MW", ["P90 Asiimov FT/MW", "P90 Trigon MW"]),
        ("cases: fracture, prisma 2, revolution", ["cases: fracture", "prisma 2 cases", "revolution cases"]),
        ("SPORT GLOVES VICE ★CLASSIC KNIFE FADE", ["SPORT GLOVES VICE", "CLASSIC KNIFE FADE"]),
        ("usp orion ak vulcan mw", ["usp orion", "ak vulcan mw"]),
        ("usp orion ak", []),
        ("neon rider mac10 or disco tech", ["neon rider mac10", "disco tech mac10"]),
        ("hyper beast m4a1s, decimator", ["hyper beast m4a1s", "decimator m4a1s"]),
        ("asiimov, ak redline", ["asiimov", "ak redline"]),  # of no weapon before the one that is said
        ("dlore or ak fire serpent", ["dlore", "ak fire serpent"]),
        ("howl, ak vulcan mw, awp asiimov ft", ["howl", "ak vulcan mw", "awp asiimov ft"]),
        ("ak redline, no vulcan", []),
        ("that scout skin with the shark, blood in the water", []),
        ("Case Hardened or vanilla Flip knife", ["Case Hardened Flip knife", "vanilla Flip knife"]),
        ("AK-47 или Doppler", ["AK-47", "Doppler"]),
        ("일반 칼 1개 또는 일반 장갑 1켤레", ["일반 칼 1개", "일반 장갑 1켤레"]),
        ("ak redline or best offer", []),
        ("stockholm 2021 legends sticker capsule good or dead", []),
        ("orion usp ak vulcan", []),
        ("usp orion goes with ak vulcan", []),
        ("WTS ak redline $20 awp asiimov $50", ["WTS ak redline $20¤"]),
        ("my ak redline for an awp asiimov", ["an awp asiimov"]),
    ],
)
def test_each_item_of_a_list_has_what_is_said_of_all(text: str, listed: list[str]) -> None:
    assert items(text) == listed
