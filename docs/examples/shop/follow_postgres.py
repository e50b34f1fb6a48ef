"""Follows the changes of a shop's PostgreSQL: python follow_postgres.py postgresql://… --platform 730

Logical decoding says which listings changed, and `gear-indexer follow` gets them as they are now. Further arguments go
to it. The database needs `wal_level = logical`, and once:

    CREATE PUBLICATION gear FOR TABLE listings, products;
    SELECT pg_create_logical_replication_slot('gear', 'pgoutput');

Load the catalogue after that and follow then: nothing is missed, and what the load has already changes nothing.
The slot moves on when the engine has acknowledged what was read from it. Killed at any moment, this program reads the
last changes again, which changes nothing. Let a supervisor start it again when it ends.
"""

import asyncio
import json
import struct
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

import asyncpg

SLOT = PUBLICATION = "gear"
CHANGES = 5_000  # read at a time; a transaction is never divided
IDLE_SECONDS = 0.2
EPOCH = datetime(2000, 1, 1, tzinfo=UTC)  # of PostgreSQL's times
LISTINGS = """
    SELECT listings.id, products.name, products.weapon, products.exterior, listings.price_cents, listings.wear
    FROM listings JOIN products ON products.id = listings.product_id
    WHERE listings.sold_at IS NULL AND listings.id = ANY($1)
"""


@dataclass
class Changed:
    """What some transactions changed: the ids by table, when the last one was committed, and where it ends."""

    ids: dict[str, set[int]] = field(default_factory=lambda: {"listings": set(), "products": set()})
    at: datetime = EPOCH
    end: int = 0


def changed(messages: Iterable[bytes]) -> Changed:
    """Reads messages of `pgoutput` (PostgreSQL, "Logical Replication Message Formats"), version 1."""
    changed_rows, tables = Changed(), dict[int, tuple[str, list[str]]]()
    for message in messages:
        kind, rest = message[:1], message[1:]
        if kind == b"C":
            _, _, changed_rows.end, microseconds = struct.unpack_from("!bqqq", rest)
            changed_rows.at = EPOCH + timedelta(microseconds=microseconds)
        elif kind == b"R":
            (table,) = struct.unpack_from("!i", rest)
            _, relation, columns = rest[4:].split(b"\0", 2)
            tables[table] = relation.decode(), list(column_names(columns))
        elif kind in b"IUD":
            (table,) = struct.unpack_from("!i", rest)
            name, names = tables[table]
            numbers = (row.get("id") for row in rows(rest[4:], names))
            changed_rows.ids[name] |= {int(number) for number in numbers if number is not None}
        elif kind == b"T":
            raise SystemExit("a table was truncated: load the catalogue again")
    return changed_rows


def column_names(columns: bytes) -> Iterator[str]:
    """The names in a relation's description: after its replica identity and the number of columns."""
    (count,) = struct.unpack_from("!h", columns, 1)
    rest = columns[3:]
    for _ in range(count):
        name, rest = rest[1:].split(b"\0", 1)
        rest = rest[8:]  # type and its modifier
        yield name.decode()


def rows(tuples: bytes, names: list[str]) -> Iterator[dict[str, str | None]]:
    """The old and the new row of a change, as far as they are sent."""
    while tuples:
        (count,) = struct.unpack_from("!h", tuples, 1)
        tuples, row = tuples[3:], dict[str, str | None]()
        for name in names[:count]:
            is_sent, tuples = tuples[:1] == b"t", tuples[1:]
            if is_sent:
                (length,) = struct.unpack_from("!i", tuples)
                row[name], tuples = tuples[4 : 4 + length].decode(), tuples[4 + length :]
        yield row


async def lines(database: asyncpg.Connection, changed_rows: Changed) -> list[str]:
    """The listings as they are now; those that are sold or gone as deleted."""
    ids = changed_rows.ids["listings"]
    products = list(changed_rows.ids["products"])
    ids |= {row["id"] for row in await database.fetch("SELECT id FROM listings WHERE product_id = ANY($1)", products)}
    listed = {row["id"]: row for row in await database.fetch(LISTINGS, list(ids))}
    changes = (item(listed[number]) if number in listed else {"id": number, "deleted": True} for number in sorted(ids))
    return [json.dumps({**change, "changedAt": changed_rows.at.isoformat()}) for change in changes]


def item(row: asyncpg.Record) -> dict[str, Any]:
    """A row as an item."""
    return {
        "id": row["id"],
        "name": row["name"],
        "price": row["price_cents"] / 100,
        "details": {"weapon": row["weapon"], "exterior": row["exterior"]},
        "paint": {"float": row["wear"]},
    }


async def main(url: str, *options: str) -> int:
    """Follows until the follower ends; returns its exit code."""
    database = await asyncpg.connect(url)
    follower = await asyncio.create_subprocess_exec(
        "gear-indexer", "follow", "-", "--json", *options, stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE
    )
    changes, reports = follower.stdin, follower.stdout
    if changes is None or reports is None:
        raise RuntimeError("the follower has no pipes")
    sent = acknowledged = 0
    peek = "SELECT data FROM pg_logical_slot_peek_binary_changes($1, NULL, $2, 'proto_version', '1', $3, $4)"
    while True:
        messages = await database.fetch(peek, SLOT, CHANGES, "publication_names", PUBLICATION)
        changed_rows = changed(row["data"] for row in messages)
        batch = await lines(database, changed_rows)
        changes.write("".join(f"{line}\n" for line in batch).encode())
        sent += len(batch)
        while acknowledged < sent:
            report = await reports.readline()
            if not report:
                return await follower.wait()
            acknowledged = json.loads(report)["line"]
        if changed_rows.end:
            end = f"{changed_rows.end >> 32:X}/{changed_rows.end & 0xFFFFFFFF:X}"
            await database.execute("SELECT pg_replication_slot_advance($1, $2::text::pg_lsn)", SLOT, end)
        else:
            await asyncio.sleep(IDLE_SECONDS)


if __name__ == "__main__":
    sys.exit(asyncio.run(main(*sys.argv[1:])))
