"""The page of the benchmarks and its picture show what the JSON files of the runs hold."""

import json
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from click.testing import CliRunner

from bench.__main__ import main
from bench.report import page as benchmarks_page
from bench.report import summary
from bench.report.page import DOCS, MEASURED, REGIONS, page, write
from bench.report.results import Measured, PageError, read

EMPTY = "a\n" + "".join(f"<!-- measured: {name} -->\nold\n<!-- end -->\n" for name in REGIONS) + "b\n"


def series(peer: str, rate: float, **more: Any) -> dict[str, Any]:
    numbers = {"rate": rate, "spread": [rate * 0.9, rate], "p50": 9800, "p99": 25300, "rounds": [{}]}
    return {"workload": "hot", "clients": 8, "peer": peer, **numbers, **more}


def measured(items: int, rows: list[dict[str, Any]], **more: Any) -> Measured:
    circumstances = {"at": "2026-11-21T16:53:07+00:00", "commit": "abc1234", "items": items, "machine": {"cores": 2}}
    return Measured("search-1.json", {**circumstances, "series": rows, **more})


def files() -> list[Measured]:
    return read(sorted(MEASURED.glob("*.json")))


def test_the_page_and_its_picture_show_the_measured_files() -> None:
    text = (DOCS / "benchmarks.md").read_text(encoding="utf-8")
    assert page(text, files()) == text, "run `python -m bench page`"
    assert (DOCS / "benchmarks.svg").read_text(encoding="utf-8") == summary.picture(files()), (
        "run `python -m bench page`"
    )


def test_the_page_begins_with_five_lines_and_a_picture() -> None:
    head, _, _ = (DOCS / "benchmarks.md").read_text(encoding="utf-8").partition("\n## ")
    assert head.count("\n- **") == 5
    assert head.count("](benchmarks.svg)") == 1
    assert "commit" not in head
    assert max(len(line) for line in head.splitlines()) <= 120


def test_the_regions_alone_are_written(tmp_path: Path) -> None:
    (tmp_path / "benchmarks.md").write_text(EMPTY, encoding="utf-8")
    write(files(), tmp_path)
    text = (tmp_path / "benchmarks.md").read_text(encoding="utf-8")
    assert text.startswith("a\n<!-- measured: summary -->\n\n- **")
    assert text.endswith("<!-- end -->\nb\n")
    assert "\nold\n" not in text
    assert (tmp_path / "benchmarks.svg").exists()


def test_the_command_leaves_a_page_that_is_up_to_date() -> None:
    before = (DOCS / "benchmarks.md").read_text(encoding="utf-8")
    done = CliRunner().invoke(main, ["page"])
    assert done.exit_code == 0, done.output
    assert (DOCS / "benchmarks.md").read_text(encoding="utf-8") == before


def test_the_picture_has_a_bar_for_each_peer_of_each_size() -> None:
    drawn = ElementTree.fromstring(summary.picture(files()))
    texts = [element.text or "" for element in drawn.iter("{http://www.w3.org/2000/svg}text")]
    assert texts.count("this service") == texts.count("plain service") == 4
    assert sum(text.startswith("independent service, commit ") for text in texts) == 2
    assert texts.count("1.0 ×") >= 4, "the plain service is the measure"


def test_the_summary_is_of_the_newest_run_that_has_the_peer() -> None:
    old = [series("gear-api", 100), series("plain service", 50), series("stac-fastapi.opensearch", 10)]
    new = [series("gear-api", 90), series("plain service", 60)]
    runs = [
        measured(1000, new, at="2026-11-26T10:00:00+00:00", commit="newer"),
        measured(1000, old, at="2026-11-22T10:00:00+00:00", commit="older"),
    ]
    newest = summary.comparison(runs, 1000, "hot")
    assert (newest.ratio("plain service"), newest.commit) == (1.5, "commit newer")
    independent = summary.comparison(runs, 1000, "hot", peer="stac-fastapi.opensearch")
    assert (independent.ratio("stac-fastapi.opensearch"), independent.commit) == (10, "commit older")


def test_searches_have_a_row_for_each_workload_and_a_ratio_for_each_peer() -> None:
    table = benchmarks_page.searches([measured(1_000_000, [series("gear-api", 700.4), series("plain service", 350.2)])])
    assert "| `hot` | 8 | 700, 9.80, 25.3 ms | 350, 9.80, 25.3 ms (2.00) |" in table
    assert "[1,000,000 listings](measured/search-1.json): 2026-11-21, commit `abc1234`, 2 cores; one round." in table


def test_rounds_are_shown_with_their_spread() -> None:
    rows = [series("gear-api", 100, rounds=[{}, {}])]
    assert "; medians of 2 rounds, 10% apart in the median, 10% at most." in benchmarks_page.searches(
        [measured(1000, rows)]
    )


def test_whole_results_have_their_items_a_second() -> None:
    rows = [series("gear-api", 80.5, workload="export", items=8012.3)]
    assert "| `export` | 8 | 80.5, 9.80, 25.3 ms, 8,012 items/s |" in benchmarks_page.searches([measured(1000, rows)])


def test_loads_have_a_table() -> None:
    round_ = {"seconds": 10, "client_seconds": 4, "engine_seconds": 8, "memory": 120.4}
    row = {"peer": "gear-indexer load", "rate": 20000, "spread": [19000, 21000], "rounds": [round_]}
    table = benchmarks_page.loads([measured(200_000, [row])])
    assert "| gear-indexer load | 20,000 | 19,000 to 21,000 | 20.0 | 40.0 | 120 |" in table


def test_changes_have_a_table_for_each_part() -> None:
    rate = {"rate": 5000.0, "spread": [4900.0, 5100.0], "rounds": [{}, {}]}
    rows = [
        {"part": "writes", "name": "gear-indexer load", **rate},
        {"part": "writes", "name": "PUT", **rate, "rate": 2500.0},
        {"part": "latency", "name": "alone", "p50": 0.5, "p90": 0.8, "p99": 1.2, "max": 1.25, "rounds": [{}, {}]},
        {"part": "cheapest", "name": "count 1", **rate, "p50": 0.0812, "p99": 0.2},
    ]
    text = benchmarks_page.changes([measured(1000, rows)])
    assert "; medians of 2 rounds." in text
    assert "| PUT | 2,500 | 4,900 to 5,100 | 0.50 |" in text
    assert "| alone | 0.50 | 0.80 | 1.20 | 1.25 |" in text
    assert "| count 1 | 5,000 | 4,900 to 5,100 | 81.2 | 200 |" in text


def test_a_run_at_size_has_a_row_for_each_phase() -> None:
    rows = [{"phase": "a node killed", "load": 3.1, "figures": {"s until it is noticed": 2.5, "copies on it": 1200}}]
    text = benchmarks_page.at_size([measured(1000, rows, nodes=3, heap="1g", shards=4)])
    assert "; 3 nodes with 1g of heap each, 4 shards." in text
    assert "| a node killed | s until it is noticed 2.5; copies on it 1,200 |" in text


def test_what_cannot_be_shown_is_refused(tmp_path: Path) -> None:
    with pytest.raises(PageError, match="and not each of"):
        page("no region", [])
    with pytest.raises(PageError, match="for the summary"):
        summary.sentences([measured(1000, [series("gear-api", 1)])])
    file = tmp_path / "orders.json"
    file.write_text(json.dumps({"items": 1000, "series": [{"database": "SQLite", "rounds": [{}]}]}))
    with pytest.raises(PageError, match=r"orders\.json holds no searches"):
        read([file])
