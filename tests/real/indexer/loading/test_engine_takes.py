"""Whatever the validation accepts, the engine accepts too: no bulk request fails for an item."""

import string
from collections.abc import Iterator
from datetime import datetime
from typing import Any

import orjson
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from opensearchpy import OpenSearch

from indexer.documents.checked_item import item_from_json
from indexer.documents.digest import encode_document
from indexer.documents.document import index_document
from indexer.documents.refusal import ItemRefusedError
from mappings.connection import SearchSettings, connect
from mappings.definition import read_definition
from mappings.fields import DETAILS
from mappings.item import MAX_INTEGER, MIN_INTEGER
from mappings.platforms import Platform, read_platforms

ODD = "\u0001\t\n\r\x7f\x85\xa0\u200b\u202e\u2028\ufeff\ufffd\uffff\U0001f600\U0010fffe★™ \u0301ßİǅ\ufdfa龍"
TEXTS = st.text(st.characters(codec="utf-8") | st.sampled_from(ODD), min_size=1, max_size=40) | st.sampled_from(
    ["★", "™ ", "a" * 256, "\ufdfa" * 256, "龍" * 256, " ".join(string.ascii_letters), "\u0301" * 9, "-" * 256]
)
INTEGERS = st.integers(MIN_INTEGER, MAX_INTEGER)
SHARES = st.floats(0, 1) | st.sampled_from([5e-324, -0.0, 1])


def _or_none(values: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return st.none() | values


MOMENTS = st.one_of(
    st.datetimes(datetime(1970, 1, 2), datetime(2261, 12, 31)).map(lambda moment: moment.isoformat() + "Z"),  # noqa: DTZ001  # Z is added
    st.from_regex(r"2\d\d\d-0[1-9]-[0-2]\dT[01]\d:[0-5]\d:[0-5]\d(\.\d{1,9})?(Z|[+-][01]\d:\d\d)", fullmatch=True),
)
ITEMS = st.fixed_dictionaries(
    {"id": INTEGERS, "name": TEXTS | st.just("龍" * 512)},
    optional={
        "price": _or_none(st.integers(0, 10**14).map(lambda cents: cents / 100) | st.floats(0, 10**12)),
        "image": _or_none(TEXTS),
        "inspectLink": _or_none(TEXTS | st.just("\ufdfa" * 2048)),
        "description": _or_none(TEXTS | st.just("\u0001" * 10_000)),
        "details": _or_none(st.fixed_dictionaries({}, optional=dict.fromkeys(DETAILS, _or_none(TEXTS)))),
        "paint": _or_none(
            st.fixed_dictionaries(
                {},
                optional={
                    "float": _or_none(SHARES),
                    **dict.fromkeys(("seed", "index", "pattern"), _or_none(INTEGERS)),
                },
            )
        ),
        "attachments": _or_none(
            st.lists(st.fixed_dictionaries({"name": TEXTS}, optional={"id": INTEGERS, "wear": SHARES}), max_size=3)
        ),
        "listedAt": _or_none(MOMENTS),
    },
)


@pytest.fixture
def empty_index(opensearch_url: str, index_prefix: str) -> Iterator[tuple[OpenSearch, str]]:
    client = connect(SearchSettings(opensearch_url=opensearch_url))
    index = f"{index_prefix}-property"
    client.indices.create(index=index, body=read_definition().create_body())
    yield client, index
    client.close()


def _platform() -> Platform:
    found = read_platforms().by_id(730)
    assert found is not None
    return found


@settings(max_examples=25, database=None, suppress_health_check=list(HealthCheck))
@given(found=st.lists(ITEMS, min_size=1, max_size=40))
def test_accepted_items_are_taken_and_given_back_as_they_are(
    empty_index: tuple[OpenSearch, str], found: list[dict[str, Any]]
) -> None:
    client, index = empty_index
    platform = _platform()
    documents = {}
    for item in found:
        try:
            document = index_document(item_from_json(orjson.dumps(item)), platform)
        except ItemRefusedError:
            continue
        documents[item["id"]] = b"".join(encode_document(document, 1).pieces)
    if not documents:
        return
    lines = [b'{"index":{"_id":"%d"}}\n%b\n' % (key, one) for key, one in documents.items()]
    answer = client.bulk(body=b"".join(lines), index=index)
    assert not answer["errors"], [one["index"] for one in answer["items"] if one["index"]["status"] >= 300]
    back = client.mget(body={"ids": [str(key) for key in documents]}, index=index)
    assert [one["_source"] for one in back["docs"]] == [orjson.loads(one) for one in documents.values()]
