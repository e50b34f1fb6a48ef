"""What is not wanted, what is either-or, and the order asked for, in the ways in which buyers write them."""

import pytest

from api.search.parsing.parse import PlatformParse, Relaxation, may_have_float, parse_query
from api.search.query.text import text_clauses
from api.search.relaxation.relaxations import corrections
from mappings.vocabulary.entries import values_of
from mappings.vocabulary.vocabulary import Vocabulary
from tests.support.platforms import shared_platforms
from tests.support.search.relaxations import relaxations

CS2 = next(iter(shared_platforms()))


def parsed(text: str) -> PlatformParse:
    (only,) = parse_query(text, [CS2]).parses
    return only


def wanted(text: str) -> list[str]:
    return ["|".join(option.typed for option in term.options) for term in parsed(text).terms]


def excluded(text: str) -> list[str]:
    return [term.typed for term in parsed(text).excluded]


@pytest.mark.parametrize(
    ("text", "terms"),
    [
        ("ak redline and asiimov", ["ak", "redline|asiimov"]),
        ("p90 asiimov, death by kitty and emerald dragon", ["p90", "asiimov|death by kitty|emerald dragon"]),
        ("ak红线和二西莫夫", ["ak", "红线|二西莫夫"]),
        ("ak redline and crown foil", ["ak", "redline", "and", "crown", "foil"]),  # one is a sticker's
        ("ak redline and", ["ak", "redline", "and"]),
        ("doppler phase 2 or 4", ["doppler", "phase 2|phase 4"]),
        ("doppler phase 2/4", ["doppler", "phase 2|phase 4"]),
        ("awp & deagle printstream", ["awp|deagle", "printstream"]),
        ("doppler phase 2 or 9", ["doppler", "phase 2", "or", "9"]),
        ("gamma 2 or 3", ["gamma", "2", "or", "3"]),
        ("awp and, asiimov", ["awp", "and", "asiimov"]),
    ],
)
def test_of_two_finishes_side_by_side_either_is_wanted(text: str, terms: list[str]) -> None:
    assert wanted(text) == terms


def test_a_mark_before_a_word_of_talk_begins_a_command() -> None:
    assert excluded("!price awp asiimov") == []
    assert excluded("!awp asiimov") == ["awp"]
    assert excluded("!knife nomad knife fade") == []
    assert excluded("!knife") == ["knife"]
    assert [term.typed for term in parsed("/alert awp").terms if term.is_filler] == ["alert"]


@pytest.mark.parametrize(
    ("text", "terms", "not_wanted"),
    [
        ("ak redline -stattrak", ["ak", "redline"], ["stattrak"]),
        ("-souvenir awp", ["awp"], ["souvenir"]),
        ("asiimov (-awp)", ["asiimov"], ["awp"]),
        ("ak !st", ["ak"], ["st"]),
        ("glock -18 fade", ["glock 18", "fade"], []),  # a minus within a name
        ("butterfly - fade", ["butterfly", "fade"], []),
        ("usp-s", ["usp s"], []),
        ("ak not stattrak ft", ["ak", "ft"], ["stattrak"]),
        ("ak no stattrak or souvenir", ["ak"], ["stattrak", "souvenir"]),
        ("ak without stattrak and souvenir", ["ak"], ["stattrak", "souvenir"]),
        ("ak not stattrak and ft", ["ak", "and", "ft"], ["stattrak"]),
        ("ak not stattrak and redline", ["ak", "and", "redline"], ["stattrak"]),
        ("ak no stattrak and no souvenir", ["ak"], ["stattrak", "souvenir"]),
        ("ak no bs/ww fn", ["ak", "fn"], ["no bs ww"]),
        ("famas no ww bs", ["famas"], ["no ww bs"]),
        ("ak no bs fn", ["ak", "fn"], ["bs"]),
        ("ak not a bs", ["ak"], ["bs"]),
        ("w/o st m4", ["m4"], ["st"]),
        ("knife except crimson web fn", ["knife", "fn"], ["crimson web"]),
        ("knife anything but karambit", ["knife"], ["karambit"]),
        ("awp not asiimov or redline under 50", ["awp"], ["asiimov", "redline"]),
        ("knife except navaja and gut", ["knife"], ["navaja", "gut"]),  # `gut` is a filler in German
        ("gloves except arid and nocts", ["gloves"], ["arid", "nocts"]),
        ("перчатки кроме арид и ноктс", ["перчатки"], ["арид", "ноктс"]),
        ("gloves except arid and ones", ["gloves", "and", "ones"], ["arid"]),
        ("м4а1 без лічильника статтрек", ["м4а1"], ["лічильника"]),  # both are StatTrak
        ("ак бс не предлагать", ["ак"], ["бс"]),
        ('usp -"kill confirmed" -cortex', ["usp"], ["kill confirmed", "cortex"]),
        ("gloves w/o drivers n bloodhounds", ["gloves"], ["drivers", "bloodhounds"]),
        ("faca fade, gut não", ["faca", "fade"], ["gut"]),
        ("awp ww ou bs (ft nao!)", ["awp", "ww|bs"], ["ft"]),
        ("navaja fade não", ["navaja", "fade", "não"], []),
        ("m4a1s，暗金的没必要，不要", ["m4a1s"], ["暗金"]),  # the same twice
        ("m4a1s，战痕不要，崭新", ["m4a1s", "崭新"], ["战痕"]),
        ("ней наклейка", ["ней", "наклейка"], []),  # no ending of `не`
        ("ак бс и вв не предлагать", ["ак"], ["бс", "вв"]),
        ("бс и вв не предлагать", [], ["бс", "вв"]),
        ("ак и вв не предлагать", ["ак", "и"], ["вв"]),
        ("ак редлайн вв не предлагать", ["ак", "редлайн"], ["вв"]),
        ("칼 거트나이프는 제외", ["칼"], ["거트나이프"]),  # a particle between them
        ("机车手套 酷清新跟多边形除外", ["机车手套"], ["酷清新", "多边形"]),
        ("m4a4 二西莫夫和黑魅除外", ["m4a4"], ["黑魅", "二西莫夫"]),
        ("m4a4 二西莫夫和暗金除外", ["m4a4", "二西莫夫", "和"], ["暗金"]),
        ("normal ak", ["ak"], ["normal"]),
        ("ak nonstattrak", ["ak"], ["nonstattrak"]),
        ("nova nomad", ["nova", "nomad"], []),
        ("ak redline no", ["ak", "redline", "no"], []),  # may go on as `noir`
        ("ak redline statrak nao", ["ak", "redline"], ["statrak"]),
        ("ak not cheapest", ["ak"], []),
        ("ak no bs or", ["ak", "or"], ["bs"]),
        ("ak no bs or cheapest", ["ak"], ["bs"]),
        ("Sticker | No Pats", ["Sticker", "No", "Pats"], []),
        ("Two Is Not Enough", ["Two", "Is", "Not", "Enough"], []),
        ("no paint karambit", ["no paint", "karambit"], []),
        ("gloves no cool mint", ["gloves"], ["cool mint"]),
        ("knife except the good gut", ["knife"], ["gut"]),
        ("без красивых ак", [], ["ак"]),
        ("no stattrak and nice ak", ["and", "nice", "ak"], ["stattrak"]),
        ("pas très propre ak", ["pas", "très", "propre", "ak"], []),
        ("no doppler/gamma doppler karambit", ["karambit"], ["doppler", "gamma doppler"]),
        ("gut p2 or p4, p1 and p3 no thanks", ["gut", "p2|p4"], ["p1", "p3"]),
    ],
)
def test_what_is_not_wanted_is_parted_from_what_is(text: str, terms: list[str], not_wanted: list[str]) -> None:
    assert (wanted(text), excluded(text)) == (terms, not_wanted)


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("M4A1-S ナイトテラー以外", ["night terror"]),
        ("m4 sin terror nocturno", ["night terror"]),
        ("m4 without slaughter", []),  # in English already
        ("m4 without хзщшц", []),
    ],
)
def test_what_is_not_wanted_is_not_wanted_in_english_either(text: str, names: list[str]) -> None:
    assert [meaning.words for term in parsed(text).excluded for meaning in term.meanings] == names


@pytest.mark.parametrize(
    ("text", "terms"),
    [
        ("glock/usp fade", ["glock|usp", "fade"]),
        ("glock and usp fade", ["glock|usp", "fade"]),
        ("mw n ft ak", ["mw|ft", "ak"]),
        ("咆哮或者龙狙", ["咆哮|龙狙"]),  # a name, and one with its weapon
        ("redline awp, ak", ["redline", "awp", "ak"]),
        ("bayonet or flip slaughter", ["bayonet|flip", "slaughter"]),
        ("hydra or bloodhound gloves ft", ["hydra|bloodhound gloves", "ft"]),  # Hydra Gloves
        ("survival or huntsman knife", ["survival|huntsman knife"]),
        ("fade or huntsman knife", ["fade", "or", "huntsman knife"]),
        ("karambit fade or crimson web or doppler", ["karambit", "fade|crimson web|doppler"]),
        ("crimson web / fade", ["crimson web|fade"]),
        ("ak or fade", ["ak", "or", "fade"]),
        ("or ak", ["or", "ak"]),
        ("ak or", ["ak", "or"]),
        ("/".join("abcdefghijklm"), ["a", "b|c|d|e|f|g|h|i|j|k|l", "m"]),
        ("1/2", ["1", "2"]),
        ("ak not st/cheapest", ["ak"]),
        ("ak not st or cheapest fn", ["ak", "fn"]),
        ("redline ww fn bs", ["redline", "ww|fn|bs"]),
        ("redline ft/mw", ["redline", "ft|mw"]),
        ("karambit doppler/gamma", ["karambit", "doppler|gamma"]),
        ("ak/47 redline", ["ak 47", "redline"]),  # no two names
        ("ak + awp asiimov", ["ak|awp", "asiimov"]),
        ("ak+awp + m4a1-s asiimov", ["ak|awp|m4a1 s", "asiimov"]),
        ("ak redline + crown foil", ["ak", "redline", "crown", "foil"]),
    ],
)
def test_either_or_is_of_one_kind(text: str, terms: list[str]) -> None:
    assert wanted(text) == terms


@pytest.mark.parametrize(
    ("text", "counts", "fillers"),
    [
        ("10x fracture case", [10, 0, 0], ["10x"]),
        ("fracture x2", [0, 2], ["x2"]),
        ("2 x fracture", [2, 0, 0], ["2", "x"]),
        ("fracture x 2", [0, 0, 2], ["x", "2"]),
        ("fracture 2", [0, 0], []),
        ("x ray", [0, 0], []),
        ("zeus x27", [0], []),
    ],
)
def test_how_many_says_nothing_of_an_item(text: str, counts: list[int], fillers: list[str]) -> None:
    terms = parsed(text).terms
    assert [term.count for term in terms] == counts
    assert [term.typed for term in terms if term.is_filler] == fillers


def test_a_number_of_stickers_may_be_a_word_before_or_behind_what_carries_them() -> None:
    for text in ("ak with four crown foils", "ak贴了四张皇冠", "ak四贴皇冠"):
        (parse,) = parse_query(text, [CS2]).parses
        assert max(term.count for term in parse.terms) == 4, text
    (parse,) = parse_query("ak with twelve crown foils", [CS2]).parses
    assert max(term.count for term in parse.terms) == 0


def test_a_number_in_words_before_a_measure_says_how_many() -> None:
    (parse,) = parse_query("狂牙大行动武器箱五个", [CS2]).parses
    assert [(term.typed, term.is_filler) for term in parse.terms[1:]] == [("五", True), ("个", True)]


def test_what_stands_before_is_on_the_item_unless_it_is_a_value() -> None:
    for text in ("クラウンフォイル付き", "크라운포일 붙은거"):
        (parse,) = parse_query(text, [CS2]).parses
        assert parse.terms[-1].is_attached, text
    (parse,) = parse_query("m4a1sナイトメア スタットトラック付き", [CS2]).parses
    assert not any(term.is_attached for term in parse.terms)
    (parse,) = parse_query("붙은 ak", [CS2]).parses
    assert not any(term.is_attached for term in parse.terms)


def test_a_word_behind_what_is_not_wanted_may_say_so_again() -> None:
    (parse,) = parse_query("沙鹰除了印花集以外", [CS2]).parses
    assert [term.typed for term in parse.terms] == ["沙鹰"]
    assert [term.typed for term in parse.excluded] == ["印花集"]


def test_a_lone_type_that_is_a_name_too_is_the_type_under_an_order() -> None:
    for text, fields in (("便宜的探员", [{"type"}]), ("便宜的mp5探员", [{"weapon"}, {"type"}])):
        (parse,) = parse_query(text, [CS2]).parses
        assert [set(term.fields) for term in parse.terms if term.meanings] == fields
    (parse,) = parse_query("便宜的探员", [CS2]).parses
    assert [len(term.meanings) for term in parse.terms if term.meanings] == [1]


def test_something_may_be_on_the_item() -> None:
    assert [term.is_attached for term in parsed("ak with stickers").terms] == [False, True]
    assert {"exists": {"field": "stickers"}} in text_clauses(parse_query("stickered ak", [CS2]))["filter"]
    assert parsed("no stickers ak").excluded[0].is_attached


@pytest.mark.parametrize(
    ("text", "field"), [("sticker under 0.5", "price"), ("ak under 0.5", "float"), ("sticker ak under 0.5", "float")]
)
def test_a_float_is_of_what_has_floats(text: str, field: str) -> None:
    assert [quantity.field for quantity in parsed(text).quantities] == [field]


def test_each_of_several_weapons_narrows() -> None:
    (weapons, _) = parsed("bayonet or flip slaughter").terms
    assert [option.narrows for option in weapons.options] == [True, True]


@pytest.mark.parametrize(
    ("text", "sort"),
    [
        ("cheapest knife", "price_asc"),
        ("knife price low to high", "price_asc"),
        ("most expensive ak", "price_desc"),
        ("not too expensive ak", "price_asc"),
        ("lowest float ak", "float_asc"),
        ("ak worst float", "float_desc"),
        ("lowest ak", "price_asc"),
        ("lowest ak 0.15-0.2", "float_asc"),
        ("newest stickers", "newest"),
        ("cheapest lowest float ak", "price_asc"),
        ("ak redline", ""),
    ],
)
def test_order_words_become_a_sort(text: str, sort: str) -> None:
    query = parse_query(text, [CS2])
    assert query.sort == sort
    assert [term.typed for term in query.parses[0].terms if term.typed not in ("knife", "ak", "stickers")] in (
        [],
        ["redline"],
    )


@pytest.mark.parametrize(("text", "narrows"), [("knife", False), ("cheapest knife", True), ("knife -st", True)])
def test_a_lone_kind_narrows_where_an_order_or_an_exclusion_is_asked_for(text: str, narrows: bool) -> None:
    assert parsed(text).terms[0].narrows is narrows
    assert parse_query(text, [CS2], has_order=True).parses[0].terms[0].narrows


@pytest.mark.parametrize(
    ("text", "quantities"),
    [
        ("ak nothing over 50", [("price", False)]),
        ("ak not seed 661", [("seed", True)]),
        ("ak no, seed 661", [("seed", False)]),
    ],
)
def test_a_quantity_may_be_what_is_not_wanted(text: str, quantities: list[tuple[str, bool]]) -> None:
    assert [(quantity.field, quantity.is_excluded) for quantity in parsed(text).quantities] == quantities


@pytest.mark.parametrize(
    ("text", "types", "words"),
    [
        ("no capsule keys", set(), "capsule"),
        ("keys, no capsule", {"Container"}, "capsule"),
        ("chroma key, not the case", {"Container"}, "case"),
    ],
)
def test_what_opens_a_thing_that_is_not_wanted_is_not_wanted(text: str, types: set[str], words: str) -> None:
    ((meaning,),) = (term.meanings for term in parsed(text).excluded)
    assert (values_of([meaning], "type"), meaning.words) == (types, words)


def test_what_is_not_wanted_is_demanded_of_everything_but_the_name_itself() -> None:
    clauses = text_clauses(parse_query("ak not seed 661 not st not fire serpent -case", [CS2]))["filter"]
    name_clause = {"term": {"name.letters": "ak not seed 661 not st not fire serpent -case"}}
    seed, quality, finish, case = [clause["bool"]["should"] for clause in clauses[1:]]
    assert all(each[1] == name_clause for each in (seed, quality, finish, case))
    assert seed[0] == {"bool": {"must_not": [{"terms": {"seed": ["661"]}}]}}
    assert quality[0]["bool"]["must_not"] == [
        {"terms": {"quality.folded": ["StatTrak™", "★ StatTrak™"]}},
        {"match": {"text": {"query": "stattrak", "operator": "and"}}},
    ]
    assert [len(each["bool"]["filter"]) for each in finish[0]["bool"]["must_not"]] == [2]
    assert [set(each) for each in case[0]["bool"]["must_not"]] == [{"bool"}]


def test_stickers_on_the_item_are_asked_for_by_their_joined_words_and_their_number() -> None:
    first = parse_query("ak 4x crown foil", [CS2])
    relaxed = [each for each in relaxations(first) if each.relaxation is Relaxation.STICKERS]
    named = {"match": {"stickers.typed": {"query": "crownfoil", "operator": "and"}}}
    at_least_four = {"range": {"attachmentCount": {"gte": 4}}}
    assert {"bool": {"filter": [named, at_least_four]}} in text_clauses(relaxed[0])["filter"]
    with_stickers = [each for each in relaxations(parse_query("ak with navi", [CS2])) if "stickers" in each.relaxation]
    words = text_clauses(with_stickers[0])["filter"][-1]["bool"]["should"]
    assert [clause["match"]["stickers.typed"]["query"] for clause in words] == ["navi", "natusvincere"]


def test_a_word_may_be_of_the_set() -> None:
    (relaxed,) = [each for each in relaxations(parse_query("cache ", [CS2])) if each.relaxation is Relaxation.SETS]
    assert text_clauses(relaxed)["must"][0]["bool"]["should"][1] == {
        "constant_score": {"filter": {"match": {"set.typed": "cache"}}, "boost": 1}
    }


def test_of_three_letters_two_may_be_swapped_and_of_more_two_beside_an_edit() -> None:
    corrected = corrections(parse_query("crimson wbe", [CS2]), {"crimson"})
    clauses = str([text_clauses(each) for each in corrected])
    assert "{'match': {'text': 'web'}}" in clauses
    swapped = str(text_clauses(corrections(parse_query("golden cioll", [CS2]), {"golden"})[-1]))
    assert all(f"'query': '{each}'" in swapped for each in ("icoll", "coill", "cilol", "cioll"))


def test_a_filler_may_have_several_words_and_is_no_inflection_of_another_word() -> None:
    assert [term.typed for term in parsed("дракон лор будь ласка").terms if term.is_filler] == ["будь", "ласка"]
    assert not parsed("стим").terms[0].meanings  # not `ст` with an ending


@pytest.mark.parametrize(
    ("text", "may"),
    [
        ("ak float", True),
        ("sticker", False),
        ("sticker ak", True),
        ("no sticker", True),
        ("no nice sticker", True),
        ("sticker none", True),
        ("none", True),
        ("no key sticker", False),
    ],
)
def test_a_float_is_of_what_is_wanted(text: str, may: bool) -> None:
    vocabulary = Vocabulary(
        fields={"type": {"Sticker": (), "Key": ()}, "weapon": {"AK-47": ("ak",)}},
        exclusions=("no",),
        exclusions_after=("none",),
        without_float=frozenset({"Sticker", "Key"}),
    )
    assert may_have_float(text.split(), vocabulary) is may


@pytest.mark.parametrize(
    ("text", "not_wanted"),
    [
        ("ak ni stattrak ni souvenir", ["stattrak", "souvenir"]),
        ("ak sin pegatinas ni stattrak", ["pegatinas", "stattrak"]),
        ("ak senza adesivi né stattrak", ["adesivi", "stattrak"]),
        ("ak ne stattrak ne souvenir", ["stattrak", "souvenir"]),
        ("suche ne ak oder ne m4", []),
        ("ak not stickered", ["stickered"]),
        ("ak souvenir no, ft", ["souvenir"]),
        ("M4A4 BS WW 제외", ["WW", "BS"]),
        ("AK不要战痕破损", ["战痕", "破损"]),
        ("no phase 1 or 3 karambit", ["phase 1", "phase 3"]),
        ("p90 but not the asiimove", ["asiimove", "asiimove"]),  # as it stands, and as what it is but for a typo
        ("any knife but a gut or navaja", ["gut", "navaja"]),
        ("knife that isnt a gut, a navaja or daggers", ["gut", "navaja", "daggers"]),
        ("ak but a gut", []),
    ],
)
def test_what_goes_on_with_an_exclusion_is_not_wanted(text: str, not_wanted: list[str]) -> None:
    assert excluded(text) == not_wanted


def test_an_order_that_is_not_wanted_is_none() -> None:
    assert (parsed("AK 高い順じゃなくて").sort, parsed("AK 高い順じゃなくて安い順").sort) == ("", "price_asc")
    assert (parsed("cheapest no, knife no").sort, excluded("cheapest no, knife no")) == ("", ["knife"])
