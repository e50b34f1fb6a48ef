"""A worker process for the tests: orders items of a database and says what it got, one line of JSON on stdout.

`python buyer.py URL TOKEN_ID ITEM... [--hold | --die]`: with --hold it waits in the open transaction until it is
killed, with --die it kills itself right after its commit.
"""

import asyncio
import json
import os
import signal
import sys
from datetime import UTC, datetime

from store.connection.engine import Store
from store.connection.errors import ItemTaken, StoreUnavailable
from store.orders import orders
from tests.support.store.new_order import new_order

SECONDS = 120.0  # then it ends, whatever the store says


async def buy(url: str, token_id: str, items: list[int], after: str) -> None:
    """Orders the items one after the other, each in a transaction of its own. What a busy store refuses comes again."""
    store = Store(url)
    won = []
    for item in items:
        try:
            async with store.transaction() as connection:
                await orders.place(connection, new_order(token_id, item, account=str(os.getpid())), datetime.now(UTC))
                if after == "--hold":
                    sys.stdout.write("holding\n")
                    sys.stdout.flush()
                    await asyncio.Event().wait()
            won.append(item)
        except ItemTaken:
            pass
        except StoreUnavailable:  # other workers had a busy machine's database for too long
            items.append(item)
            continue
        if after == "--die":
            os.kill(os.getpid(), signal.SIGKILL)
    sys.stdout.write(json.dumps(won) + "\n")
    await store.close()


if __name__ == "__main__":
    _, address, token, *rest = sys.argv
    option = rest.pop() if rest[-1].startswith("--") else ""
    asyncio.run(asyncio.wait_for(buy(address, token, [int(item) for item in rest], option), SECONDS))
