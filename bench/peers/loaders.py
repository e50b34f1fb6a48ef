"""The peers of a load: prepared documents in, an index that has them out; each a process that `bench.runs.load` starts.

`raw` posts bytes that were prepared before, two requests at once: the most that this engine takes of these documents.
`parallel-bulk` is `opensearchpy.helpers.parallel_bulk` as its own page shows it, with the library's defaults.
`plain` is the same from the listings themselves, unchecked, into an index as most teams do (`bench.peers.plain`).
"""

import http.client
import json
import queue
import threading
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import click
from opensearchpy.helpers import parallel_bulk

from bench import data
from bench.peers.plain import client_of, load
from mappings.connection import SearchSettings, connect

RAW_BYTES = 4 * 1024 * 1024
RAW_REQUESTS = 2


def raw_chunks(file: Path) -> Iterator[bytes]:
    """Prepared documents with their action lines, about 4 MiB a piece."""
    held: list[bytes] = []
    size = 0
    with file.open("rb") as lines:
        for line in lines:
            held.append(line)
            size += len(line)
            if size >= RAW_BYTES and len(held) % 2 == 0:
                yield b"".join(held)
                held, size = [], 0
    if held:
        yield b"".join(held)


def raw(file: Path, url: str, index: str) -> None:
    """Posts the file's bytes; raises RuntimeError where an item was not taken."""
    waiting: queue.Queue[bytes | None] = queue.Queue(RAW_REQUESTS)
    failures: list[str] = []

    def post() -> None:
        parts = urlsplit(url)
        connection = http.client.HTTPConnection(parts.hostname or "", parts.port)
        while (content := waiting.get()) is not None:
            headers = {"content-type": "application/x-ndjson"}
            connection.request("POST", f"/{index}/_bulk?filter_path=errors", content, headers)
            answer = connection.getresponse().read()
            if answer != b'{"errors":false}':
                failures.append(answer.decode(errors="replace"))
        connection.close()

    senders = [threading.Thread(target=post) for _ in range(RAW_REQUESTS)]
    for sender in senders:
        sender.start()
    for chunk in raw_chunks(file):
        waiting.put(chunk)
    for _ in senders:
        waiting.put(None)
    for sender in senders:
        sender.join()
    if failures:
        raise RuntimeError(failures[0])


def actions(file: Path) -> Iterator[dict[str, Any]]:
    """The prepared documents as `parallel_bulk` wants them."""
    with file.open("rb") as lines:
        while pair := list(islice(lines, 2)):
            yield {"_id": json.loads(pair[0])["index"]["_id"], "_source": json.loads(pair[1])}


def by_parallel_bulk(file: Path, url: str, index: str) -> None:
    """Sends the file's documents; raises the library's error where an item was not taken."""
    for _ in parallel_bulk(client_of(url), actions(file), index=index):
        pass


@click.command()
@click.argument("peer", type=click.Choice(("raw", "parallel-bulk", "plain")))
@click.argument("file", type=click.Path(exists=True, path_type=Path))
@click.argument("url")
@click.argument("index")
def main(peer: str, file: Path, url: str, index: str) -> None:
    """Fills INDEX, which must exist unless the peer makes it, and makes all of it visible to searches."""
    if peer == "plain":
        load(client_of(url), index, data.items(file))
        return
    (raw if peer == "raw" else by_parallel_bulk)(file, url, index)
    connect(SearchSettings(_env_file=None, opensearch_url=url), timeout=600).indices.refresh(index=index)


if __name__ == "__main__":
    main()
