"""The app: its routes are made before the first request, and a process that serves alone reads each file once."""

from pathlib import Path

import pytest
import uvicorn
from click.testing import CliRunner
from fastapi.routing import APIRoute
from pydantic import BaseModel

import mappings.platforms
from api.app import create_app
from api.cli.main import main
from api.settings import Settings
from tests.support.platforms import shared_platforms


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
    monkeypatch.setattr("mappings.platforms._read", noted)
    monkeypatch.setattr("uvicorn.Server.run", load)
    for of_the_process in ("gc.freeze", "api.telemetry.logs.configure", "api.http.connections.raise_open_files"):
        monkeypatch.setattr(of_the_process, lambda: None)
    result = CliRunner().invoke(main, ["serve"])
    assert result.exit_code == 0, result.output
    assert len(read) == len(set(read)) > 10
