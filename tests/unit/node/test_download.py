"""Whoever starts a node on a bad network gets the right bytes in the end, or a sentence that says why not."""

import hashlib
from pathlib import Path

import pytest

from node.download import addresses, fetch
from node.errors import DamagedDownloadError, UnreachableError
from node.pins import PINNED_FILES, PinnedFile
from node.talk import QuietTalk
from tests.support.node.listener import Listener
from tests.support.node.repository import Repository, serving

BODY = bytes(range(256)) * 4096
PINNED = PinnedFile("org.example", "thing", "1.0", "zip", len(BODY), hashlib.sha256(BODY).hexdigest())


def fetched(folder: Path, repository: Repository, talk: QuietTalk | None = None) -> bytes:
    return fetch(PINNED, folder, [repository.url], talk or QuietTalk()).read_bytes()


def test_a_file_arrives_and_a_second_time_needs_no_network(tmp_path: Path) -> None:
    with serving(Repository(BODY)) as repository:
        assert fetched(tmp_path, repository) == BODY
        assert fetched(tmp_path, repository) == BODY
        assert repository.ranges == [None]
    assert [path.name for path in tmp_path.iterdir()] == ["thing-1.0.zip"]


def test_a_broken_connection_goes_on_where_it_stopped(tmp_path: Path) -> None:
    talk = Listener()
    with serving(Repository(BODY, ["break:300000", "break:200000"])) as repository:
        assert fetched(tmp_path, repository, talk) == BODY
        # What came in after the last full chunk of 64 KiB is asked for again.
        assert repository.ranges == [None, "bytes=262144-", "bytes=458752-"]
    assert "going on at 0.3 MB" in talk.said[0]


def test_what_an_interrupted_start_left_is_not_fetched_again(tmp_path: Path) -> None:
    (tmp_path / "thing-1.0.zip.part").write_bytes(BODY[:400000])
    with serving(Repository(BODY)) as repository:
        assert fetched(tmp_path, repository) == BODY
        assert repository.ranges == ["bytes=400000-"]


def test_a_complete_part_is_only_checked(tmp_path: Path) -> None:
    (tmp_path / "thing-1.0.zip.part").write_bytes(BODY)
    with serving(Repository(BODY)) as repository:
        assert fetched(tmp_path, repository) == BODY
        assert repository.ranges == []


@pytest.mark.parametrize("left", [b"x" * 1000, b"x" * len(BODY), BODY + b"x"], ids=["short", "full", "longer"])
def test_a_damaged_part_starts_again_from_zero(tmp_path: Path, left: bytes) -> None:
    (tmp_path / "thing-1.0.zip.part").write_bytes(left)
    talk = Listener()
    with serving(Repository(BODY)) as repository:
        assert fetched(tmp_path, repository, talk) == BODY
        assert repository.ranges[-1] is None
    assert "starting again from zero" in talk.said[-1]


def test_a_damaged_file_in_the_cache_is_fetched_again(tmp_path: Path) -> None:
    (tmp_path / "thing-1.0.zip").write_bytes(b"x" + BODY[1:])
    talk = Listener()
    with serving(Repository(BODY)) as repository:
        assert fetched(tmp_path, repository, talk) == BODY
    assert "is damaged" in talk.said[0]


@pytest.mark.parametrize("misdeed", ["whole", "shifted", "416"])
def test_a_server_that_cannot_go_on_is_asked_for_the_whole_file(tmp_path: Path, misdeed: str) -> None:
    (tmp_path / "thing-1.0.zip.part").write_bytes(BODY[:400000])
    with serving(Repository(BODY, [misdeed])) as repository:
        assert fetched(tmp_path, repository) == BODY


def test_a_server_that_neither_goes_on_nor_delivers_is_given_up(tmp_path: Path) -> None:
    with serving(Repository(BODY, ["break:200000", "416"] * 5)) as repository:
        with pytest.raises(UnreachableError, match="cannot go on where a download stopped"):
            fetched(tmp_path, repository)
        assert len(repository.ranges) == 4


def test_bytes_with_another_hash_are_refused_and_not_kept(tmp_path: Path) -> None:
    with (
        serving(Repository(BODY[::-1])) as repository,
        pytest.raises(DamagedDownloadError, match=f"pinned is {PINNED.sha256}: nothing was kept"),
    ):
        fetched(tmp_path, repository)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("body", [BODY + b"more", BODY[:-1], b"<html>"], ids=["longer", "shorter", "a page"])
def test_a_file_of_another_length_is_never_taken(tmp_path: Path, body: bytes) -> None:
    with serving(Repository(body)) as repository:
        with pytest.raises(UnreachableError, match=f"has {len(body)} bytes, the pinned one {len(BODY)}"):
            fetched(tmp_path, repository)
        assert repository.ranges == [None]
    assert not (tmp_path / "thing-1.0.zip").exists()


def test_a_file_that_is_not_there_is_told_with_the_address(tmp_path: Path) -> None:
    with serving(Repository(BODY, ["404"])) as repository:
        with pytest.raises(UnreachableError, match=rf"org.example:thing:1.0 \({repository.url}: HTTP 404"):
            fetched(tmp_path, repository)
        assert repository.ranges == [None]


def test_the_next_address_is_asked_when_the_first_has_no_such_file(tmp_path: Path) -> None:
    with serving(Repository(b"", ["404"])) as empty, serving(Repository(BODY)) as full:
        assert fetch(PINNED, tmp_path, [empty.url, full.url], QuietTalk()).read_bytes() == BODY


def test_a_moment_of_trouble_at_the_server_is_waited_out(tmp_path: Path) -> None:
    with serving(Repository(BODY, ["503", "429"])) as repository:
        assert fetched(tmp_path, repository) == BODY


def test_without_a_network_what_arrived_is_kept_and_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("node.download.ATTEMPTS", 2)
    (tmp_path / "thing-1.0.zip.part").write_bytes(BODY[:500000])
    with serving(Repository(BODY)) as repository:
        gone = repository.url
    with pytest.raises(UnreachableError, match=r"0\.5 MB are kept, the next start goes on from there"):
        fetch(PINNED, tmp_path, [gone], QuietTalk())
    assert (tmp_path / "thing-1.0.zip.part").read_bytes() == BODY[:500000]


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
