"""A pid file is believed only as long as its process is the one that wrote it."""

import os
from dataclasses import replace
from pathlib import Path

import pytest

from node.errors import NodeError
from node.folders import Folders
from node.machine.system import started_at
from node.process.preflight import check_same
from node.process.record import Record, is_running, read_record, write_record
from node.settings import read_settings


@pytest.fixture
def ourselves() -> Record:
    began = started_at(os.getpid())
    assert began is not None
    return Record(pid=os.getpid(), started=began, port=9201, heap="512m", jvm="laptop", java="/jre")


def test_what_was_written_is_read(tmp_path: Path, ourselves: Record) -> None:
    path = tmp_path / "node.json"
    assert read_record(path) is None
    write_record(path, ourselves)
    assert read_record(path) == ourselves
    assert [file.name for file in tmp_path.iterdir()] == ["node.json"]
    assert ourselves.url == "http://127.0.0.1:9201"


def test_a_number_that_another_process_has_now_is_stale(tmp_path: Path, ourselves: Record) -> None:
    assert is_running(ourselves, tmp_path)
    assert not is_running(replace(ourselves, started=ourselves.started - 3600), tmp_path)


@pytest.mark.parametrize("text", ["", "123", "[]", '{"pid": 1}', "\x00"])
def test_another_file_under_that_name_is_not_guessed_at(tmp_path: Path, text: str) -> None:
    path = tmp_path / "node.json"
    path.write_text(text)
    with pytest.raises(NodeError, match="is not a pid file of gear-node: make sure that no OpenSearch runs"):
        read_record(path)


def test_a_running_node_is_not_taken_for_another_one(tmp_path: Path, ourselves: Record) -> None:
    folders = Folders(home=tmp_path, cache=tmp_path, account=None)
    check_same(ourselves, read_settings(port=9201, heap="512m"), folders)
    with pytest.raises(NodeError, match="runs already with port 9201, not 9202: stop it first"):
        check_same(ourselves, read_settings(port=9202), folders)
    with pytest.raises(NodeError, match="runs already with heap 512m, not 1g"):
        check_same(ourselves, read_settings(port=9201, heap="1g"), folders)
