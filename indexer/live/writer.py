"""The one writer of live changes: what orders have bound stays bound, whoever sends the changes."""

import time
from collections.abc import Iterable
from dataclasses import dataclass

from opensearchpy import OpenSearch

from indexer.engine.generations import Generations
from indexer.engine.retry import RetryPolicy
from indexer.live.change import Change
from indexer.live.indices import LiveIndices, Results
from indexer.orders.claims import Claims
from mappings.definition import Definition


@dataclass(frozen=True)
class Written:
    """What became of changes: by id as the serving index says, and the items that are bound."""

    indices: list[str]
    results: Results
    bound: set[int]
    version: int  # of the changes that had none


class LiveWriter:
    """Writes changes behind one alias; several threads may share it."""

    def __init__(
        self,
        client: OpenSearch,
        alias: str,
        definition: Definition,
        claims: Claims | None,
        retry: RetryPolicy,
        digest_key: bytes = b"",
    ) -> None:
        self._client = client
        self._alias = alias
        self._claims = claims
        self._generations = Generations(client, alias, definition, retry)
        self._indices = LiveIndices(client, self._generations, definition, retry, digest_key)
        self._time = 0

    def check(self) -> None:
        """Raises CommandError where no change could be written."""
        self._indices.targets()

    def write(self, changes: Iterable[Change]) -> Written:
        """Makes changes of different items; those without a time get that of now.

        Raises CommandError or the client's error where not all of them have a result: all may be sent again.
        """
        self._time = version = max(time.time_ns() // 1000, self._time + 1)  # a later batch is later on any clock
        dated = [change if change.is_dated else change._replace(version=version) for change in changes]
        puts = [change.id for change in dated if change.document is not None]
        bound, unknown = set[int](), set[int]()
        if self._claims is not None and puts:
            bound = self._claims.bound_among(puts)
            unknown = self._claims.unknown_among(self._client, self._alias, puts)
        for change in dated:
            if change.document is not None:
                change.document["bound"] = change.id in bound or change.id in unknown
        names, results = self._indices.send(dated)
        if self._claims is not None and puts:
            # An order placed between the look-up and the write was published to the document that is replaced now.
            self._claims.publish_known_again([number for number in puts if number not in unknown])
        return Written(names, results, bound, version)

    def show(self) -> None:
        """Makes what was written visible to searches."""
        self._generations.refresh(self._alias)
