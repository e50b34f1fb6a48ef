"""The engine's means: what a service sent, and what clients got, in; questions and a verdict on a death out."""

import json

import pytest

from bench.deaths import Answered, summary
from bench.means import AS_IT_IS, ON_ONE_NODE, ON_SEVERAL_NODES, QUESTIONS, VARIANTS, index_of, questions_of
from bench.questions import distinct, found_by, last_search, part, to_index

HEAD = b'{"index":["gear-730"],"request_cache":true}\n'
PAGE, NUMBER = HEAD + b'{"size":20}\n', HEAD + b'{"size":0}\n'


def sent(content: bytes) -> bytes:
    return b"POST /_msearch HTTP/1.1\r\nContent-Length: %d\r\n\r\n%b" % (len(content), content)


def test_of_several_searches_the_last_is_the_answer_and_nothing_after_it() -> None:
    """A text is tried in parts first; what the service asks beside a search may follow it."""
    found = last_search(sent(NUMBER) + sent(PAGE + NUMBER) + b"GET /_cluster/health HTTP/1.1\r\n\r\n")
    assert found == PAGE + NUMBER
    assert (part(found, 0), part(found, 1)) == (PAGE, NUMBER)
    with pytest.raises(RuntimeError, match="did not ask"):
        last_search(b"GET / HTTP/1.1\r\n\r\n")


def test_a_question_goes_to_the_index_that_is_measured() -> None:
    assert json.loads(to_index(PAGE, "gear-730", "other").splitlines()[0])["index"] == ["other"]


def test_questions_are_of_the_workloads_that_they_name() -> None:
    held = questions_of({"cold": [PAGE + NUMBER], "text": [b"t"], "facets": [b"f"]})
    assert list(held) == list(QUESTIONS)
    assert held == {"page": [PAGE], "page again": [PAGE], "number": [NUMBER], "text": [b"t"], "facets": [b"f"]}


def test_bodies_are_distinct_or_refused() -> None:
    bodies = distinct("hot", 50)
    assert len(set(bodies)) == 50
    with pytest.raises(RuntimeError, match="take fewer"):
        distinct("hot", 1000)


def answer(**more: object) -> bytes:
    hits = {"total": {"value": 2}, "hits": [{"_id": "7"}, {"_id": "8"}]}
    one = {"timed_out": False, "_shards": {"failed": 0}, "hits": hits, **more}
    return json.dumps({"responses": [one]}).encode()


@pytest.mark.parametrize("fault", [{"error": {"type": "any"}}, {"_shards": {"failed": 1}}, {"timed_out": True}])
def test_an_answer_that_is_not_whole_is_no_measurement(fault: dict[str, object]) -> None:
    assert found_by(answer()) == [(2, ["7", "8"])]
    with pytest.raises(RuntimeError, match="not answered"):
        found_by(answer(**fault))


def test_each_variant_has_an_index_of_its_own_and_a_source_that_is_made_before_it() -> None:
    assert len({index_of(1, name) for name in VARIANTS}) == len(VARIANTS)
    for names in (ON_ONE_NODE, ON_SEVERAL_NODES):
        assert names[0] == AS_IT_IS
        for name in names:
            source = VARIANTS[name].of
            assert source is None or source in names[: names.index(name)]


def test_a_death_is_told_by_what_was_not_answered() -> None:
    died, green = 100.0, 160.0
    answers = [
        Answered(b"{}", asked=98.0, took=0.010, status=200),
        Answered(b"{}", asked=99.9, took=2.6, status=503),
        Answered(b"{}", asked=101.0, took=0.5, status=0),
        Answered(b"{}", asked=170.0, took=0.030, status=200),
    ]
    assert summary(answers, died, green) == {
        "answers": 4,
        "medians": {"before": 10.0, "without": 1550.0, "after": 30.0},
        "slowest": 2.6,
        "failed": {"503": 1, "0": 1},
        "first_failed": -0.1,
        "last_failed": 2.5,
    }
