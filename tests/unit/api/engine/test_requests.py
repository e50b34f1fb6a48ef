"""Requests of searches: alone or several in one, with what is read of their answers."""

import orjson

from api.engine.requests import MAX_CACHED_BYTES, multi_search, multi_search_params, search_params

LARGE = b"x" * (MAX_CACHED_BYTES + 1)


def test_a_large_body_takes_no_place_in_the_engines_cache() -> None:
    assert search_params(b"{}", [])["request_cache"] == "true"
    assert search_params(LARGE, [])["request_cache"] == "false"
    lines = multi_search([(["gear-730"], b"{}"), (["gear-730", "gear-570"], LARGE)]).splitlines()
    headers = [orjson.loads(line) for line in lines[::2]]
    assert [header["request_cache"] for header in headers] == [True, False]
    assert [header["index"] for header in headers] == [["gear-730"], ["gear-730", "gear-570"]]
    assert lines[1::2] == [b"{}", LARGE]


def test_no_partial_answer_is_allowed() -> None:
    header = orjson.loads(multi_search([(["gear-730"], b"{}")]).splitlines()[0])
    assert header["allow_partial_search_results"] is False


def test_an_answer_that_is_limited_says_what_every_caller_reads() -> None:
    assert "filter_path" not in search_params(b"{}", [])
    assert multi_search_params([]) == {}
    alone = search_params(b"{}", ["hits.hits.sort", "-aggregations.names"])["filter_path"].split(",")
    assert {"timed_out", "hits.total", "hits.hits._index", "hits.hits._source", "hits.hits.sort"} <= set(alone)
    together = multi_search_params(["hits.hits.sort", "-aggregations.names"])["filter_path"].split(",")
    assert {"responses.status", "responses.error", "responses.hits.hits._index"} <= set(together)
    assert together[-2:] == ["responses.hits.hits.sort", "-responses.aggregations.names"]
