"""The metrics file of a load: what the textfile collector shows of its progress and its result."""

from pathlib import Path

import pytest

from indexer.cli import load_metrics
from indexer.cli.load_metrics import LoadMetrics
from indexer.cli.progress import LoadProgress
from indexer.loading.report import LoadReport
from tests.support.api.exposition import samples
from tests.support.indexer.fixtures import Place, items


def values_of(file: Path) -> dict[str, float]:
    """The values by name, and of the items by what became of them."""
    return {
        name + dict(labels).get("result", ""): value
        for (name, labels), value in samples(file.read_text(encoding="utf-8")).items()
    }


def test_a_load_leaves_its_result(place: Place) -> None:
    file = place.folder / "load.prom"
    refused = {"id": 0}
    place.load([*items(5), refused], "--metrics", str(file), "--max-rejects", "50")
    values = values_of(file)
    assert (values["gear_load_succeeded"], values["gear_load_running"]) == (1, 0)
    assert (values["gear_load_itemsread"], values["gear_load_itemsindexed"]) == (6, 5)
    assert values["gear_load_itemsrejected"] == 1
    assert values["gear_load_end_timestamp_seconds"] >= values["gear_load_start_timestamp_seconds"]
    place.load([], "--metrics", str(file), code=1)
    assert values_of(file)["gear_load_succeeded"] == 0


def test_progress_is_written_while_it_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(load_metrics, "WRITE_SECONDS", 0)
    file, report = tmp_path / "load.prom", LoadReport(730, "gear-730")
    with (
        LoadProgress(1000, quiet=True) as shown,
        LoadMetrics(shown, file, report, 1000) as progress,
    ):
        assert values_of(file)["gear_load_progress_ratio"] == 0
        progress.show(250, 10)
        assert values_of(file)["gear_load_progress_ratio"] == 0.25
        assert values_of(file)["gear_load_running"] == 1
        assert "gear_load_succeeded" not in values_of(file), "what is not known yet is not told"
        file.unlink()
        file.mkdir()
        progress.show(500, 20)  # it goes on without
    assert file.is_dir()


def test_a_file_that_cannot_be_written_is_said_before_the_load(place: Place) -> None:
    response = place.load(items(1), "--metrics", str(place.folder / "missing" / "load.prom"), code=1)
    assert "cannot be written" in response["error"]
    assert place.indices() == []
