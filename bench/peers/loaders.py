"""The clients of a load benchmark, each started as a process by `bench.runs.load`.

- `raw` posts prepared documents, two requests at once: the most that this engine takes of them.
- `parallel-bulk` is `opensearchpy.helpers.parallel_bulk` with the library's defaults.
- `plain` is the same from the listings themselves, unchecked, into the plain service's index (`bench.peers.plain`).
"""

from collections.abc import Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from itertools import islice
from pathlib import Path
from typing import Any

import click
import orjson
import urllib3
from opensearchpy.helpers import parallel_bulk

from bench.peers import plain
from bench.peers.data import engine_client, read_items

RAW_BYTES = 4 * 1024 * 1024
RAW_REQUESTS = 2


def chunks(lines: Iterable[bytes]) -> Iterator[bytes]:
    """Prepared documents with their action lines, RAW_BYTES or a little more a piece."""
    chunk: list[bytes] = []
    length = 0
    for line in lines:
        chunk.append(line)
        length += len(line)
        if length >= RAW_BYTES and len(chunk) % 2 == 0:
            yield b"".join(chunk)
            chunk, length = [], 0
    if chunk:
        yield b"".join(chunk)


def send_raw(file: Path, url: str, index: str) -> None:
    """Posts the file's bytes; raises RuntimeError where a document was not taken."""
    pool = urllib3.PoolManager(maxsize=RAW_REQUESTS, timeout=600, retries=False)
    headers = {"content-type": "application/x-ndjson"}

    def post(content: bytes) -> None:
        response = pool.request("POST", f"{url}/{index}/_bulk?filter_path=errors", body=content, headers=headers)
        if response.data != b'{"errors":false}':
            raise RuntimeError(response.data.decode(errors="replace"))

    with file.open("rb") as lines, ThreadPoolExecutor(RAW_REQUESTS) as executor:
        pending: set[Future[None]] = set()
        for chunk in chunks(lines):
            pending.add(executor.submit(post, chunk))
            if len(pending) > RAW_REQUESTS:
                done, pending = wait(pending, return_when=FIRST_COMPLETED)
                for future in done:
                    future.result()
        for future in pending:
            future.result()


def prepared_actions(file: Path) -> Iterator[dict[str, Any]]:
    """The prepared documents in the form that `parallel_bulk` takes."""
    with file.open("rb") as lines:
        while pair := list(islice(lines, 2)):
            yield {"_id": orjson.loads(pair[0])["index"]["_id"], "_source": orjson.loads(pair[1])}


@click.command()
@click.argument("peer", type=click.Choice(("raw", "parallel-bulk", "plain")))
@click.argument("file", type=click.Path(exists=True, path_type=Path))
@click.argument("url")
@click.argument("index")
def main(peer: str, file: Path, url: str, index: str) -> None:
    """Fills INDEX, which must exist unless the peer makes it, and makes all of it visible to searches."""
    if peer == "plain":
        plain.load(plain.client_of(url), index, read_items(file))
        return
    if peer == "raw":
        send_raw(file, url, index)
    else:
        for _ in parallel_bulk(plain.client_of(url), prepared_actions(file), index=index):
            pass  # it raises where a document was not taken
    engine_client(url).indices.refresh(index=index)


if __name__ == "__main__":
    main()
