"""A comparison: the generation that serves and the one to serve in its place in, what a buyer would see change out.

Counted are the items that would vanish, appear, or have another content, and the live changes made since the load of
the one that serves: these are only in it. Both are read side by side by id, each as of one moment; of very large ones
only the sums are told, because somebody waits.
"""

from collections.abc import Generator
from contextlib import closing
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from typing import Any, NamedTuple

from opensearchpy import OpenSearch

from indexer.documents.digest import PARTS
from indexer.engine.generations import IndexState
from indexer.engine.retry import Patience

MOST_COMPARED = 1_000_000  # items of both together; 200,000 took 5 seconds on two busy cores
PAGE = 10_000  # the engine's default max_result_window
KEEP_ALIVE = "2m"
_DIGEST = [f"digest.{part}" for part in PARTS]


class _Item(NamedTuple):
    id: int
    digest: tuple[Any, ...]


@dataclass(frozen=True, kw_only=True)
class Comparison:
    """What would change; None is what is not known, or not so because nothing serves."""

    serving: str | None
    target: str
    loaded_at: tuple[str | None, str]  # when the load began, RFC 3339; of the one that serves, and of the target
    items: tuple[int | None, int]
    changed_live: int | None = None  # written live to the one that serves since its load began
    vanish: int | None = None
    appear: int | None = None
    differ: int | None = None

    def as_json(self) -> dict[str, Any]:
        """Every number, for machines."""
        return {
            "serving": {"index": self.serving, "items": self.items[0], "loadedAt": self.loaded_at[0]},
            "target": {"index": self.target, "items": self.items[1], "loadedAt": self.loaded_at[1]},
            "vanish": self.vanish,
            "appear": self.appear,
            "differ": self.differ,
            "changedLive": self.changed_live,
        }

    def sentences(self) -> list[str]:
        """The same for people."""
        said = [
            f"to serve: {self.target}, {self.items[1]:,} items, loaded {self.loaded_at[1] or 'at a time not known'}"
        ]
        if self.serving is None:
            return said
        said.append(f"in the place of: {self.serving}, {self.items[0]:,} items, loaded {self.loaded_at[0]}")
        if self.vanish is None:
            said.append(f"they are not compared item by item: more than {MOST_COMPARED:,}")
        else:
            said.append(
                f"{self.vanish:,} items vanish, {self.appear:,} appear again, {self.differ:,} have another content"
            )
        if self.changed_live:
            said.append(f"{self.changed_live:,} items were changed live since the load: these changes are not in it")
        return said


def compare(client: OpenSearch, serving: IndexState | None, target: IndexState, patience: Patience) -> Comparison:
    """Counts what would change if `target` served."""
    engine = _Engine(client, patience)
    then = engine.count(target.index)
    if serving is None:
        return Comparison(serving=None, target=target.index, loaded_at=(None, _moment(target)), items=(None, then))
    now = engine.count(serving.index)
    live = None
    if serving.version is not None:
        live = engine.count(serving.index, {"range": {"version": {"gt": serving.version}}})
    numbers = engine.differing(serving.index, target.index) if now + then <= MOST_COMPARED else {}
    return Comparison(
        serving=serving.index,
        target=target.index,
        loaded_at=(_moment(serving), _moment(target)),
        items=(now, then),
        changed_live=live,
        **numbers,
    )


def _moment(state: IndexState) -> str:
    """When its load began."""
    began = state.generation.created_at
    if state.version is not None:
        began = datetime.fromtimestamp(state.version / 1e6, UTC)
    return began.isoformat(timespec="seconds").replace("+00:00", "Z")


class _Engine:
    def __init__(self, client: OpenSearch, patience: Patience) -> None:
        self._client = client
        self._patience = patience

    def count(self, index: str, query: dict[str, Any] | None = None) -> int:
        body = {"query": query or {"match_all": {}}}
        answer: dict[str, Any] = self._patience.call(lambda: self._client.count(index=index, body=body))
        return int(answer["count"])

    def differing(self, serving: str, target: str) -> dict[str, int]:
        """How many items only one has, and how many both have with another content."""
        vanish = appear = differ = 0
        with closing(self._items(serving)) as there, closing(self._items(target)) as then:
            mine, its = next(there, None), next(then, None)
            while mine is not None or its is not None:
                if its is None or (mine is not None and mine.id < its.id):
                    vanish, mine = vanish + 1, next(there, None)
                elif mine is None or its.id < mine.id:
                    appear, its = appear + 1, next(then, None)
                else:
                    differ += mine.digest != its.digest
                    mine, its = next(there, None), next(then, None)
        return {"vanish": vanish, "appear": appear, "differ": differ}

    def _items(self, index: str) -> Generator[_Item, None, None]:
        """Every item by ascending id, as of one moment."""
        params = {"keep_alive": KEEP_ALIVE, "allow_partial_pit_creation": "false"}
        point: str = self._patience.call(lambda: self._client.create_pit(index=index, params=params))["pit_id"]
        # What is sorted by comes with each hit, so that nothing is fetched.
        body: dict[str, Any] = {
            "pit": {"id": point, "keep_alive": KEEP_ALIVE},
            "sort": [{name: {"order": "asc", "unmapped_type": "long"}} for name in ("id", *_DIGEST)],
            "size": PAGE,
            "stored_fields": "_none_",
            "track_total_hits": False,
        }
        whole = {"allow_partial_search_results": "false", "filter_path": "hits.hits.sort"}
        try:
            while True:
                ask = partial(self._client.search, body=body, params=whole)
                hits: list[dict[str, Any]] = self._patience.call(ask).get("hits", {}).get("hits", [])
                for hit in hits:
                    yield _Item(hit["sort"][0], tuple(hit["sort"][1:]))
                if len(hits) < PAGE:
                    return
                body = {**body, "search_after": hits[-1]["sort"]}
        finally:
            self._patience.call(lambda: self._client.delete_pit(body={"pit_id": [point]}, params={"ignore": 404}))
