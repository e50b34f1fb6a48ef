"""Attachments, nested or flat: made-up listings in; the speed of loading, sizes, and times of the same questions out.

Each variant gets an index of its own, removed at the end. They are loaded and asked in turns, so that what else the
machine does falls on all of them, and must find the same numbers.
"""

import json
import statistics
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import orjson
from opensearchpy import OpenSearch
from rich.console import Console
from rich.table import Table

from indexer.documents.checked_item import item_from_json
from indexer.documents.document import index_document
from indexer.sample.catalogue import read_catalogue
from indexer.sample.generator import Sampler
from mappings.attachments import SEPARATOR, count_token, name_key, other_range, ranked_range, wear_key
from mappings.connection import SearchSettings, connect
from mappings.definition import read_definition
from mappings.platforms import read_platforms

Document = dict[str, Any]
Clause = dict[str, Any]
Attachments = list[tuple[str, float | None]]  # names and wears
CHUNK_BYTES = 4 * 1024 * 1024
PREFIX = "bench-attachments"
SLICES = 20
NAMES = 40  # stickers asked for, from famous to rare
WITHOUT_WEAR = "~"  # sorts behind every wear


@dataclass(frozen=True)
class Variant:
    """One encoding: what it makes of a document and of the mapping, and how it asks for a name, wear and count."""

    document: Callable[[Document, Attachments], Document]
    properties: dict[str, Any]
    ask: Callable[[str, float | None, float | None, int], Clause]


def nested_document(document: Document, attachments: Attachments) -> Document:
    """Each attachment as a document of its own below the item's."""
    return {**document, "attachments": [{"name": name, "wear": wear} for name, wear in attachments]}


def nested_ask(name: str, low: float | None, high: float | None, count: int) -> Clause:
    """Children are counted by adding up a score of 1 for each."""
    bounds = {key: bound for key, bound in (("gte", low), ("lte", high)) if bound is not None}
    conditions: list[Clause] = [{"term": {"attachments.name": name}}]
    if bounds:
        conditions.append({"range": {"attachments.wear": bounds}})
    inner: Clause = {"bool": {"filter": conditions}}
    if count == 1:
        return {"nested": {"path": "attachments", "query": inner}}
    scored = {"constant_score": {"filter": inner, "boost": 1}}
    return {
        "function_score": {
            "query": {"nested": {"path": "attachments", "score_mode": "sum", "query": scored}},
            "min_score": count,
        }
    }


def ranks_document(document: Document, attachments: Attachments) -> Document:
    """Flat, without the tokens that only count; what has no wear is ranked last."""
    wears: dict[str, list[float | None]] = {}
    for name, wear in attachments:
        wears.setdefault(name_key(name), []).append(wear)
    tokens = []
    for key, held in wears.items():
        worn = sorted(wear_key(wear) for wear in held if wear is not None)
        ranked = worn + [WITHOUT_WEAR] * (len(held) - len(worn))
        tokens += [f"{key}{SEPARATOR}{count}:{wear}" for count, wear in enumerate(ranked, start=1)]
        tokens += [f"{key}{SEPARATOR}+:{wear}" for wear in worn[1:]]
    return {**document, "attachments": tokens}


def ranks_ask(name: str, low: float | None, high: float | None, count: int) -> Clause:
    """A number of copies is a range over everything of one rank."""
    if low is None and high is None:
        start = count_token(name, count)
        return {"range": {"attachments": {"gte": f"{start}:", "lte": f"{start}:{WITHOUT_WEAR}"}}}
    return flat_ask(name, low, high, count)


def flat_ask(name: str, low: float | None, high: float | None, count: int) -> Clause:
    """As the service asks."""
    if low is None and high is None:
        return {"term": {"attachments": count_token(name, count)}}
    ends = [ranked_range(name, count, low or 0.0, 1.0 if high is None else high)]
    if low is not None:
        ends.append(other_range(name, low, 1.0 if high is None else high))
    return {"bool": {"should": [{"range": {"attachments": {"gte": first, "lte": last}}} for first, last in ends]}}


_KEYWORD = {"type": "keyword", "doc_values": False}
_NESTED = {
    "type": "nested",
    "properties": {
        "name": {"type": "keyword", "normalizer": "folded", "doc_values": False},
        "wear": {"type": "double", "doc_values": False},
    },
}
VARIANTS = {
    "nested": Variant(nested_document, _NESTED, nested_ask),
    "ranks": Variant(ranks_document, _KEYWORD, ranks_ask),
    "flat": Variant(lambda document, _: document, _KEYWORD, flat_ask),
}


def documents(catalogue: Path, count: int, seed: int) -> Iterator[tuple[Document, Attachments]]:
    """The documents of `gear-indexer sample`, each with its attachments."""
    platform = read_platforms().by_id(730)
    if platform is None:
        message = "platform 730 is not among the platform files"
        raise SystemExit(message)
    for batch in Sampler(read_catalogue(catalogue), platform, seed).batches(count):
        for line in batch.splitlines():
            item = item_from_json(line)
            document = index_document(item, platform) | {"item": orjson.Fragment(item.answer)}
            yield document, [(one.name, one.wear) for one in item.attachments]


def written(catalogue: Path, count: int, seed: int, targets: list[tuple[Variant, Path]]) -> list[str]:
    """Bulk lines for each variant, so that a load measures the engine alone; names of stickers, from famous to rare."""
    seen: Counter[str] = Counter()
    with ExitStack() as stack:
        files = [(variant, stack.enter_context(path.open("wb"))) for variant, path in targets]
        for document, attachments in documents(catalogue, count, seed):
            seen.update(name for name, _ in attachments)
            head = b'{"index":{"_id":"%d"}}\n' % document["id"]
            for variant, file in files:
                file.write(
                    head + orjson.dumps(variant.document(document, attachments), option=orjson.OPT_APPEND_NEWLINE)
                )
    by_fame = [name for name, _ in sorted(seen.items(), key=lambda one: (-one[1], one[0]))]
    return [by_fame[len(by_fame) * place**2 // NAMES**2] for place in range(NAMES)]


def create(client: OpenSearch, index: str, variant: Variant) -> None:
    """A new index for a variant, as a load makes it."""
    body = read_definition().create_body()
    body["settings"]["index"] |= {"refresh_interval": "-1", "auto_expand_replicas": "false", "number_of_replicas": 0}
    body["mappings"]["properties"] |= {"attachments": variant.properties}
    client.indices.create(index=index, body=body)


def load_in_turns(client: OpenSearch, indices: dict[str, Path], count: int) -> dict[str, float]:
    """Fills the indices by slices in turn, two requests on their way; the seconds that each has taken."""
    seconds = dict.fromkeys(indices, 0.0)
    with ExitStack() as stack, ThreadPoolExecutor(2) as pool:
        files = {index: stack.enter_context(path.open("rb")) for index, path in indices.items()}
        for _ in range(SLICES):
            for index, file in files.items():
                chunk_lines = max(2, 2 * (CHUNK_BYTES * count // indices[index].stat().st_size))
                began = time.monotonic()
                left = 2 * -(-count // SLICES)
                running = []
                while left > 0 and (lines := b"".join(islice(file, min(left, chunk_lines)))):
                    left -= chunk_lines
                    running.append(pool.submit(sent, client, index, lines))
                    if len(running) > 2:
                        running.pop(0).result()
                for future in running:
                    future.result()
                seconds[index] += time.monotonic() - began
    return seconds


def merged(client: OpenSearch, index: str) -> dict[str, Any]:
    """Makes the index one segment; its size, and the seconds that the engine's threads took to index."""
    client.indices.forcemerge(index=index, params={"max_num_segments": "1"})
    client.indices.refresh(index=index)
    shards = client.indices.segments(index=index)["indices"][index]["shards"].values()
    searched = [one for (shard,) in shards for one in shard["segments"].values() if one["search"]]
    indexing = client.indices.stats(index=index, metric="indexing")["_all"]["primaries"]["indexing"]
    return {
        "mebibytes": round(sum(one["size_in_bytes"] for one in searched) / 2**20),
        "segments": len(searched),
        "indexingSeconds": round(indexing["index_time_in_millis"] / 1000, 1),
    }


def sent(client: OpenSearch, index: str, lines: bytes) -> None:
    """Sends one request; raises SystemExit where the engine refuses a document."""
    answer = client.bulk(body=lines, index=index, params={"filter_path": "errors,items.*.error"})
    if answer["errors"]:
        message = f"the engine refused documents: {json.dumps(answer)[:500]}"
        raise SystemExit(message)


def questions(variant: Variant, names: list[str]) -> dict[str, list[dict[str, Any]]]:
    """The bodies of each kind of question; a question is asked anew each time, so that no cache answers."""
    counts: dict[str, Callable[[str], Clause]] = {
        "one of a name": lambda name: variant.ask(name, None, None, 1),
        "wear up to 0.1": lambda name: variant.ask(name, None, 0.1, 1),
        "wear 0.05 to 0.2": lambda name: variant.ask(name, 0.05, 0.2, 1),
        "four of a name": lambda name: variant.ask(name, None, None, 4),
        "four up to 0.5": lambda name: variant.ask(name, None, 0.5, 4),
    }
    asked = {kind: [counted(clause(name)) for name in names] for kind, clause in counts.items()}
    exteriors = {"terms": {"exterior.folded": ["factory new", "minimal wear"]}}
    ranges = [{"range": {"price": {"gte": 500 + place, "lte": 10_000 + place}}} for place in range(NAMES)]
    sort = [{"price": {"order": "asc", "missing": "_last"}}, {"id": "asc"}]
    page = {"size": 20, "track_total_hits": True, "sort": sort, "_source": False}
    return {
        "count of a filter": [counted({"bool": {"filter": [bounds, exteriors]}}) for bounds in ranges],
        "page of everything by price": [page] * NAMES,
        "page of a filter by price": [{**page, "query": {"bool": {"filter": [one, exteriors]}}} for one in ranges],
        **asked,
    }


def counted(clause: Clause) -> dict[str, Any]:
    """Asks for the exact number alone."""
    return {"size": 0, "track_total_hits": True, "query": {"bool": {"filter": [clause]}}}


def ask_in_turns(client: OpenSearch, variants: dict[str, Variant], names: list[str]) -> dict[str, dict[str, Any]]:
    """The median milliseconds of each kind of question; raises SystemExit where two variants find different numbers."""
    bodies = {index: questions(variant, names) for index, variant in variants.items()}
    times: dict[str, dict[str, Any]] = {index: {} for index in variants}
    params = {"request_cache": "false", "filter_path": "hits.total"}
    for kind in next(iter(bodies.values())):
        taken: dict[str, list[float]] = {index: [] for index in variants}
        for place in (*range(NAMES), *range(NAMES)):  # the first round warms up
            totals = set()
            for index in variants:
                began = time.perf_counter()
                answer = client.search(index=index, body=bodies[index][kind][place], params=params)
                taken[index].append((time.perf_counter() - began) * 1000)
                totals.add(answer["hits"]["total"]["value"])
            if len(totals) > 1:
                message = f"{kind}, {names[place]}: the variants found {totals} items: one of them is wrong"
                raise SystemExit(message)
        for index, held in taken.items():
            times[index][kind] = round(statistics.median(held[NAMES:]), 2)
    return times


def measure(url: str, names: Sequence[str], items: int, seed: int, catalogue: Path) -> Iterator[dict[str, Any]]:
    """Loads and asks the variants of these names in turns; the figures of each."""
    client = connect(SearchSettings(_env_file=None, opensearch_url=url), timeout=600.0, retries=0, connections=3)
    variants = {f"{PREFIX}-{name}": VARIANTS[name] for name in names}
    with TemporaryDirectory(prefix="gear-bench-") as folder:
        paths = {index: Path(folder, f"{index}.ndjson") for index in variants}
        stickers = written(catalogue, items, seed, [(variants[index], paths[index]) for index in paths])
        sys.stderr.write(f"{items:,} items are made; loading\n")
        try:
            for index, variant in variants.items():
                create(client, index, variant)
            seconds = load_in_turns(client, paths, items)
            held = {index: merged(client, index) for index in variants}
            times = ask_in_turns(client, variants, stickers)
        finally:
            client.indices.delete(index=",".join(variants), params={"ignore_unavailable": "true"})
    for index in variants:
        figures = {"itemsASecond": round(items / seconds[index]), **held[index]}
        yield {"variant": index.removeprefix(f"{PREFIX}-"), **figures, "milliseconds": times[index]}


def show(measured: Sequence[dict[str, Any]]) -> None:
    """Prints a column for each variant."""
    table = Table("", *(one["variant"] for one in measured))
    for name in ("itemsASecond", "mebibytes", "segments", "indexingSeconds"):
        table.add_row(name, *(f"{one[name]:,}" for one in measured))
    for kind in measured[0]["milliseconds"]:
        table.add_row(f"{kind}, ms", *(f"{one['milliseconds'][kind]:.2f}" for one in measured))
    Console().print(table)
