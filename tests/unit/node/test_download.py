"""Whoever starts a node on a bad network gets the right bytes in the end, or a sentence that says why not."""

import hashlib
from pathlib import Path

import pytest

from node.errors import NodeError
from node.server.download import addresses, fetch, remove_fragments
from node.server.pins import PINNED_FILES, PinnedFile
from tests.support.node.repository import Repository, serving

BODY = bytes(range(256)) * 4096
PINNED = PinnedFile("org.example", "thing", "1.0", "zip", len(BODY), hashlib.sha256(BODY).hexdigest())


def fetched(folder: Path, repository: Repository, messages: list[str] | None = None, retries: int = 1) -> bytes:
    say = (messages if messages is not None else []).append
    return fetch(PINNED, folder, [repository.url], say, retries=retries).read_bytes()


def test_a_file_arrives_and_a_second_time_needs_no_network(tmp_path: Path) -> None:
    with serving(Repository(BODY)) as repository:
        assert fetched(tmp_path, repository) == BODY
        assert fetched(tmp_path, repository) == BODY
        assert repository.requests == 1
    assert [path.name for path in tmp_path.iterdir()] == ["thing-1.0.zip"]


def test_a_broken_connection_starts_the_download_again(tmp_path: Path) -> None:
    with serving(Repository(BODY, ["break:300000"])) as repository:
        assert fetched(tmp_path, repository) == BODY
        assert repository.requests == 2
    assert [path.name for path in tmp_path.iterdir()] == ["thing-1.0.zip"]


def test_what_a_killed_download_left_is_removed(tmp_path: Path) -> None:
    (tmp_path / "tmp4711").write_bytes(BODY[:400000])
    (tmp_path / PINNED_FILES[0].filename).write_bytes(b"x")
    remove_fragments(tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == [PINNED_FILES[0].filename]


def test_a_damaged_file_in_the_cache_is_fetched_again(tmp_path: Path) -> None:
    (tmp_path / "thing-1.0.zip").write_bytes(b"x" + BODY[1:])
    messages: list[str] = []
    with serving(Repository(BODY)) as repository:
        assert fetched(tmp_path, repository, messages) == BODY
    assert "is damaged" in messages[0]
    assert messages[1] == "fetching thing-1.0.zip: 1.0 MB"


@pytest.mark.parametrize(
    "body", [BODY[::-1], BODY + b"more", BODY[:-1], b"<html>"], ids=["other", "longer", "shorter", "a page"]
)
def test_bytes_with_another_hash_are_refused_and_not_stored(tmp_path: Path, body: bytes) -> None:
    with (
        serving(Repository(body)) as repository,
        pytest.raises(NodeError, match=f"the pinned {PINNED.sha256}: nothing was kept"),
    ):
        fetched(tmp_path, repository, retries=0)
    assert list(tmp_path.iterdir()) == []


def test_a_file_that_is_not_there_is_reported_with_the_address(tmp_path: Path) -> None:
    with (
        serving(Repository(BODY, ["404"])) as repository,
        pytest.raises(NodeError, match=rf"org.example:thing:1.0 \({repository.url}: HTTP 404"),
    ):
        fetched(tmp_path, repository, retries=0)


def test_the_next_address_is_tried_when_the_first_has_no_such_file(tmp_path: Path) -> None:
    with serving(Repository(b"", ["404"])) as empty, serving(Repository(BODY)) as full:
        target = fetch(PINNED, tmp_path, [empty.url, full.url], print, retries=0)
        assert target.read_bytes() == BODY


def test_a_server_in_trouble_for_a_while_is_waited_for(tmp_path: Path) -> None:
    with serving(Repository(BODY, ["503"])) as repository:
        assert fetched(tmp_path, repository) == BODY


def test_without_a_network_it_says_so_and_leaves_nothing(tmp_path: Path) -> None:
    with serving(Repository(BODY)) as repository:
        unreachable = repository.url
    with pytest.raises(NodeError, match="once fetched, no network is needed again"):
        fetch(PINNED, tmp_path, [unreachable], print, retries=0)
    assert list(tmp_path.iterdir()) == []


def test_a_mirror_replaces_the_usual_repositories() -> None:
    assert addresses(PINNED, "http://mirror.example/maven/") == [
        "http://mirror.example/maven/org/example/thing/1.0/thing-1.0.zip"
    ]


@pytest.mark.parametrize("pinned", PINNED_FILES, ids=lambda pinned: pinned.coordinates)
def test_every_pinned_file_has_an_address_and_a_hash_of_our_own(pinned: PinnedFile) -> None:
    (address,) = addresses(pinned, None)
    assert address.startswith("https://")
    assert address.endswith(f"/{pinned.version}/{pinned.filename}")
    assert len(bytes.fromhex(pinned.sha256)) == hashlib.sha256().digest_size
    assert pinned.sha256 == pinned.sha256.lower()
    assert pinned.size > 0
