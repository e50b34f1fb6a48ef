"""Questions to the engine: workloads in, the requests by which the service asks the engine for their bodies out."""

import json
from collections.abc import Iterable
from contextlib import closing
from pathlib import Path

from bench.peers import services
from bench.peers.connection import Connection
from bench.recorded import recording
from bench.workloads.bodies import bodies_of, workloads

SEARCH = b"POST /_msearch"
KEEPING_NOTHING = {"GEAR_RESPONSE_CACHE_MIB": "0"}  # so that what is asked twice is asked of the engine twice


def distinct(workload: str, count: int) -> list[bytes]:
    """The first `count` bodies of a workload that differ; raises RuntimeError where there are fewer."""
    found = list(dict.fromkeys(json.dumps(body).encode() for body in bodies_of(workloads()[workload], seed=1)))
    if len(found) < count:
        message = f"`{workload}` has {len(found)} distinct bodies, {count} are asked for: take fewer rounds or bodies"
        raise RuntimeError(message)
    return found[:count]


def sent_for(opensearch_url: str, prefix: str, folder: Path, bodies: Iterable[bytes]) -> list[bytes]:
    """All that the service sends the engine for each of the bodies."""
    found: list[bytes] = []
    with (
        recording(opensearch_url) as recorder,
        services.gear_api(recorder.address, prefix, folder, more=KEEPING_NOTHING) as service,
        closing(Connection(service.address, service.headers)) as ours,
    ):
        for body in bodies:
            recorder.taken()  # what the service asks besides searches
            ours.ask("POST", "/v1/gear/search", body)
            found.append(recorder.taken())
    return found


def recorded(opensearch_url: str, prefix: str, folder: Path, bodies: Iterable[bytes]) -> list[bytes]:
    """The content of the `_msearch` by which the service answers each of the bodies."""
    return [last_search(sent) for sent in sent_for(opensearch_url, prefix, folder, bodies)]


def last_search(sent: bytes) -> bytes:
    """The content of the last `_msearch` in what was sent; raises RuntimeError where there is none."""
    if SEARCH not in sent:
        message = f"the service did not ask by {SEARCH.decode()}: {sent[:200]!r}"
        raise RuntimeError(message)
    head, _, content = sent[sent.rindex(SEARCH) :].partition(b"\r\n\r\n")
    (length,) = (int(line.split(b":")[1]) for line in head.lower().split(b"\r\n") if line.startswith(b"content-length"))
    return content[:length]


def part(content: bytes, number: int) -> bytes:
    """One of the searches in an `_msearch`, by its place: 0 is the page, 1 its number."""
    lines = content.splitlines(keepends=True)
    return b"".join(lines[2 * number : 2 * number + 2])


def to_index(content: bytes, alias: str, index: str) -> bytes:
    """The same, asked of an index instead of the alias."""
    return content.replace(json.dumps([alias]).encode(), json.dumps([index]).encode())


def found_by(answer: bytes) -> list[tuple[int | None, list[str]]]:
    """The number of hits, where it was asked for, and the ids of the page, of each search; raises RuntimeError for a
    search that was not answered by all parts of its index.
    """
    held = []
    for one in json.loads(answer)["responses"]:
        if "error" in one or one["_shards"]["failed"] or one["timed_out"]:
            message = f"a search was not answered: {json.dumps(one)[:500]}"
            raise RuntimeError(message)
        hits = one["hits"]
        held.append((hits.get("total", {}).get("value"), [hit["_id"] for hit in hits["hits"]]))
    return held
