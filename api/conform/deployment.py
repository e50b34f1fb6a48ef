"""A deployment as its clients meet it: requests by HTTP, and what a check may say of the responses."""

import json
import secrets
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from http import HTTPStatus
from typing import Any, Final

import urllib3

TIMEOUT_SECONDS: Final = 30.0
TRIES: Final = 5
MAX_WAIT_SECONDS: Final = 10.0


class CheckFailed(Exception):
    """The deployment does not keep a sentence of the contract; the message says what it did instead."""


@dataclass(frozen=True)
class Response:
    """One response. `json` is None where the body is none."""

    request: str
    status: int
    headers: Mapping[str, str]
    body: bytes
    json: Any

    def expect(self, status: int) -> "Response":
        """Raises CheckFailed unless it has this status."""
        if self.status != status:
            raise CheckFailed(f"{self.request}: {self.status} instead of {status}; {self.body[:200]!r}")
        return self

    def error(self, status: int, code: str, *fields: str) -> Any:
        """The error of the envelope, which must have this code and name these fields."""
        body = self.expect(status).json
        error = body.get("error") if isinstance(body, dict) else None
        if not isinstance(error, dict) or set(body) != {"status", "error"} or body["status"] != "error":
            raise CheckFailed(f"{self.request}: no error envelope; {self.body[:200]!r}")
        require(error.get("code") == code, f"{self.request}: code {error.get('code')!r} instead of {code!r}")
        require(
            error.get("requestId") == self.headers.get("x-request-id"), f"{self.request}: requestId is not X-Request-Id"
        )
        named = {detail.get("field") for detail in error.get("details", ())}
        require(named >= set(fields), f"{self.request}: details name {sorted(map(str, named))}, not {fields}")
        return error

    def keys(self, *names: str) -> dict[str, Any]:
        """The 200's JSON object, which must have exactly these keys and be a success."""
        self.expect(200)
        exactly(self.json, names, self.request)
        require(self.json["status"] == "success", f"{self.request}: status is {self.json['status']!r}")
        body: dict[str, Any] = self.json
        return body


@dataclass
class Deployment:
    """What is checked, with a token. `orders` are those that the checks have placed."""

    base_url: str
    token: str
    orders: list[str] = field(default_factory=list)
    _pool: urllib3.PoolManager = field(default_factory=lambda: urllib3.PoolManager(retries=False, maxsize=4))

    def send(
        self,
        method: str,
        path: str,
        body: Any = None,
        *,
        token: str | None = "",
        content: bytes | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> Response:
        """One request, with the token unless another or None is given; raises CheckFailed where nobody answers.

        A request that is refused for the token's rate limit is sent again when the response says, a few times.
        """
        bearer = self.token if token == "" else token
        sent = {"Content-Type": "application/json"} if body is not None or content is not None else {}
        sent |= {} if bearer is None else {"Authorization": f"Bearer {bearer}"}
        content = json.dumps(body).encode() if body is not None else content
        for _ in range(TRIES):
            response = self._sent(method, path, content, {**sent, **(headers or {})})
            if response.status != HTTPStatus.TOO_MANY_REQUESTS:
                break
            time.sleep(min(float(response.headers.get("Retry-After", 1)), MAX_WAIT_SECONDS))
        lower = {name.lower(): value for name, value in response.headers.items()}
        return Response(f"{method} {path}", response.status, lower, response.data, _parsed(response.data))

    def _sent(
        self, method: str, path: str, content: bytes | None, headers: Mapping[str, str]
    ) -> urllib3.BaseHTTPResponse:
        try:
            return self._pool.request(
                method,
                self.base_url.rstrip("/") + path,
                body=content,
                headers=headers,
                timeout=TIMEOUT_SECONDS,
                redirect=False,
            )
        except urllib3.exceptions.HTTPError as error:
            raise CheckFailed(f"{method} {path}: no response ({type(error).__name__})") from error

    def search(self, **body: Any) -> dict[str, Any]:
        """The answer to a search, which must be a 200."""
        response: dict[str, Any] = self.send("POST", "/v1/gear/search", body).expect(200).json
        return response

    def order_body(self, kind: str, **more: Any) -> dict[str, Any]:
        """The body of a sandbox order that nobody else has sent; `kind` begins its item's id."""
        fresh = secrets.randbelow(10**12)
        account = f"conform-{secrets.token_hex(6)}"
        return {
            "account": account,
            "email": "conform@example.com",
            "platform": self.platform()["slug"],
            "item": f"{kind}{fresh:012d}",
            **more,
        }

    def order(self, body: dict[str, Any], **headers: str) -> Response:
        """Places a sandbox order, and remembers it to be cancelled."""
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        response = self.send("POST", "/v1/gear", body, headers=named)
        if response.status == 201 and isinstance(response.json, dict):
            self.orders.append(response.json["order"]["id"])
        return response

    def platform(self) -> dict[str, Any]:
        """The first platform that has items."""
        platforms = self.send("GET", "/v1/platforms").expect(200).json["platforms"]
        return next((platform for platform in platforms if platform["items"]), platforms[0])

    def cancel_orders(self) -> list[str]:
        """Cancels the placed orders that are still open; returns those that it could not."""
        left = []
        for order_id in self.orders:
            try:
                response = self.send("POST", f"/v1/orders/{order_id}/transitions", {"to": "cancelled"})
                is_over = response.status in (200, 409)  # 409: it has gone on by itself
            except CheckFailed:  # nobody answers
                is_over = False
            if not is_over:
                left.append(order_id)
        return left


def require(condition: object, message: str) -> None:
    """Raises CheckFailed unless the condition holds."""
    if not condition:
        raise CheckFailed(message)


def exactly(value: Any, names: Iterable[str], what: str) -> None:
    """Raises CheckFailed unless the value is an object with exactly these keys."""
    require(isinstance(value, dict), f"{what}: no JSON object")
    require(set(value) == set(names), f"{what}: keys {sorted(value)} instead of {sorted(names)}")


def in_some_try(compare: Callable[[], bool], message: str) -> None:
    """Raises CheckFailed where a comparison of responses fails each time: the catalogue may change in between."""
    require(any(compare() for _ in range(TRIES)), message)


def _parsed(content: bytes) -> Any:
    try:
        return json.loads(content)
    except ValueError:
        return None
