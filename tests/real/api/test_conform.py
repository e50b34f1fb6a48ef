"""`gear-api conform`: it passes on the service, harms nothing, and each check fails where its sentence is broken."""

import asyncio
import json
import secrets
from collections.abc import Callable, Iterator
from itertools import count
from typing import Any

import httpx
import pytest
from click.testing import CliRunner, Result

from api.cli.main import main
from api.conform import http_checks, order_checks, search_checks
from api.conform.checks import CHECKS, run_checks
from api.conform.deployment import Deployment
from tests.support.api.catalogue import CS2, put_index, simple_item
from tests.support.api.described_examples import ITEM
from tests.support.app import new_token, serving, settings_for
from tests.support.faults.changing_proxy import Change, ChangingProxy, Exchange, changing
from tests.support.indices import drop_indices

ENTRIES = {entry.name: entry for entry in CHECKS}
NAMES = ("AK-47 | Redline (Field-Tested)", "AWP | Asiimov (Field-Tested)", "M4A4 | Howl (Factory New)")
WEAPONS = [{"details": {"weapon": name.partition(" ")[0]}} for name in NAMES]
ITEMS = [
    ITEM,
    *(
        {
            **simple_item(number, 1.0 + number // 3, NAMES[number % 3]),
            "details": {"weapon": NAMES[number % 3][:5].strip()},
        }
        for number in range(1, 25)
    ),
]


@pytest.fixture(scope="module")
def service(opensearch_url: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[httpx.Client, str, str]]:
    """The service behind a real server, a sandbox token and a real one."""
    prefix = f"t{secrets.token_hex(5)}"
    settings = settings_for(opensearch_url, prefix, tmp_path_factory.mktemp("conform"))
    put_index(settings, CS2, ITEMS)
    with serving(settings) as client:
        sandbox = asyncio.run(new_token(settings.database_url, "search", "order", sandbox=True))
        real = asyncio.run(new_token(settings.database_url, "search", "order"))
        yield client, sandbox, real
    drop_indices(opensearch_url, prefix)


@pytest.fixture(scope="module")
def proxy(service: tuple[httpx.Client, str, str]) -> Iterator[ChangingProxy]:
    """A proxy before the service."""
    with changing(str(service[0].base_url)) as started:
        yield started


def conform(url: str, token: str, *options: str) -> Result:
    """The command, with the token on stdin."""
    return CliRunner().invoke(main, ["conform", url, "--token-file", "-", *options], input=f"{token}\n")


def test_the_service_conforms_and_nothing_is_left(service: tuple[httpx.Client, str, str]) -> None:
    client, sandbox, _ = service
    before = client.post("/v1/gear/search", json={"limit": 100}).json()
    result = conform(str(client.base_url), sandbox, "--json")
    report = json.loads(result.stdout.splitlines()[-1])
    assert [check for check in report["checks"] if check["outcome"] != "passed"] == []
    assert (result.exit_code, report["passed"], len(report["checks"])) == (0, True, len(CHECKS))
    assert client.post("/v1/gear/search", json={"limit": 100}).json() == before, "no real item is bound"
    open_orders = client.get("/v1/orders?state=created", headers={"Authorization": f"Bearer {sandbox}"}).json()
    assert open_orders["orders"] == []


def test_a_table_names_each_check_and_its_sentence(service: tuple[httpx.Client, str, str]) -> None:
    result = conform(str(service[0].base_url), service[1], "--part", "http")
    assert result.exit_code == 0
    assert "passed   request-id" in result.stdout
    assert "Every response carries X-Request-Id." in result.stdout


def test_a_token_that_is_no_sandbox_orders_nothing(service: tuple[httpx.Client, str, str]) -> None:
    client, _, real = service
    result = conform(str(client.base_url), real, "--part", "orders", "--json")
    outcomes = {check["name"]: check["outcome"] for check in json.loads(result.stdout.splitlines()[-1])["checks"]}
    assert result.exit_code == 1
    assert outcomes.pop("sandbox") == "failed"
    assert set(outcomes.values()) == {"not run"}
    mine = client.get("/v1/orders", headers={"Authorization": f"Bearer {real}"}).json()
    assert mine["orders"] == []


def test_a_request_that_is_refused_for_the_rate_limit_is_sent_again(
    service: tuple[httpx.Client, str, str], proxy: ChangingProxy
) -> None:
    refusals = count()

    def refuse_twice(exchange: Exchange) -> None:
        if next(refusals) < 2:
            status(429)(exchange)

    proxy.change = on("/v1/gear/prices", refuse_twice)
    assert [finding.outcome for finding in run_checks(Deployment(proxy.url, service[1]), [ENTRIES["prices"]])] == [
        "passed"
    ]


def test_a_file_with_more_than_the_token_is_refused_and_not_printed() -> None:
    result = conform("http://127.0.0.1:1", "id: tok_1\ntoken: gear_secret\nwebhookSecret: whsec_secret")
    assert result.exit_code == 2
    assert "the token and nothing else" in result.output
    assert "secret" not in result.output


def test_nobody_answers() -> None:
    result = conform("http://127.0.0.1:1", "none", "--part", "http")
    assert result.exit_code == 1
    assert "no response" in result.stdout


def test_orders_that_cannot_be_cancelled_are_reported(
    service: tuple[httpx.Client, str, str], proxy: ChangingProxy
) -> None:
    proxy.change = on("/transitions", status(500))
    (_, cleanup) = run_checks(Deployment(proxy.url, service[1]), [ENTRIES["placed"]])
    assert (cleanup.entry.name, cleanup.outcome) == ("cleanup", "failed")
    assert "not cancelled: ord_" in cleanup.message


def status(code: int) -> Change:
    def change(exchange: Exchange) -> None:
        exchange.status = code

    return change


def header(name: str, value: str | None = None) -> Change:
    def change(exchange: Exchange) -> None:
        exchange.headers.pop(name, None)
        if value is not None:
            exchange.headers[name] = value

    return change


def edit(change_json: Callable[[Any], object]) -> Change:
    """Changes the JSON of an answer where it has what is changed."""

    def change(exchange: Exchange) -> None:
        try:
            body = exchange.json
            change_json(body)
        except (ValueError, KeyError, TypeError, AttributeError):
            return
        exchange.json = body

    return change


def on(part: str, change: Change, sent: bytes = b"") -> Change:
    """The change for requests whose path and body contain this."""

    def applied(exchange: Exchange) -> None:
        if part in exchange.path and sent in exchange.sent:
            change(exchange)

    return applied


def code(exchange: Exchange) -> None:
    edit(lambda body: body["error"].update(code="other"))(exchange)


def counted() -> Change:
    """A total that is never the same."""
    numbers = count(1000)
    return edit(lambda body: body["total"] and body.update(total=next(numbers)))


def repeated() -> Change:
    """The first page, again and again."""
    pages: list[Any] = []

    def change(body: Any) -> None:
        pages.append(body["gear"])
        body["gear"] = pages[0]

    return edit(change)


SEARCH, GEAR, ORDERS = "/v1/gear/search", "/v1/gear", "/v1/orders/"
FAULTS: dict[str, Change] = {
    "live": edit(lambda body: body.update(more=1)),
    "ready": edit(lambda body: body.update(orders=False)),
    "openapi": edit(lambda body: body["paths"].pop(GEAR)),
    "request-id": header("x-request-id", "another"),
    "not-found": code,
    "method-not-allowed": header("allow"),
    "unauthorized": header("www-authenticate"),
    "token-before-body": status(400),
    "invalid-json": status(422),
    "body-too-large": status(200),
    "unsupported-media-type": code,
    "unknown-fields": edit(lambda body: body["error"].update(details=[])),
    "given-fields": edit(lambda body: body["gear"][0].update(more=1)),
    "limit": edit(lambda body: body["gear"].pop()),
    "page-window": code,
    "unknown-platform": status(200),
    "price-filter": edit(lambda body: [item.update(price=item["price"] + 0.01) for item in body["gear"]]),
    "price-sorts": edit(lambda body: body["gear"].reverse()),
    "string-filters": edit(lambda body: body.update(total=body["total"] + 1)),
    "unknown-values": edit(lambda body: body.update(total=1)),
    "folding": counted(),
    "blank-query": counted(),
    "any-text": status(500),
    "pages": edit(lambda body: body["gear"].reverse()),
    "cursor": on(SEARCH, repeated()),
    "groups": edit(lambda body: body["gear"].append(body["gear"][0])),
    "explain": edit(lambda body: body.pop("interpretation")),
    "item": edit(lambda body: body["gear"].update(name="another")),
    "unknown-item": status(200),
    "suggest": edit(lambda body: body["suggestions"][0].pop("kind")),
    "platforms": edit(lambda body: body.update(sorts=[])),
    "prices": header("etag"),
    "sandbox": on(GEAR, status(404)),
    "placed": edit(lambda body: body["order"]["amounts"].update(total=0)),
    "same-body": header("idempotent-replayed"),
    "idempotency-key": header("idempotent-replayed"),
    "one-active-order": on(GEAR, code, b"conform-other"),
    "price-changed": edit(lambda body: body["error"].pop("price")),
    "order-fields": edit(lambda body: body["error"].update(details=[])),
    "order-history": edit(lambda body: body["order"].update(history=[])),
    "order-list": on("account=", edit(lambda body: body.update(orders=[]))),
    "cancel": edit(lambda body: body["order"]["history"].reverse()),
    "life": edit(lambda body: body["order"]["history"].reverse()),
    "deliveries": on("/deliveries", edit(lambda body: body.update(deliveries=[1]))),
    "page": on("/orders/", header("content-type", "text/plain")),
}


def test_each_check_has_a_fault_that_breaks_its_sentence() -> None:
    assert {http_checks.__name__, search_checks.__name__, order_checks.__name__} == {
        entry.run.__module__ for entry in CHECKS
    }
    assert set(FAULTS) == set(ENTRIES)


@pytest.mark.parametrize("name", FAULTS)
def test_a_check_fails_where_its_sentence_is_broken(
    service: tuple[httpx.Client, str, str], proxy: ChangingProxy, name: str
) -> None:
    proxy.change = FAULTS[name]
    finding = run_checks(Deployment(proxy.url, service[1]), [ENTRIES[name]])[0]
    assert (finding.entry.name, finding.outcome) == (name, "failed"), finding.message
    assert finding.message
