"""What a call can fail with."""

from typing import Any

import httpx


class GearError(Exception):
    """The service refused a call; `code` is the stable part, `message` is for people."""

    def __init__(self, status: int, error: dict[str, Any], retry_after: float | None) -> None:
        super().__init__(f"{status} {error['code']}: {error['message']} (request {error['requestId']})")
        self.status = status
        self.code: str = error["code"]
        self.message: str = error["message"]
        self.details: list[dict[str, str]] = error["details"]
        self.request_id: str = error["requestId"]
        self.retry_after = retry_after
        """Seconds after which the same call may succeed, where the service says it."""
        self.price: float | None = error.get("price")
        """The current price, with `price_changed`."""
        self.available: int | None = error.get("available")
        """How many items can be ordered at the price, with `not_enough`."""


class ConnectionFailedError(Exception):
    """No response of the service came: no connection, none in time, or one of something else, such as a proxy."""


def error_of(response: httpx.Response) -> GearError | ConnectionFailedError:
    """The error that a response states."""
    try:
        envelope = response.json()["error"]
        return GearError(response.status_code, envelope, _seconds(response.headers.get("Retry-After")))
    except (ValueError, KeyError, TypeError):
        message = f"HTTP {response.status_code} without an error of the service: {response.text[:200]!r}"
        return ConnectionFailedError(message)


def _seconds(text: str | None) -> float | None:
    return float(text) if text is not None and text.isdecimal() else None
