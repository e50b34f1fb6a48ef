"""The examples of the OpenAPI description, which tests send, store and expect."""

from typing import Any, Final

from api.http.openapi import read_examples

EXAMPLES: Final = read_examples()
ITEM: Final[dict[str, Any]] = EXAMPLES["getItem"]["response"]["gear"]
ORDER_BODIES: Final[dict[str, Any]] = EXAMPLES["orderItem"]["bodies"]
