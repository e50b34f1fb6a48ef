"""The app: its routes are made before the first request, a process that serves alone reads each file once, and the
background work ends in time.
"""

import time
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path

import pytest
import uvicorn
from click.testing import CliRunner
from fastapi.routing import APIRoute
from pydantic import BaseModel

import mappings.platforms
from api.app import background_workers, create_app
from api.background.tasks import StopDeadline
from api.catalogue.service import WriteAudit
from api.changes.lease import Lease
from api.changes.recorder import INTERVALS
from api.cli.main import main
from api.http.admission import Admission
from api.saved_searches.matcher import MATCHER_LIMITS
from api.services import Services, open_services
from api.settings import Settings
from api.telemetry.metrics import Metrics
from api.vocabulary import entries
from api.vocabulary.schemas import VocabularyBody
from store.records import Actor
from tests.support.api.hanging import Hanging
from tests.support.api.platform_files import platform_folder
from tests.support.app import settings_for
from tests.support.platforms import shared_platforms
from tests.support.store.migrated import migrated


def test_all_apps_of_a_process_have_the_same_routes() -> None:
    first, second = (create_app(Settings(_env_file=None), shared_platforms()) for _ in range(2))
    assert all(isinstance(route, APIRoute) for route in first.routes), "none that makes others when it is asked"
    assert [id(route) for route in first.routes] == [id(route) for route in second.routes]
    assert first.router.routes is not second.router.routes


def test_a_process_that_serves_alone_reads_each_file_once(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    read: list[Path] = []
    read_file = mappings.platforms._read

    def noted(file: Path, part: type[BaseModel]) -> BaseModel:
        read.append(file)
        return read_file(file, part)

    def load(server: uvicorn.Server) -> None:
        server.config.load()
        server.started = True

    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("GEAR_PLATFORM_FILES", str(platform_folder(tmp_path, languages="[cns]?")))
    monkeypatch.setattr("mappings.platforms._read", noted)
    monkeypatch.setattr("uvicorn.Server.run", load)
    for of_the_process in ("gc.freeze", "api.telemetry.logs.configure", "api.http.connections.raise_open_files"):
        monkeypatch.setattr(of_the_process, lambda: None)
    result = CliRunner().invoke(main, ["serve"])
    assert result.exit_code == 0, result.output
    assert len(read) == len(set(read)) == 4  # the platform and three languages


@asynccontextmanager
async def opened_services(folder: Path) -> AsyncIterator[Services]:
    """The services of an app on a new database, without an engine."""
    settings, metrics = settings_for("http://127.0.0.1:1", "gear-test", folder), Metrics(None)
    await migrated(settings.database_url)
    async with AsyncExitStack() as resources:
        cursor_budget = Admission(settings.max_concurrency, metrics.requests).budgets["export"]
        stop = StopDeadline()
        yield await open_services(
            settings, shared_platforms(), metrics, cursor_budget, resources, stop, INTERVALS, MATCHER_LIMITS
        )


async def test_background_work_that_hangs_ends_all_at_the_same_time(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    hang = Hanging()
    monkeypatch.setattr(WriteAudit, "record", hang)
    async with opened_services(tmp_path) as services:
        monkeypatch.setattr(services.token_cache, "record_uses", hang)
        monkeypatch.setattr(services.search.unanswered, "flush", hang)
        async with background_workers(services, StopDeadline(0.5, 0.5)):
            for _ in range(3):
                await hang.started.get()
        assert len(hang.cancelled_at) == 3
        assert max(hang.cancelled_at) - min(hang.cancelled_at) < 0.5


async def test_what_operators_hide_is_hidden_from_the_first_search_on(tmp_path: Path) -> None:
    async with opened_services(tmp_path) as services:
        store, (platform, *_) = services.orders.store, services.orders.platforms
        body = VocabularyBody.model_validate({"hide": {"names": ["AK-47 | Redline (Field-Tested)"]}})
        await entries.add(store, platform, body, Actor.command("operator"))
        async with background_workers(services, StopDeadline()):
            assert platform.rules.of_text(platform.id, "ak").hidden == ("AK-47 | Redline (Field-Tested)",)


async def test_the_start_waits_for_the_vocabulary_no_longer_than_its_next_try(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    hang = Hanging()
    monkeypatch.setattr(entries.EntryPoller, "read", hang)
    async with opened_services(tmp_path) as services:
        started_at = time.monotonic()
        async with background_workers(services, StopDeadline(0.1, 0.1)):
            assert time.monotonic() - started_at < entries.ENTRY_POLL_SECONDS + 1


async def test_leases_that_are_not_released_in_time_hold_up_the_end_no_longer(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    hang = Hanging()
    monkeypatch.setattr(Lease, "release", hang)
    async with opened_services(tmp_path) as services:
        async with background_workers(services, StopDeadline(0.5, 0.5)):
            stopped_at = time.monotonic()
        assert len(hang.cancelled_at) == 2
        assert max(hang.cancelled_at) - min(hang.cancelled_at) < 0.5
        assert time.monotonic() - stopped_at < 5
