"""What every test may ask for: a real engine, a name of its own in it, and golden files."""

import json
import os
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import hypothesis
import pytest
import structlog

from tests.support.examples import EXTENDED, examples
from tests.support.golden import GOLDEN, Golden
from tests.support.indices import new_prefix
from tests.support.memory import memory_for_tests
from tests.support.scheduling import ByServer, is_left_out, longest_first, mark_slow
from tests.support.servers import opensearch_url as a_real_engine

pytest_plugins = [
    "tests.support.store.postgres",
    "tests.support.store.fixtures",
    "tests.support.orders.fixtures",
    "tests.support.indexer.fixtures",
    "tests.support.search.fixtures",
    "tests.support.streams.fixtures",
    "tests.support.clients",
]
"""The fixtures that several folders use; those of one folder are in its conftest."""

TESTS = Path(__file__).parent

# A machine that stands still for half a second is no fault of what is tested. The usual run draws the same examples
# each time, so that it fails by what was changed alone; `make test-extended` draws others, and four times as many.
hypothesis.settings.register_profile(
    "gear",
    deadline=None,
    derandomize=not EXTENDED,
    max_examples=examples(50, 200),
    suppress_health_check=[hypothesis.HealthCheck.too_slow],
)
hypothesis.settings.load_profile("gear")

# Where no command configures logs, tracebacks are plain: drawing one with all its variables takes seconds.
structlog.configure(
    [structlog.processors.add_log_level, structlog.processors.format_exc_info, structlog.processors.JSONRenderer()]
)

if "TMPDIR" not in os.environ and (_MEMORY := memory_for_tests()) is not None:
    os.environ["TMPDIR"] = tempfile.tempdir = str(_MEMORY)

# The tests' PostgreSQL keeps a lock file here; without a folder of one's own it is one for all users of the machine.
_RUNTIME = Path(tempfile.gettempdir()) / f"gear-tests-{os.getuid()}"
_RUNTIME.mkdir(mode=0o700, exist_ok=True)
os.environ.setdefault("XDG_RUNTIME_DIR", str(_RUNTIME))


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--update-golden", action="store_true", help="rewrite the golden files with what comes out now")


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    if not collection_path.is_relative_to(TESTS):
        return None
    path = collection_path.relative_to(TESTS.parent).as_posix() + "/" * collection_path.is_dir()
    return is_left_out(path, config.option.markexpr) or None


@pytest.hookimpl(tryfirst=True)  # before tests are chosen by their marks
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    mark_slow(items)
    longest_first(items)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> ByServer | None:
    """Of the workers of `--dist loadfile`."""
    return ByServer(config, log) if config.getvalue("dist") == "loadfile" else None


@pytest.fixture(scope="session")
def opensearch_url() -> Iterator[str]:
    """The address of a real OpenSearch; the test fails with how to get one where there is none."""
    with a_real_engine() as url:
        yield url


@pytest.fixture
def index_prefix(opensearch_url: str) -> Iterator[str]:
    """A prefix for index names that no other test has; its indices are removed afterwards."""
    with new_prefix(opensearch_url) as prefix:
        yield prefix


@pytest.fixture
def golden(request: pytest.FixtureRequest) -> Golden:
    """Compares a value with `tests/golden/<name>.json`; a missing file fails, `--update-golden` writes it."""
    update = bool(request.config.getoption("--update-golden"))

    def compare(name: str, value: Any) -> None:
        file = GOLDEN / f"{name}.json"
        if update:
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(json.dumps(value, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
        assert file.exists(), f"{file} is missing: write it with pytest --update-golden and read it before you commit"
        assert value == json.loads(file.read_text(encoding="utf-8"))

    return compare
