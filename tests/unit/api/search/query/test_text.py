"""The clauses of a text's parse."""

from api.engine.clauses import price_range
from api.search.parsing.parse import parse_query
from api.search.query.text import text_clauses
from tests.support.platforms import shared_platforms

CS2 = next(iter(shared_platforms()))


def test_a_word_that_stands_for_a_name_is_not_wanted_itself_either() -> None:
    *_, clause = text_clauses(parse_query("keys not esports", [CS2]))["filter"]
    typed, *others = clause["bool"]["should"][0]["bool"]["must_not"]
    assert typed["match"]["text"].split()[0] == "esports"
    assert others
    assert typed not in others


def test_of_two_names_the_one_with_the_star_that_ends_the_text_comes_first() -> None:
    starred, plain = (text_clauses(parse_query(f"Patch | Metal Guardian{end}", [CS2])) for end in (" ★", ""))
    star = {"constant_score": {"filter": {"match": {"name.marks": "★"}}, "boost": 1}}
    assert star in starred["should"]
    assert star not in plain["should"]


def test_a_finish_alone_comes_before_those_with_longer_names() -> None:
    finish, other = (text_clauses(parse_query(text, [CS2])) for text in ("doppler prices", "ropz"))
    named = {"constant_score": {"filter": {"terms": {"finish.folded": ["doppler"]}}, "boost": 1}}
    assert named in finish["should"]
    assert not any("finish.folded" in str(each) for each in other["should"])


def test_what_has_no_price_is_not_below_the_one_that_is_not_wanted() -> None:
    *_, over, wear = text_clauses(parse_query("ak over 80 no, no float above 0.1", [CS2]))["filter"]
    price, worn = (clause["bool"]["should"][0]["bool"] for clause in (over, wear))
    assert (price["filter"], [*price["must_not"][0]]) == ([price_range(None, None, 2)], ["range"])
    assert worn["filter"] == [{"range": {"float": {"gte": 0}}}]
