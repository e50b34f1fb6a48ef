"""Loads all listings of a shop's database: python load_from_database.py DATABASE-URL --platform 730

DATABASE-URL is one of SQLAlchemy. Further arguments go to `gear-indexer load`. The rows are written to a file first: a
connection that is lost half-way must not look like the end of a smaller catalogue.
"""

import gzip
import json
import subprocess
import sys
import tempfile
from pathlib import Path

from sqlalchemy import create_engine, text

LISTINGS = """
    SELECT listings.id, products.name, products.weapon, products.exterior, listings.price_cents, listings.wear
    FROM listings JOIN products ON products.id = listings.product_id
    WHERE listings.sold_at IS NULL
"""


def main(url: str, *options: str) -> int:
    """Writes the items and loads them; returns the exit code of the load."""
    engine = create_engine(url)
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "listings.ndjson.gz"
        # 10,000 rows at a time: memory stays the same for millions
        with engine.connect().execution_options(yield_per=10_000) as connection, gzip.open(file, "wt") as lines:
            for row in connection.execute(text(LISTINGS)):
                item = {
                    "id": row.id,
                    "name": row.name,
                    "price": row.price_cents / 100,
                    "details": {"weapon": row.weapon, "exterior": row.exterior},
                    "paint": {"float": row.wear},
                }
                lines.write(json.dumps(item) + "\n")
        return subprocess.run(["gear-indexer", "load", str(file), *options], check=False).returncode


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
