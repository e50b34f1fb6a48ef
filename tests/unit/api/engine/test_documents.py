"""Documents by their ids: each is there, or missing, or the answer is an error."""

from typing import Any

import pytest

from api.engine.documents import LISTING_DOCUMENTS, PRODUCT_DOCUMENTS, read_documents
from api.engine.errors import NotLoadedError
from api.engine.responses import BadResponseError

THERE = b'{"_index": "gear-730-x", "_id": "1", "found": true, "_source": %b}'
MISSING = b'{"_index": "gear-730-x", "_id": "2", "found": false}'
FAILED = b'{"_index": "gear-730", "_id": "3", "error": {"type": "%b", "reason": "x"}}'


def response(*documents: bytes) -> bytes:
    return b'{"docs": [%b]}' % b",".join(documents)


def test_each_document_is_there_or_missing() -> None:
    listing = b'{"id": 1, "product": "a", "price": 210, "bound": true, "digest": {"a": 1}, "seed": 661}'
    first, second = read_documents(LISTING_DOCUMENTS, response(THERE % listing, MISSING), 2)
    assert (first.id, first.exists, second.id, second.exists) == ("1", True, "2", False)
    assert (first.source.price, first.source.bound, first.source.digest) == (210, True, {"a": 1})
    (product,) = read_documents(PRODUCT_DOCUMENTS, response(THERE % b'{"name": "x"}'), 1)
    assert product.source == {"name": "x"}


@pytest.mark.parametrize("decoder", [LISTING_DOCUMENTS, PRODUCT_DOCUMENTS])
@pytest.mark.parametrize(
    ("content", "error"),
    [
        (response(FAILED % b"index_not_found_exception"), NotLoadedError),
        (response(FAILED % b"no_shard_available_action_exception"), BadResponseError),
        (response(), BadResponseError),
        (response(MISSING, MISSING), BadResponseError),
        (b"<html>", BadResponseError),
        (b"{}", BadResponseError),
        (response(THERE % b"null"), BadResponseError),
    ],
)
def test_what_is_not_read_is_an_error(decoder: Any, content: bytes, error: type[Exception]) -> None:
    with pytest.raises(error):
        read_documents(decoder, content, 1)
