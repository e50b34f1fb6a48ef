"""Settings come from options and the environment, and a wrong one is told by name."""

from pathlib import Path

import pytest

from node.errors import NodeError
from node.settings import heap_bytes, read_settings


@pytest.fixture(autouse=True)
def _elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)  # no .env of this checkout
    for name in ("GEAR_NODE_PORT", "GEAR_NODE_DIR", "GEAR_NODE_HEAP", "GEAR_NODE_JVM"):
        monkeypatch.delenv(name, raising=False)


def test_nothing_needs_to_be_set() -> None:
    settings = read_settings()
    assert (settings.port, settings.heap, settings.jvm, settings.dir) == (9200, "512m", "laptop", None)
    assert settings.model_fields_set == set()


def test_an_option_beats_the_environment_and_that_beats_the_file(monkeypatch: pytest.MonkeyPatch) -> None:
    Path(".env").write_text("GEAR_NODE_PORT=9301\nGEAR_NODE_HEAP=1g\nGEAR_OPENSEARCH_URL=http://elsewhere\n")
    monkeypatch.setenv("GEAR_NODE_PORT", "9302")
    assert read_settings().port == 9302
    assert read_settings(port=9303).port == 9303
    assert read_settings(port=None).heap == "1g"


def test_an_empty_variable_is_as_good_as_none(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GEAR_NODE_DIR", "")
    assert read_settings().dir is None


def test_folders_are_meant_from_where_the_command_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert read_settings(dir=Path("here")).dir == tmp_path / "here"
    monkeypatch.setenv("HOME", str(tmp_path))
    assert read_settings(dir=Path("~/there")).dir == tmp_path / "there"


@pytest.mark.parametrize(
    ("wrong", "sentence"),
    [
        ({"heap": "lots"}, "heap: 'lots' is no size: write a whole number with m or g"),
        ({"heap": "100m"}, "heap: 100m is too small for OpenSearch: give it 256m at least"),
        ({"port": 80}, "port: Input should be greater than or equal to 1024"),
        ({"port": 70000}, "port: Input should be less than or equal to 65535"),
        ({"jvm": "huge"}, "jvm: Input should be 'laptop' or 'full'"),
        ({"timeout": 0}, "timeout: Input should be greater than 0"),
    ],
)
def test_a_wrong_setting_is_reported_by_name(wrong: dict[str, object], sentence: str) -> None:
    with pytest.raises(NodeError) as caught:
        read_settings(**wrong)
    assert sentence in str(caught.value)


def test_sizes_are_binary_as_java_reads_them() -> None:
    assert heap_bytes("512m") == 536_870_912
    assert heap_bytes("2G") == 2_147_483_648
