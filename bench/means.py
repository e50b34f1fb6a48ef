"""Means of the engine: one listings file in; what each setting does to filling, to disk and to searches out.

Each variant is an index of its own: one that was filled with its setting, or a copy of that without any (the same
files, by hard links) that differs in the setting alone. They are asked in turn for the same bodies, each body for the
first time and with nothing kept, and must find the same.
"""

import math
import statistics
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, closing
from dataclasses import dataclass, field
from itertools import cycle
from typing import Any, Final

from opensearchpy import OpenSearch

from bench.peers import loaders
from bench.peers.connection import Connection, ask
from bench.questions import found_by, part, to_index
from bench.runs.load import Place, engine_seconds
from indexer.engine.generations import LOADING_SETTINGS
from mappings.definition import read_definition
from mappings.names import alias_of

AS_IT_IS: Final = "as it is"
WORKLOADS: Final = ("cold", "text", "facets")
QUESTIONS: Final = ("page", "page again", "number", "text", "facets")
WARM_UP_ROUNDS: Final = 2
PROCESSOR_TURNS: Final = 2
LOOK_SECONDS: Final = 1.1  # monitor.process.refresh_interval: the engine's own look at its processor time, 1 s
PLATFORM: Final = 730
JSON: Final = {"Content-Type": "application/json"}


@dataclass(frozen=True)
class Variant:
    """One setting: the index that it is a copy of (None: filled anew), what it is made with, the segments merged to."""

    of: str | None
    settings: Mapping[str, Any] = field(default_factory=dict)
    segments: int | None = None


CONCURRENT = "search.concurrent_segment_search.mode"
SLICES = "search.concurrent.max_slice_count"
COPIES = {"number_of_replicas": 1}
VARIANTS: Final = {
    AS_IT_IS: Variant(None),
    "best_compression": Variant(None, {"codec": "best_compression"}),
    "2 shards": Variant(None, {"number_of_shards": 2}),
    "4 shards": Variant(None, {"number_of_shards": 4}),
    "many segments": Variant(None, {"merge.policy.max_merged_segment": "25mb"}),
    "5 segments": Variant(AS_IT_IS, segments=5),
    "1 segment": Variant(AS_IT_IS, segments=1),
    "concurrent: none": Variant(AS_IT_IS, {CONCURRENT: "none"}),
    "concurrent: auto, 2 slices": Variant(AS_IT_IS, {CONCURRENT: "auto", SLICES: 2}),
    "concurrent: all, 2 slices": Variant(AS_IT_IS, {CONCURRENT: "all", SLICES: 2}),
    "no query cache": Variant(AS_IT_IS, {"queries.cache.enabled": False}),
    "2 copies": Variant(AS_IT_IS, COPIES),
    "3 shards": Variant(None, {"number_of_shards": 3}),
    "3 shards, 2 copies": Variant("3 shards", COPIES),
}
ON_SEVERAL_NODES: Final = (AS_IT_IS, "2 copies", "3 shards", "3 shards, 2 copies")
ON_ONE_NODE: Final = tuple(name for name in VARIANTS if name == AS_IT_IS or name not in ON_SEVERAL_NODES)


@dataclass
class Asked:
    """What a variant's answers to one question took: milliseconds of each round's, and of the engine's processors."""

    rounds: list[list[float]] = field(default_factory=list)
    processor: float = math.inf

    def as_json(self) -> dict[str, Any]:
        """The median of all answers, those of the rounds, and the processor time of one answer."""
        medians = [round(statistics.median(one), 3) for one in self.rounds]
        whole = statistics.median(took for one in self.rounds for took in one)
        return {"p50": round(whole, 3), "processor": round(self.processor, 3), "rounds": medians}


def prefix_of(items: int) -> str:
    """What the names of all variants' indices begin with, and the alias of the one that a service is to serve."""
    return f"bench-means-{items}"


def index_of(items: int, name: str) -> str:
    """The index of a variant."""
    slug = "".join(letter if letter.isalnum() else "-" for letter in name)
    return f"{prefix_of(items)}-{slug.replace('--', '-')}"


def fill(place: Place, items: int, name: str) -> None:
    """Makes a variant's index by a load of prepared bytes; the figures of each such load stay with it."""
    client, index = place.client, index_of(items, name)
    before = figures(client, index).get("fills", [])
    client.indices.delete(index=index, params={"ignore_unavailable": "true"})
    body = read_definition().create_body()
    held = {**body["settings"]["index"], **LOADING_SETTINGS, **VARIANTS[name].settings}
    client.indices.create(index=index, body={**body, "settings": {**body["settings"], "index": held}})
    used, began = busy(client), time.perf_counter()
    loaders.raw(place.prepared, place.url.partition(",")[0], index)
    client.indices.refresh(index=index)
    seconds = time.perf_counter() - began
    settle(client, index)
    one = {"seconds": round(seconds, 2), "engine_seconds": round(busy(client) - used, 1)}
    client.indices.put_settings(index=index, body={"index": {"refresh_interval": "1s"}})
    _note(client, index, {"fills": [*before, one]})


def copy(client: OpenSearch, items: int, name: str) -> None:
    """Makes a variant's index of the files of another one, and merges it where it is to have so many segments."""
    variant, index = VARIANTS[name], index_of(items, name)
    source = index_of(items, variant.of or AS_IT_IS)
    client.indices.delete(index=index, params={"ignore_unavailable": "true"})
    client.indices.put_settings(index=source, body={"index.blocks.write": True})
    settings = {f"index.{key}": value for key, value in {"number_of_replicas": 0, **variant.settings}.items()}
    client.indices.clone(index=source, target=index, body={"settings": {"index.blocks.write": None, **settings}})
    client.indices.put_settings(index=source, body={"index.blocks.write": None})
    client.cluster.health(index=index, params={"wait_for_status": "green"})
    _note(client, index, {})
    if variant.segments is not None:
        used, began = busy(client), time.perf_counter()
        client.indices.forcemerge(index=index, params={"max_num_segments": str(variant.segments)})
        seconds = time.perf_counter() - began
        merge = {"seconds": round(seconds, 2), "engine_seconds": round(busy(client) - used, 1)}
        _note(client, index, {"merge": merge})


def settle(client: OpenSearch, index: str) -> None:
    """Returns when no merge is at work any more, what was merged is what is searched, and all of it is on disk."""
    while client.indices.stats(index=index, metric="merge")["_all"]["total"]["merges"]["current"]:
        time.sleep(1)
    client.indices.refresh(index=index)
    client.indices.flush(index=index)


def busy(client: OpenSearch) -> float:
    """Seconds of processor time that all nodes have used up to now."""
    time.sleep(LOOK_SECONDS)
    return engine_seconds(client)


def serve(client: OpenSearch, items: int, name: str) -> str:
    """Has a service with `prefix_of` serve this variant alone; the alias."""
    alias = alias_of(prefix_of(items), PLATFORM)
    actions: list[dict[str, Any]] = [
        {"remove": {"index": f"{prefix_of(items)}-*", "alias": alias, "must_exist": False}}
    ]
    actions.append({"add": {"index": index_of(items, name), "alias": alias}})
    client.indices.update_aliases(body={"actions": actions})
    return alias


def figures(client: OpenSearch, index: str) -> dict[str, Any]:
    """What is noted of how an index was made; empty where there is none."""
    if not client.indices.exists(index=index):
        return {}
    meta: dict[str, Any] = client.indices.get_mapping(index=index)[index]["mappings"].get("_meta", {})
    return dict(meta.get("bench", {}))


def _note(client: OpenSearch, index: str, noted: Mapping[str, Any]) -> None:
    meta = client.indices.get_mapping(index=index)[index]["mappings"]["_meta"]
    client.indices.put_mapping(index=index, body={"_meta": {**meta, "bench": dict(noted)}})


def told(client: OpenSearch, items: int, name: str) -> dict[str, Any]:
    """How a variant was made, its bytes on disk (of one copy), its segments and the memory of the filters it keeps."""
    index = index_of(items, name)
    stats = client.indices.stats(index=index, metric="store,segments,query_cache")["_all"]
    return {
        "variant": name,
        **figures(client, index),
        "disk": stats["primaries"]["store"]["size_in_bytes"],
        "segments": stats["primaries"]["segments"]["count"],
        "filters_kept": stats["total"]["query_cache"]["memory_size_in_bytes"],
    }


def questions_of(requests: Mapping[str, Sequence[bytes]]) -> dict[str, list[bytes]]:
    """The searches that are timed, by the name of their question, of the requests by workload."""
    pages = [part(content, 0) for content in requests["cold"]]
    numbers = [part(content, 1) for content in requests["cold"]]
    whole = (list(requests["text"]), list(requests["facets"]))
    return dict(zip(QUESTIONS, (pages, pages, numbers, *whole), strict=True))


class Asking:
    """Asks the variants in turn, by a connection to each node in turn."""

    def __init__(self, place: Place, items: int, names: Sequence[str], questions: Mapping[str, list[bytes]]) -> None:
        self._client = place.client
        self._urls = place.url.split(",")
        self._alias = alias_of(prefix_of(items), PLATFORM)
        self._indices = {name: index_of(items, name) for name in names}
        self._questions = questions
        self._found: dict[bytes, list[tuple[int | None, list[str]]]] = {}
        self.asked = {name: {question: Asked() for question in questions} for name in names}

    def run(self, rounds: int) -> None:
        """All rounds, and then turns for the processor times; raises RuntimeError where two variants differ in what
        they find.
        """
        count = len(self._questions[QUESTIONS[0]]) // (rounds + WARM_UP_ROUNDS)
        with ExitStack() as stack:
            connections = cycle([stack.enter_context(closing(Connection(url, JSON))) for url in self._urls])
            for number in range(rounds + WARM_UP_ROUNDS):
                for name, index in self._indices.items():
                    self._forget(index)
                    for question, held in self._questions.items():
                        bodies = held[number * count : (number + 1) * count]
                        took = [self._timed(next(connections), body, index) for body in bodies]
                        if number >= WARM_UP_ROUNDS:
                            self.asked[name][question].rounds.append(took)
            for _ in range(PROCESSOR_TURNS):
                self._processor_times(connections)

    def _processor_times(self, connections: Iterator[Connection]) -> None:
        """Asks each variant each question with all bodies; keeps the lesser time, since what others do only adds."""
        before = busy(self._client)
        for name, index in self._indices.items():
            for question, held in self._questions.items():
                if question != "page again":  # it must find what the page has left
                    self._forget(index)
                for body in held:
                    self._timed(next(connections), body, index)
                after = busy(self._client)
                one = self.asked[name][question]
                one.processor = min(one.processor, (after - before) / len(held) * 1000)
                before = after

    def _forget(self, index: str) -> None:
        ask("POST", f"{self._urls[0]}/{index}/_cache/clear?request=true")

    def _timed(self, connection: Connection, body: bytes, index: str) -> float:
        answer, took = connection.ask("POST", "/_msearch", to_index(body, self._alias, index))
        found = found_by(answer)
        if self._found.setdefault(body, found) != found:
            message = f"{index} finds {found} where another finds {self._found[body]} by {body!r}"
            raise RuntimeError(message)
        return took * 1000


def measured(place: Place, items: int, asking: Asking) -> Iterator[dict[str, Any]]:
    """Each variant as it is written down."""
    for name, asked in asking.asked.items():
        yield {**told(place.client, items, name), "asked": {key: one.as_json() for key, one in asked.items()}}
