"""`gear-api webhook` and `deliver`: secrets, replays and checks, on a real SQLite file without a server."""

import asyncio
import json
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from api.cli.callbacks import recover_all
from api.cli.main import main
from api.webhooks.limits import FreeCapacity
from store.connection.engine import Store
from store.orders import orders
from store.outbox import attempts, deliveries, redelivery
from store.outbox.attempts import FinishedAttempt
from store.records import Attempt
from tests.support.orders.desk import order_with_callback
from tests.support.orders.samples import WORK, signed
from tests.support.store.migrated import migrated


class Machine:
    """A migrated SQLite file and the commands on it."""

    def __init__(self, folder: Path) -> None:
        self.url = f"sqlite+aiosqlite:///{folder}/gear.db"

    def run(self, *arguments: str) -> Result:
        """Runs a command."""
        return CliRunner().invoke(main, arguments)

    def report(self, *arguments: str) -> dict[str, Any]:
        """What a command that works says as JSON."""
        result = self.run(*arguments, "--json")
        assert result.exit_code == 0, result.output
        shown: dict[str, Any] = json.loads(result.stdout)
        return shown

    def token(self, name: str) -> dict[str, Any]:
        """A new token."""
        return self.report("token", "create", "--name", name, "--scope", "order")

    def failed_callback(self, token_id: str, at: datetime) -> str:
        """An order whose only callback was attempted then and is given up."""

        async def fail() -> str:
            store = Store(self.url)
            async with store.transaction() as connection:
                order = await orders.place(
                    connection, order_with_callback(token_id, "https://shop.example.com/hook"), at
                )
                [work] = await deliveries.lease(connection, at, 30.0, FreeCapacity())
                attempt = Attempt(at=at, outcome="rejected", status_code=500, milliseconds=1)
                note = FinishedAttempt(work=work, attempt=attempt, state="failed", next_attempt_at=None)
                await attempts.record(connection, [note])
            await store.close()
            return order.id

        return asyncio.run(fail())

    def state(self, order_id: str) -> str:
        """The state of an order's only callback."""

        async def look() -> str:
            store = Store(self.url)
            async with store.reading() as connection:
                [delivery] = await redelivery.of_order(connection, order_id)
            await store.close()
            return delivery.state

        return asyncio.run(look())


@pytest.fixture
def machine(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Machine:
    created = Machine(tmp_path)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("GEAR_DATABASE_URL", created.url)
    asyncio.run(migrated(created.url))
    return created


def test_a_rotated_secret_is_shown_once_and_the_old_one_valid_for_a_while(machine: Machine) -> None:
    token = machine.token("shop")
    shown = machine.report("webhook", "rotate", "shop", "--keep", "2h")
    assert shown["id"] == token["id"]
    assert shown["webhookSecret"] != token["webhookSecret"]
    until = datetime.fromisoformat(shown["previousValidUntil"])
    assert timedelta(minutes=119) < until - datetime.now(UTC) < timedelta(minutes=121)
    assert shown["webhookSecret"] not in machine.run("token", "list", "--json").stdout
    assert machine.report("webhook", "rotate", token["id"], "--at-once")["previousValidUntil"] is None


def test_a_secret_is_rotated_for_one_token_only(machine: Machine) -> None:
    assert "no usable token has the id or name 'shop'" in machine.run("webhook", "rotate", "shop").stderr
    for _ in range(2):
        machine.token("shop")
    result = machine.run("webhook", "rotate", "shop")
    assert result.exit_code == 1
    assert "2 tokens are named 'shop'" in result.stderr


@pytest.mark.parametrize("since", ["2h", "2h ago as a time"])
def test_what_failed_since_a_time_is_sent_again(machine: Machine, since: str) -> None:
    now = datetime.now(UTC)
    token, other = machine.token("shop"), machine.token("other")
    old = machine.failed_callback(token["id"], now - timedelta(hours=3))
    missed = [machine.failed_callback(token["id"], now - timedelta(hours=1)) for _ in range(3)]
    foreign = machine.failed_callback(other["id"], now - timedelta(hours=1))
    when = since if since == "2h" else (now - timedelta(hours=2)).isoformat()
    assert machine.report("webhook", "recover", "--token", "shop", "--since", when)["recovered"] == 3
    assert [machine.state(order) for order in missed] == ["pending"] * 3
    assert [machine.state(order) for order in (old, foreign)] == ["failed", "failed"]
    assert machine.report("webhook", "backlog")["overdue"] == 3
    assert "3 overdue, the oldest since 20" in machine.run("webhook", "backlog").stdout


def test_a_backlog_without_callbacks_names_no_oldest(machine: Machine) -> None:
    assert machine.run("webhook", "backlog").stdout == "0 overdue\n"


def test_many_orders_are_recovered_in_several_transactions(machine: Machine) -> None:
    token = machine.token("shop")
    for _ in range(5):
        machine.failed_callback(token["id"], datetime.now(UTC))
    since = datetime.now(UTC) - timedelta(hours=1)
    assert asyncio.run(recover_all(token["id"], since, batch=2)) == 5


@pytest.mark.parametrize(
    ("since", "message"), [("yesterday", "neither a time"), ("2026-03-01T12:00:00", "no time zone")]
)
def test_a_time_that_is_none_is_refused(machine: Machine, since: str, message: str) -> None:
    result = machine.run("webhook", "recover", "--token", "shop", "--since", since)
    assert result.exit_code == 2
    assert message in result.stderr


def test_recover_needs_a_token_that_there_is(machine: Machine) -> None:
    result = machine.run("webhook", "recover", "--token", "nobody", "--since", "1h")
    assert result.exit_code == 1
    assert "must name one token, found none" in result.stderr


def test_an_integrator_checks_a_received_callback(machine: Machine, tmp_path: Path) -> None:
    message = signed(WORK, datetime.now(UTC))
    (tmp_path / "body.json").write_bytes(message.body)
    (tmp_path / "secret.txt").write_text(WORK.secrets[0] + "\n")
    (tmp_path / "headers.txt").write_text("\n".join(f"{name}: {value}" for name, value in message.headers.items()))
    command = ("webhook", "verify", "body.json", "--secret-file", "secret.txt", "--headers", "headers.txt")
    assert machine.report(*command) == {"verified": True, "problem": None}
    (tmp_path / "body.json").write_bytes(message.body + b"\n")
    result = machine.run(*command, "--json")
    assert result.exit_code == 1
    assert "a line break at its ends" in json.loads(result.stdout)["problem"]
    assert "a line break at its ends" in result.stderr


def test_a_dispatcher_must_know_the_address_of_the_orders_pages(machine: Machine) -> None:
    result = machine.run("deliver")
    assert result.exit_code == 1
    assert "GEAR_PUBLIC_URL is not set" in result.stderr


def test_an_endpoint_is_registered_listed_rotated_and_removed(machine: Machine) -> None:
    token = machine.token("shop")
    added = machine.report("webhook", "endpoint", "add", "shop", "https://shop.example.com/hooks")
    assert (added["token"], added["url"], added["exact"]) == (token["id"], "https://shop.example.com/hooks", False)
    assert added["webhookSecret"].startswith("whsec_")
    listed = machine.run("webhook", "endpoint", "list", "--json").stdout
    assert [entry["id"] for entry in json.loads(listed)] == [added["id"]]
    assert "whsec_" not in listed
    rotated = machine.report("webhook", "endpoint", "rotate", added["id"], "--keep", "2h")
    assert rotated["webhookSecret"] not in (added["webhookSecret"], token["webhookSecret"])
    assert timedelta(minutes=119) < datetime.fromisoformat(rotated["previousValidUntil"]) - datetime.now(UTC)
    assert machine.report("webhook", "endpoint", "rotate", added["id"], "--at-once")["previousValidUntil"] is None
    assert machine.report("webhook", "endpoint", "remove", added["id"]) == {"removed": added["id"]}
    assert json.loads(machine.run("webhook", "endpoint", "list", "--json").stdout) == []


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        (("add", "nobody", "https://shop.example.com/"), "no usable token has the id or name 'nobody'"),
        (("add", "shop", "http://shop.example.com/"), "the URL must be an absolute https URL"),
        (("add", "shop", "https://127.0.0.1/"), "the URL must not name an address that is not on the public internet"),
        (("add", "shop", "https://shop.example.com/?a=b"), "neither a query nor a fragment, unless it is --exact"),
        (("add", "shop", "https://shop.example.com/taken"), "has the endpoint https://shop.example.com/taken already"),
        (("remove", "ep_unknown"), "no endpoint has the id 'ep_unknown'"),
        (("rotate", "ep_unknown"), "no endpoint has the id 'ep_unknown'"),
    ],
)
def test_an_endpoint_that_makes_no_sense_is_refused(machine: Machine, arguments: tuple[str, ...], reason: str) -> None:
    machine.token("shop")
    machine.report("webhook", "endpoint", "add", "shop", "https://shop.example.com/taken")
    machine.report("webhook", "endpoint", "add", "shop", "https://shop.example.com/?exact=1", "--exact")
    result = machine.run("webhook", "endpoint", *arguments)
    assert result.exit_code == 1
    assert reason in result.stderr


def test_callbacks_of_a_revoked_token_are_stopped_later_by_its_id(machine: Machine) -> None:
    token = machine.token("shop")
    assert machine.report("token", "revoke", "shop") == {"revoked": "shop", "callbacksStopped": False}
    assert "no usable token" in machine.run("token", "revoke", "shop", "--stop-callbacks").stderr
    stopped = machine.report("token", "revoke", token["id"], "--stop-callbacks")
    assert stopped == {"revoked": token["id"], "callbacksStopped": True}
    assert machine.run("token", "revoke", token["id"], "--stop-callbacks").exit_code == 1
