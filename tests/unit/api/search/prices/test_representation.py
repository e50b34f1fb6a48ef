"""How a price list is sent."""

import zlib
from itertools import pairwise

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from api.search.prices.representation import JSON, NDJSON, SEPARATOR, Representation, representation_of


@pytest.mark.parametrize(
    ("accept", "encoding", "expected"),
    [
        ("", "", Representation(JSON, gzip=False)),
        ("*/*", "gzip, deflate, br", Representation(JSON, gzip=True)),
        ("application/x-ndjson", "br;q=1.0, GZIP;q=0.5", Representation(NDJSON, gzip=True)),
        ("text/html, Application/X-NDJSON;q=0.9, application/json", "gzip;q=0", Representation(NDJSON, gzip=False)),
        ("application/json, application/x-ndjson", "gzip; q=0.000", Representation(JSON, gzip=False)),
        ("application/x-ndjson;q=0.0", "identity", Representation(JSON, gzip=False)),
    ],
)
def test_the_client_chooses_type_and_coding(accept: str, encoding: str, expected: Representation) -> None:
    assert representation_of(accept, encoding) == expected


@given(st.lists(st.dictionaries(st.text(), st.text(), max_size=2), max_size=5), st.lists(st.integers(0, 200)))
def test_both_types_have_the_same_rows_however_the_file_is_cut(rows: list[dict[str, str]], cuts: list[int]) -> None:
    content = SEPARATOR.join(map(orjson.dumps, rows))
    edges = sorted({0, len(content), *(min(cut, len(content)) for cut in cuts)})
    pieces = [content[start:end] for start, end in pairwise(edges)]
    document = b"".join(Representation(JSON, gzip=False).content(pieces))
    lines = b"".join(Representation(NDJSON, gzip=False).content(pieces))
    assert orjson.loads(document) == {"status": "success", "prices": rows}
    assert [orjson.loads(line) for line in lines.splitlines()] == rows
    assert lines.count(b"\n") == len(rows)
    compressed = b"".join(Representation(NDJSON, gzip=True).content(pieces))
    assert zlib.decompress(compressed, wbits=31) == lines


def test_the_types_have_tags_of_their_own_and_the_codings_share_one() -> None:
    tags = {Representation(media_type, gzip).etag("x") for media_type in (JSON, NDJSON) for gzip in (True, False)}
    assert tags == {'W/"x-json"', 'W/"x-ndjson"'}
