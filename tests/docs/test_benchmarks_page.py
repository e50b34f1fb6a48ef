"""The benchmarks' page says what its JSON files say: its regions are made of them and never typed."""

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from bench.__main__ import main
from bench.report import page as paging
from bench.report.measured import PageError, read
from bench.report.page import written

EMPTY = "a\n<!-- measured: searches -->\nold\n<!-- end -->\nb\n" + "".join(
    f"<!-- measured: {name} -->\n<!-- end -->\n" for name in ("matches", "memory", "loads")
)


def series(peer: str, rate: float, **more: Any) -> dict[str, Any]:
    known = {"rate": rate, "spread": [rate * 0.9, rate], "p50": 9800, "p99": 25300, "rounds": [{}]}
    return {"workload": "hot", "clients": 8, "peer": peer, **known, **more}


def run(folder: Path, name: str, items: int, held: list[dict[str, Any]]) -> Path:
    file = folder / name
    about = {"at": "2026-11-21T16:53:07+00:00", "commit": "abc1234", "items": items, "machine": {"cores": 2}}
    file.write_text(json.dumps({**about, "series": held}))
    return file


def test_the_page_is_what_its_files_say() -> None:
    files = sorted((paging.PAGE.parent / "measured").glob("*.json"))
    page = paging.PAGE.read_text(encoding="utf-8")
    assert written(page, read(files)) == page, "run `python -m bench page`"


def test_the_command_rewrites_the_regions_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    page = tmp_path / "benchmarks.md"
    page.write_text(EMPTY)
    monkeypatch.setattr(paging, "PAGE", page)
    monkeypatch.setattr(paging, "MEASURED", tmp_path)
    run(tmp_path, "search-1.json", 1_000_000, [series("gear-api", 700.4), series("plain service", 350.2)])
    done = CliRunner().invoke(main, ["page"])
    assert done.exit_code == 0, done.output
    told = page.read_text()
    assert told.startswith("a\n<!-- measured: searches -->\n")
    assert "| `hot` | 8 | 700, 9.80, 25.3 ms | 350, 9.80, 25.3 ms (2.00) |" in told
    assert "[1,000,000 listings](measured/search-1.json)" in told
    assert "medians of 1 rounds, which lie 10% apart in the median and 10% at most." in told
    assert "old" not in told


def test_plots_have_a_bar_for_each_size_and_peer_that_was_measured(tmp_path: Path) -> None:
    small = run(tmp_path, "search-1.json", 100_000, [series("gear-api", 900), series("raw _search", 1234.5)])
    large = run(tmp_path, "search-2.json", 10_000_000, [series("gear-api", 513)])
    told = written(EMPTY, read([large, small]))
    assert (
        'title "hot, 8 clients: requests a second"\n'
        '    x-axis ["100 thousand, gear-api", "100 thousand, raw _search", "10 million, gear-api"]\n'
        "    y-axis 0 --> 1358\n"
        "    bar [900, 1234, 513]\n"
    ) in told
    assert told.count("```mermaid") == 3  # rates, medians and 99th percentiles


def test_walks_tell_their_items_a_second(tmp_path: Path) -> None:
    file = run(tmp_path, "search-1.json", 1000, [series("gear-api", 80.5, workload="export", items=8012.3)])
    assert "| `export` | 8 | 80.5, 9.80, 25.3 ms, 8,012 items/s |" in written(EMPTY, read([file]))


def test_loads_have_a_table_and_a_plot(tmp_path: Path) -> None:
    round_ = {"seconds": 10, "client_seconds": 4, "engine_seconds": 8, "memory": 120.4}
    held = [{"peer": "gear-indexer load", "rate": 20000, "spread": [19000, 21000], "rounds": [round_]}]
    told = written(EMPTY, read([run(tmp_path, "load-1.json", 200_000, held)]))
    assert "| gear-indexer load | 20,000 | 19,000 to 21,000 | 20.0 | 40.0 | 120 |" in told
    assert 'x-axis ["200 thousand, gear-indexer load"]\n    y-axis 0 --> 22000\n    bar [20000]' in told


def test_costs_by_matches_have_a_table_and_a_line_a_peer(tmp_path: Path) -> None:
    told = {100: (1.5, 3.0), 1_000_000: (12.25, 250.0)}
    held = [
        {"matches": matches, "peer": peer, "found": matches, "ms": ms, "p90": ms * 2, "medians": [ms], "searches": 75}
        for matches, times in told.items()
        for peer, ms in zip(("gear-api", "plain service"), times, strict=True)
    ]
    page = written(EMPTY, read([run(tmp_path, "matches-1.json", 1_000_000, held)]))
    assert "| matches | gear-api | plain service |" in page
    assert "| 1,000,000 | 12.2, 24.5 ms | 250, 500 ms (20.41) |" in page
    assert "75 searches of each number of matches." in page
    assert (
        '    title "1 million listings"\n    x-axis ["100", "1 million"]\n    y-axis "ms" 0 --> 275\n'
        "    line [1.5, 12.25]\n    line [3, 250]\n```\n\nBlue: gear-api; orange: plain service."
    ) in page


def test_the_memory_of_a_worker_has_its_verdict_and_its_tenths(tmp_path: Path) -> None:
    tenths = [{"requests": number * 1000, "resident": 120 * 2**20} for number in range(1, 11)]
    kept = {"first": 120 * 2**20, "last": 120 * 2**20, "max": 121 * 2**20, "flat": True, "within": True}
    file = run(tmp_path, "memory-1.json", 1000, [{"requests": 1000, "resident": 120 * 2**20, "rate": 300}])
    file.write_text(json.dumps({**json.loads(file.read_text()), "verdict": {**kept, "tenths": tenths}}))
    page = written(EMPTY, read([file]))
    assert (
        "120.0 MiB in the first tenth after the warm-up, 120.0 MiB in the last: flat. 121.0 MiB at most: within" in page
    )
    assert "| MiB resident | 120.0 |" in page
    assert page.count("```mermaid") == 1
    assert page.count("No run of it is kept yet.") == 3


def test_each_file_has_its_table_and_a_plot_has_what_the_last_one_tells(tmp_path: Path) -> None:
    one = run(tmp_path, "search-1.json", 1000, [series("gear-api", 1)])
    other = run(tmp_path, "search-2.json", 1000, [series("gear-api", 2)])
    told = written(EMPTY, read([one, other]))
    assert told.count("| workload |") == 2
    assert "    bar [2]" in told
    assert "    bar [1]" not in told


def test_what_cannot_be_shown_is_refused(tmp_path: Path) -> None:
    one = run(tmp_path, "search-1.json", 1000, [series("gear-api", 1)])
    with pytest.raises(PageError, match="and not each of"):
        written("no region", read([one]))
    with pytest.raises(PageError, match=r"orders\.json holds no searches"):
        read([run(tmp_path, "orders.json", 1000, [{"database": "SQLite", "rounds": [{}]}])])
