"""Keeps a copy of what a search finds: GEAR_URL=… GEAR_TOKEN=… python feed_reader.py DATABASE PLATFORM [QUERY]

The bookmark is committed with the changes up to it: a reader that is killed misses nothing and applies nothing twice.
A bookmark that has expired begins anew: first the bookmark, then all items, then what has changed since.
"""

import json
import os
import sqlite3
import sys

from gear_client import GearClient, GearError


def read_all(gear: GearClient, copy: sqlite3.Connection, platform: int, query: str) -> str:
    """Replaces the copy by what the search finds now; returns the bookmark from before."""
    bookmark = gear.list_changes(platform=platform, query=query)["next"]
    with copy:
        copy.execute("DELETE FROM items")
        for item in gear.search_all(platform=platform, query=query, sort="price_asc"):
            copy.execute("INSERT INTO items VALUES (?, ?)", (item["id"], json.dumps(item)))
        copy.execute("INSERT OR REPLACE INTO bookmark VALUES (1, ?)", (bookmark,))
    return bookmark


def follow(gear: GearClient, copy: sqlite3.Connection, platform: int, query: str, bookmark: str) -> None:
    """Applies changes without end; raises GearError `bookmark_expired`."""
    for page in gear.follow_changes(platform=platform, query=query, since=bookmark):
        with copy:
            for change in page["changes"]:
                if change["change"] == "gone":
                    copy.execute("DELETE FROM items WHERE id = ?", (change["id"],))
                else:
                    row = (change["id"], json.dumps(change.get("gear")))
                    copy.execute("INSERT OR REPLACE INTO items VALUES (?, ?)", row)
            copy.execute("INSERT OR REPLACE INTO bookmark VALUES (1, ?)", (page["next"],))


def main(database: str, platform: int, query: str = "") -> None:
    """Goes on from the bookmark in the database, or begins."""
    copy = sqlite3.connect(database)
    copy.execute("CREATE TABLE IF NOT EXISTS items (id INTEGER PRIMARY KEY, item TEXT)")
    copy.execute("CREATE TABLE IF NOT EXISTS bookmark (one INTEGER PRIMARY KEY, bookmark TEXT)")
    row = copy.execute("SELECT bookmark FROM bookmark").fetchone()
    with GearClient(os.environ["GEAR_URL"], os.environ["GEAR_TOKEN"]) as gear:
        bookmark = row[0] if row else read_all(gear, copy, platform, query)
        while True:
            try:
                follow(gear, copy, platform, query, bookmark)
            except GearError as error:
                if error.code != "bookmark_expired":
                    raise
                bookmark = read_all(gear, copy, platform, query)


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), *sys.argv[3:])
