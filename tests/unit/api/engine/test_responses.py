"""Answers of the engine: decoded, complete or refused, and their items byte for byte."""

from typing import Any

import orjson
import pytest

from api.engine import responses
from api.engine.responses import BadResponseError

HIT = b'{"_id": "1", "_source": {"id":1, "price":210, "bound":false}, "sort": [1]}'
SHARDS = b'"_shards": {"total": 1, "failed": 0}'
RESPONSE = b'{%b, "hits": {"total": {"value": 7}, "hits": [%b]}}' % (SHARDS, HIT)


def read_search(content: bytes, fewest: int = 1) -> responses.EngineResponse:
    return responses.all_shards_of(responses.decoded(responses.LISTINGS, content), fewest=fewest)


def test_items_are_given_as_they_were_loaded() -> None:
    response = read_search(RESPONSE)
    assert responses.total_of(response) == 7
    (hit,) = responses.hits_of(response)
    assert (hit["_source"].id, hit["_source"].price) == (1, 210)
    hit["item"] = b'{"id":1, "price":2.10}'
    assert orjson.dumps([responses.item_of(hit)]) == b'[{"id":1, "price":2.10}]'
    assert responses.hits_of({"hits": {}}) == responses.hits_of({}) == [], (
        "the engine leaves keys out where it has none"
    )


def test_a_multi_search_has_an_answer_for_each_body() -> None:
    both = responses.read_multi_search(b'{"responses": [%b, %b]}' % (RESPONSE, RESPONSE))
    assert [responses.total_of(response) for response in both] == [7, 7]
    assert responses.read_multi_search(b"{}") == []


@pytest.mark.parametrize("read", [read_search, responses.read_multi_search, responses.read_json])
@pytest.mark.parametrize("content", [b"<html>", b"[1]", b"", b"\xff"])
def test_what_is_no_answer_is_an_error_that_shows_its_beginning(read: Any, content: bytes) -> None:
    with pytest.raises(BadResponseError) as refusal:
        read(content)
    assert refusal.value.facts == {"response": str(content, errors="replace")}


def test_any_other_answer_is_read_as_json() -> None:
    assert responses.read_json(b'{"a": [1]}') == {"a": [1]}


@pytest.mark.parametrize(
    "fault",
    [{"timed_out": True}, {"_shards": {"total": 2, "failed": 1}}, {"_shards": {"total": 0}}, {"_shards": {}}],
)
def test_a_partial_answer_counts_as_none(fault: Any) -> None:
    response: Any = {"_shards": {"total": 1, "failed": 0}, **fault}
    with pytest.raises(BadResponseError, match="only a part"):
        responses.all_shards_of(response)


def test_indices_that_may_be_missing_may_have_no_shard() -> None:
    none = b'{"_shards": {"total": 0, "failed": 0}, "hits": {"hits": []}}'
    assert responses.hits_of(read_search(none, fewest=0)) == []
    for partial in (b"{}", b'{"_shards": {"total": 2, "failed": 1}}'):
        with pytest.raises(BadResponseError, match="only a part"):
            read_search(partial, fewest=0)
