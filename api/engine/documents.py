"""Documents that are read by their ids, many in one request: listings, and the documents of products."""

from typing import Any, Final, Generic, TypeVar

import msgspec

from api.engine.errors import NO_INDEX, NotLoadedError
from api.engine.responses import all_of, decoded, partial_response
from mappings.items.listing import Listing


class StoredListing(Listing):
    listed_at: int | None = msgspec.field(default=None, name="listedAt")
    digest: dict[str, int] | None = None
    bound: bool = False
    version: int | None = None


class _Error(msgspec.Struct):
    type: str = ""


class _Document(msgspec.Struct, kw_only=True):
    index: str = msgspec.field(name="_index")
    id: str = msgspec.field(name="_id")
    exists: bool = msgspec.field(default=False, name="found")
    error: _Error | None = None


class ListingDocument(_Document, kw_only=True):
    source: StoredListing = msgspec.field(default_factory=StoredListing, name="_source")


class ProductDocument(_Document, kw_only=True):
    source: dict[str, Any] = msgspec.field(default_factory=dict, name="_source")


Document = TypeVar("Document", bound=_Document)


class _Response(msgspec.Struct, Generic[Document]):
    docs: list[Document]


LISTING_DOCUMENTS: Final = msgspec.json.Decoder(_Response[ListingDocument])
PRODUCT_DOCUMENTS: Final = msgspec.json.Decoder(_Response[ProductDocument])


def read_documents(decoder: msgspec.json.Decoder[_Response[Document]], content: bytes, count: int) -> list[Document]:
    """`count` documents; raises NotLoadedError, BadResponseError where one could not be read."""
    documents = all_of(decoded(decoder, content).docs, count)
    for document in documents:
        if document.error is not None:
            if document.error.type == NO_INDEX:
                raise NotLoadedError(document.index)
            raise partial_response(error=document.error.type)
    return documents
