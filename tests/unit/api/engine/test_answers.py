"""Answers of the engine: decoded, complete or refused, and their items byte for byte."""

from typing import Any

import orjson
import pytest

from api.engine import answers
from api.engine.answers import BadAnswerError

HIT = b'{"_id": "1", "_source": {"id":1, "price":210, "bound":false}, "sort": [1]}'
SHARDS = b'"_shards": {"total": 1, "failed": 0}'
ANSWER = b'{%b, "hits": {"total": {"value": 7}, "hits": [%b]}}' % (SHARDS, HIT)


def test_items_are_given_as_they_were_loaded() -> None:
    answer = answers.read_complete_answer(ANSWER)
    assert answers.total_of(answer) == 7
    (hit,) = answers.hits_of(answer)
    assert (hit["_source"].id, hit["_source"].price) == (1, 210)
    hit["item"] = b'{"id":1, "price":2.10}'
    assert orjson.dumps([answers.item_of(hit)]) == b'[{"id":1, "price":2.10}]'
    assert answers.hits_of({"hits": {}}) == [], "the engine leaves the key out where there are none"


def test_a_multi_search_has_an_answer_for_each_body() -> None:
    both = answers.read_multi_search(b'{"responses": [%b, %b]}' % (ANSWER, ANSWER))
    assert [answers.total_of(answer) for answer in both] == [7, 7]
    assert answers.read_multi_search(b"{}") == []


@pytest.mark.parametrize("read", [answers.read_answer, answers.read_multi_search, answers.read_json])
@pytest.mark.parametrize("content", [b"<html>", b"[1]", b"", b"\xff"])
def test_what_is_no_answer_is_an_error_that_shows_its_beginning(read: Any, content: bytes) -> None:
    with pytest.raises(BadAnswerError) as refusal:
        read(content)
    assert refusal.value.facts == {"answer": str(content, errors="replace")}


def test_any_other_answer_is_read_as_json() -> None:
    assert answers.read_json(b'{"a": [1]}') == {"a": [1]}


@pytest.mark.parametrize(
    "fault",
    [{"timed_out": True}, {"_shards": {"total": 2, "failed": 1}}, {"_shards": {"total": 0}}, {"_shards": {}}],
)
def test_a_partial_answer_counts_as_none(fault: Any) -> None:
    answer: Any = {"_shards": {"total": 1, "failed": 0}, **fault}
    with pytest.raises(BadAnswerError, match="only a part"):
        answers.all_shards_of(answer)
