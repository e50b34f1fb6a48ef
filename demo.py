"""Starts a real engine, loads the real catalogue, serves the API, and places a first search and a first order.

`make demo` and `make stop` run this. State is in `var/`; a second start keeps what is there.
"""

import json
import os
import shlex
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path
from typing import Any, NoReturn

import httpx
from pydantic_settings import BaseSettings, SettingsConfigDict

VAR = Path("var")
API_PID = VAR / "api.pid"
API_LOG = VAR / "api.log"
TOKEN = VAR / "demo-token.json"
PAGE_TOKEN = VAR / "demo-explore-token.json"
OPERATOR_TOKEN = VAR / "demo-operator-token.json"
ORDER = VAR / "demo-order.json"
BIN = Path(sys.executable).parent
PLATFORM = "730"
CATALOGUE = Path(__file__).parent / "data" / "catalogue.ndjson.gz"
LISTINGS = 60_000
SAMPLE = ("--count", str(LISTINGS), "--seed", "1", "--catalogue", str(CATALOGUE))
READY_SECONDS = 60
MAX_IDS = 1000  # of the filter `ids`
PAGE_RATE_LIMIT = "500"  # cost in a second of all who have the page open
SEARCH = {
    "platform": int(PLATFORM),
    "query": "ak-47 redline",
    "filters": {"exterior": ["Field-Tested", "Well-Worn"], "price": {"max": 60}},
    "sort": "price_asc",
    "limit": 5,
}


class DemoSettings(BaseSettings):
    """The few settings that decide what the demo starts itself."""

    model_config = SettingsConfigDict(env_prefix="GEAR_", env_file=".env", extra="ignore")

    opensearch_url: str | None = None
    api_port: int = 8000


def say(text: str) -> None:
    """A line for the person who watches."""
    print(text, flush=True)  # noqa: T201  # talking is what a demo is for


def fail(text: str) -> NoReturn:
    """Ends with a message."""
    sys.exit(f"demo: {text}")


def command(name: str, *arguments: str, **options: Any) -> subprocess.CompletedProcess[str]:
    """Runs one of the project's own commands; its talk goes to the terminal."""
    done: subprocess.CompletedProcess[str] = subprocess.run(
        [str(BIN / name), *arguments], text=True, check=False, stdout=subprocess.PIPE, **options
    )
    return done


def run_checked(name: str, *arguments: str) -> str:
    """Runs a command that has to succeed and returns what it printed."""
    done = command(name, *arguments)
    if done.returncode:
        fail(f"`{name} {' '.join(arguments)}` failed; its message is above")
    return done.stdout


def start_engine(settings: DemoSettings) -> None:
    """The engine of GEAR_OPENSEARCH_URL, else the node of this machine."""
    if settings.opensearch_url is not None:
        say(f"using the OpenSearch at {settings.opensearch_url} (GEAR_OPENSEARCH_URL)")
        return
    os.environ["GEAR_OPENSEARCH_URL"] = run_checked("gear-node", "start").split()[-1]


def load_catalogue() -> list[int]:
    """Loads listings made from the real catalogue, unless an index of this definition already serves.

    Returns the items that are offered again by it.
    """
    status = json.loads(run_checked("gear-indexer", "status", "--platform", PLATFORM, "--json"))
    if status["definition"] == "equal":
        say("the catalogue is loaded already")
        return reconcile_index(status["items"])
    say(f"loading {LISTINGS:,} listings made from the real catalogue")
    with subprocess.Popen([str(BIN / "gear-indexer"), "sample", *SAMPLE], stdout=subprocess.PIPE) as sample:
        done = command("gear-indexer", "load", "-", "--platform", PLATFORM, stdin=sample.stdout)
    if done.returncode or sample.returncode:
        fail("the catalogue could not be loaded; the message is above")
    return []


def reconcile_index(items: int) -> list[int]:
    """Has an index that was there before hide what the orders of this database bind, and nothing else.

    The node is shared by checkouts: orders of another one, or of a `var` that is gone, may have left their marks. What
    has another number of items than the demo's is somebody's catalogue, and so may its marks be: that is only told.
    """
    fix = ("--fix",) if items == LISTINGS else ()
    doctor = command("gear-indexer", "doctor", "--platform", PLATFORM, *fix, "--json", stderr=subprocess.DEVNULL)
    response = json.loads(doctor.stdout)
    if response.get("error"):
        fail(f"the index could not be looked at: {response['error']}")
    released: list[int] = []
    for finding in response["findings"]:
        if finding["code"] == "free-but-hidden" and fix:
            released = release()
        if finding["fixed"] or (finding["code"] == "free-but-hidden" and released):
            say(f"repaired, so that it agrees with the orders in this checkout's database: {finding['message']}")
        elif finding["severity"] == "error" and finding["remedy"] != "gear-api serve":  # which is done next
            say(f"not repaired: {finding['message']}; do: {finding['remedy']}")
    return released


def release() -> list[int]:
    """Offers the items again that the index binds and no order of this database does; `start_api` publishes it."""
    listed = command("gear-api", "reconcile", "--platform", PLATFORM, "--json")
    items: list[int] = json.loads(listed.stdout)["undecided"]
    run_checked("gear-api", "reconcile", "--platform", PLATFORM, *(f"--release={item}" for item in items), "--json")
    return items


def until_offered(base: str, secret: str, items: list[int]) -> None:
    """Waits until searches find the first of these items, as many as a filter takes."""
    body = {"platform": int(PLATFORM), "filters": {"ids": items[:MAX_IDS]}, "limit": 1}
    until = time.monotonic() + READY_SECONDS
    while time.monotonic() < until:
        if post(f"{base}/v1/gear/search", secret, body).get("total") == len(items[:MAX_IDS]):
            return
        time.sleep(0.1)


def running_api() -> int | None:
    """The process id of the API that an earlier demo started, if it still runs."""
    try:
        process = int(API_PID.read_text())
        os.kill(process, 0)
    except (FileNotFoundError, ValueError, ProcessLookupError, PermissionError):  # or another account's process by now
        return None
    listed = subprocess.run(["/bin/ps", "-o", "args=", "-p", str(process)], capture_output=True, text=True, check=False)
    return process if "gear-api" in listed.stdout else None


def stop_api() -> None:
    """Stops the API of an earlier demo and waits until it has ended."""
    process = running_api()
    if process is not None:
        os.kill(process, signal.SIGTERM)
        until = time.monotonic() + 20
        while running_api() is not None and time.monotonic() < until:
            time.sleep(0.05)
    API_PID.unlink(missing_ok=True)


def check_port(port: int) -> None:
    """Ends with a message where something else listens on the API's port."""
    with socket.socket() as probe:
        if probe.connect_ex(("127.0.0.1", port)) == 0:
            fail(
                f"something else listens on port {port}, perhaps the API of another checkout or of a deleted {VAR}/: "
                "stop it, or choose another port, such as GEAR_API_PORT=8001"
            )


def start_api(base: str) -> None:
    """Starts the API in the background and waits until it is ready."""
    with API_LOG.open("wb") as log:
        api = subprocess.Popen([str(BIN / "gear-api"), "serve"], stdout=log, stderr=log, start_new_session=True)
    API_PID.write_text(str(api.pid))
    until = time.monotonic() + READY_SECONDS
    while time.monotonic() < until:
        if api.poll() is not None:
            tail = "\n".join(API_LOG.read_text().splitlines()[-5:])
            fail(f"the API ended at once; is its port taken? (GEAR_API_PORT chooses another)\n{tail}")
        try:
            if httpx.get(f"{base}/health/ready", timeout=5).is_success:
                return
        except httpx.TransportError:
            pass
        time.sleep(0.1)
    fail(f"the API is not ready after {READY_SECONDS} s; see {API_LOG}")


def token(file: Path, name: str, *options: str) -> str:
    """The token that an earlier run kept in this file, while the store knows it with these options, else a new one.

    The other one is revoked.
    """
    valid_ids = {
        entry["id"]
        for entry in json.loads(run_checked("gear-api", "token", "list", "--json"))
        if not entry["revokedAt"]
    }
    stored: dict[str, Any] = json.loads(file.read_text()) if file.exists() else {}
    is_known = stored.get("id") in valid_ids
    if is_known and stored.get("options", [*options]) == [*options]:
        return str(stored["token"])
    created = json.loads(run_checked("gear-api", "token", "create", "--name", name, *options, "--json"))
    file.touch(mode=0o600)
    file.write_text(json.dumps({**created, "options": options}))
    if is_known:  # nobody has its text any more
        run_checked("gear-api", "token", "revoke", stored["id"])
    return str(created["token"])


def open_page(base: str) -> None:
    """Gives /explore a key that is worth nothing elsewhere: sandbox orders, its own origin and rate limit."""
    origins = [f"--origin={base}", f"--origin={base.replace('127.0.0.1', 'localhost')}"]
    scopes = ["--scope", "search", "--scope", "order", "--sandbox", "--rate-limit", PAGE_RATE_LIMIT]
    os.environ.setdefault("GEAR_EXPLORE", "true")
    os.environ.setdefault("GEAR_EXPLORE_TOKEN", token(PAGE_TOKEN, "explore", *scopes, *origins))


def post(url: str, secret: str, body: dict[str, Any]) -> dict[str, Any]:
    """Posts a body and returns the answer, an error's too."""
    response = httpx.post(url, json=body, headers={"Authorization": f"Bearer {secret}"}, timeout=10)
    shown: dict[str, Any] = response.json()
    return shown


def curl(url: str, body: dict[str, Any]) -> str:
    """The command that repeats a call in a shell where $TOKEN is set."""
    return (
        f"curl -s {url} -H \"Authorization: Bearer $TOKEN\" -H 'Content-Type: application/json' "
        f"-d {shlex.quote(json.dumps(body))}"
    )


def first_search(base: str, secret: str) -> list[dict[str, Any]]:
    """Searches and prints the hits."""
    response = post(f"{base}/v1/gear/search", secret, SEARCH)
    if response["status"] != "success":
        fail(f"the search failed: {response}")
    say(f"\nFirst search: {response['total']} items for {SEARCH['query']!r}, two exteriors, up to 60 USD:\n")
    for item in response["gear"]:
        wear = (item.get("paint") or {}).get("float")
        shown = " " * 14 if wear is None else f"float {wear:.6f}"
        say(f"  {item['price']:>8.2f} USD  {shown}  {item['name']}  (id {item['id']})")
    say(f"\n{curl(f'{base}/v1/gear/search', SEARCH)}")
    hits: list[dict[str, Any]] = response["gear"]
    return hits


def first_order(base: str, secret: str, item: dict[str, Any]) -> None:
    """Orders an item and prints the order; a later demo shows the same order."""
    if ORDER.exists():
        placed = json.loads(ORDER.read_text())
        url = f"{base}/v1/orders/{placed['id']}"
        response = httpx.get(url, headers={"Authorization": f"Bearer {secret}"}, timeout=10).json()
        if response["status"] == "success":
            show_order(base, response["order"], placed["body"])
            return
    body = {
        "account": "demo-buyer",
        "email": "buyer@example.com",
        "platform": "cs2",
        "item": str(item["id"]),
        "expectedPrice": item["price"],
    }
    response = post(f"{base}/v1/gear", secret, body)
    if response["status"] != "success":
        fail(f"the order failed: {response}")
    ORDER.write_text(json.dumps({"id": response["order"]["id"], "body": body}))
    show_order(base, response["order"], body)


def show_order(base: str, order: dict[str, Any], body: dict[str, Any]) -> None:
    """Prints an order and the commands that place and show it."""
    amounts = order["amounts"]
    say(f"\nFirst order: {order['id']} is {order['state']}, {amounts['total']:.2f} {amounts['currency']}")
    say(f"  the buyer's page: {order['statusUrl']}")
    say(f"\n{curl(f'{base}/v1/gear', body)}")
    say(f'curl -s {base}/v1/orders/{order["id"]} -H "Authorization: Bearer $TOKEN"')


def start() -> None:
    """Everything from nothing to a placed order."""
    VAR.mkdir(mode=0o700, exist_ok=True)
    settings = DemoSettings()
    base = f"http://127.0.0.1:{settings.api_port}"
    os.environ.setdefault("GEAR_PUBLIC_URL", base)
    os.environ.setdefault("GEAR_DRAIN_SECONDS", "0")  # no proxy has to notice
    stop_api()
    check_port(settings.api_port)
    start_engine(settings)
    run_checked("gear-api", "migrate")
    released = load_catalogue()
    open_page(base)
    start_api(base)
    secret = token(TOKEN, "demo", "--scope", "search", "--scope", "order")
    if released:
        until_offered(base, secret, released)
    say("\nIn your shell, so that the commands below can be repeated:\n")
    say(f'export TOKEN=$(.venv/bin/python -c \'import json; print(json.load(open("{TOKEN}"))["token"])\')')
    hits = first_search(base, secret)
    if not hits:
        fail(
            "the first search found nothing: another catalogue than the demo's serves. "
            ".venv/bin/gear-indexer rollback --platform 730 may bring it back, make clean begins anew"
        )
    first_order(base, secret, hits[0])
    token(OPERATOR_TOKEN, "operator", "--scope", "operate", "--scope", "catalogue")
    say(f"\nFor operators: {base}/explore/operations asks for the token that is in {OPERATOR_TOKEN}")
    say(f"Search it yourself: {base}/explore (documentation at {base}/docs). `make stop` ends the service.")


def stop() -> None:
    """Stops what `start` started; data stays."""
    stop_api()
    if DemoSettings().opensearch_url is None:
        run_checked("gear-node", "stop")


if __name__ == "__main__":
    try:
        {"start": start, "stop": stop}[sys.argv[1]]()
    except KeyboardInterrupt:
        fail("interrupted; another `make demo` goes on from here")
