"""The TypeScript client: types of the present description, and examples that run; and the description is linted.

They need `npm` and its registry; without them they are skipped, unless GEAR_TEST_NODE=required.
"""

import json
import os
import re
import shutil
import subprocess
from pathlib import Path

import httpx
import pytest
from gear_client import GearClient

from tests.support.clients import EXAMPLES, LISTINGS, Service, description, order_until_completed
from tests.support.servers import free_port

PACKAGE = Path(__file__).parents[2] / "clients" / "typescript"
RETRIES = """
import { ConnectionFailedError, GearClient, GearError } from "gear-client";

const gear = new GearClient(process.env.GEAR_URL!, process.env.GEAR_TOKEN!);
const key = "the-same-key";
const body = { account: "a", email: "a@example.test", platform: "730", item: "-1017" };
const first = await gear.orderItem(body, key);
const again = await gear.orderItem(body, key);
console.log(first.order.id === again.order.id);
try {
  await gear.search({ limit: 1000 });
} catch (error) {
  if (error instanceof GearError) console.log(error.code, error.details[0]?.field);
}
try {
  await new GearClient("http://127.0.0.1:1", "t", { attempts: 2 }).listPlatforms();
} catch (error) {
  console.log(error instanceof ConnectionFailedError);
}
"""


def run(folder: Path, *command: str, **environment: str) -> str:
    ran = subprocess.run(
        command, cwd=folder, env={**os.environ, **environment}, capture_output=True, text=True, timeout=150, check=False
    )
    assert ran.returncode == 0, ran.stdout + ran.stderr
    return ran.stdout


OF_OPERATORS = {
    *("getMetrics", "getLiveness", "getReadiness", "getOperations"),
    *("listVocabulary", "addVocabulary", "removeVocabulary", "tryVocabulary", "listUnansweredSearches"),
}


@pytest.fixture(scope="module")
def package(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the package with what it depends on, built."""
    folder = tmp_path_factory.mktemp("clients") / "typescript"
    shutil.copytree(PACKAGE, folder, ignore=shutil.ignore_patterns("node_modules", "dist"))
    try:
        run(folder, "npm", "ci", "--silent", "--no-audit", "--no-fund")
    except (FileNotFoundError, AssertionError) as error:
        if os.environ.get("GEAR_TEST_NODE") == "required":
            raise
        pytest.skip(f"npm is missing or reaches no registry: {error}")
    run(folder, "npm", "run", "--silent", "build")
    return folder


@pytest.fixture(scope="module")
def described(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The OpenAPI description as a file."""
    file = tmp_path_factory.mktemp("description") / "openapi.json"
    file.write_text(json.dumps(description()), encoding="utf-8")
    return file


def test_the_description_has_no_problem_by_a_linters_strict_rules(package: Path, described: Path) -> None:
    assert run(package, "node", "lint-openapi.mjs", str(described)) == ""


def test_the_linter_finds_what_is_wrong(package: Path, tmp_path: Path) -> None:
    worse = description() | {"servers": []}
    file = tmp_path / "openapi.json"
    file.write_text(json.dumps(worse), encoding="utf-8")
    with pytest.raises(AssertionError, match="no-empty-servers"):
        run(package, "node", "lint-openapi.mjs", str(file))


def test_the_types_are_those_of_the_description(package: Path, described: Path) -> None:
    run(package, "npx", "openapi-typescript", str(described), "-o", "now.d.ts")
    assert (package / "now.d.ts").read_text() == (PACKAGE / "src" / "schema.d.ts").read_text(), "run `make clients`"


def test_every_operation_has_a_method(package: Path) -> None:
    methods = set(re.findall(r"^  async \*?(\w+)\(", (package / "src" / "index.ts").read_text(), re.MULTILINE))
    operations = {operation["operationId"] for path in description()["paths"].values() for operation in path.values()}
    assert methods - {"searchAll", "followChanges"} == operations - OF_OPERATORS


def test_the_example_of_the_readme_runs(package: Path, service: Service) -> None:
    (example, *_) = re.findall(r"```ts\n(.*?)```", (package / "README.md").read_text("utf-8"), re.DOTALL)
    *hits, listings, state, code = run_example(package, "readme", example, service)
    assert (len(hits), listings, state, code) == (3, f"{LISTINGS + 1} listings", "created", "item_not_found")


def test_orders_are_repeated_by_their_key_and_each_error_has_its_class(package: Path, service: Service) -> None:
    assert run_example(package, "retries", RETRIES, service) == ["true", "validation_failed limit", "true"]


@pytest.mark.parametrize("service", [{"allow_insecure_callbacks": True}], indirect=True)
def test_the_receiver_of_the_examples_takes_each_event_once(package: Path, service: Service) -> None:
    shutil.copy(EXAMPLES / "receiver.mjs", package)
    port = free_port()
    command = ["node", "receiver.mjs", str(port)]
    environment = {**os.environ, **service.environment}
    process = subprocess.Popen(command, cwd=package, env=environment, stdout=subprocess.PIPE, text=True)
    try:
        assert process.stdout is not None
        assert process.stdout.readline() == "listening\n"
        with GearClient(service.url, service.token) as gear:
            order = order_until_completed(gear, f"http://127.0.0.1:{port}/hooks")
        assert httpx.post(f"http://127.0.0.1:{port}/hooks", content=b"{}").status_code == 401
    finally:
        process.kill()
        printed, _ = process.communicate()
    states = ("created", "processing", "delivered", "completed")
    assert printed.splitlines() == [f"order.{state} {order}" for state in states]


def run_example(package: Path, name: str, example: str, service: Service) -> list[str]:
    """The lines that an example prints, after its types were checked."""
    (package / f"{name}.ts").write_text(example, encoding="utf-8")
    options = ["--module", "nodenext", "--target", "es2022", "--strict", "--skipLibCheck", "--types", "node"]
    run(package, "npx", "tsc", f"{name}.ts", *options)
    return run(package, "node", f"{name}.js", **service.environment).splitlines()
