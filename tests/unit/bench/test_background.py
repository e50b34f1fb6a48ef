"""Traffic beside a measured run: where it ends early the run is none."""

import orjson
import pytest

from bench.clients.background import Target, background_traffic
from tests.support.api.waiting import wait_until
from tests.support.indexer.wire import Fault, Wire, is_bulk


@pytest.mark.parametrize("response", [b"a gateway's page", b'{"items": [{"update": {"status": 503}}]}'])
def test_a_run_whose_traffic_failed_is_an_error(response: bytes) -> None:
    hits = orjson.dumps({"hits": {"hits": [{"_id": str(number)} for number in range(10)]}})
    with Wire("http://127.0.0.1:1") as wire:
        wire.rule = lambda method, path, body: Fault("response", 200, response if is_bulk(path) else hits)

        def run() -> None:
            with background_traffic(Target(wire.url, "gear-730", prices_in_cents=True), changes=10, orders=0):
                wait_until(lambda: wire.bulks > 0)

        with pytest.raises((ValueError, OSError)):
            run()
