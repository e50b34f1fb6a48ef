"""Saved searches while the engine is away."""

from api.settings import Settings
from tests.support.api.catalogue import simple_item
from tests.support.api.waiting import until
from tests.support.app import running
from tests.support.indexer.wire import Fault, Wire, pass_all
from tests.support.services.receiver import Receiver
from tests.support.streams.saved_searches import gap_of, put, saved, until_called_back


async def test_an_engine_that_is_away_is_asked_once_and_not_for_each_search(
    feed_settings: Settings, opensearch_url: str
) -> None:
    counts: list[int] = []  # how many searches each request had

    def away(method: str, path: str, body: bytes) -> Fault | None:
        if "-changes-" not in path or b'"should"' not in body:
            return None
        counts.append(body.count(b'"_name"'))
        return Fault(
            "response", 503, b'{"error": {"type": "cluster_block_exception", "root_cause": []}, "status": 503}'
        )

    with Wire(opensearch_url) as wire, Receiver() as receiver:
        async with running(feed_settings.model_copy(update={"opensearch_url": wire.url})) as app:
            searches = [await saved(app.client, receiver, f"{n}", filters={"ids": [n]}) for n in (1001, 1002)]
            wire.rule = away
            await put(app, simple_item(1001), simple_item(1002))

            await until(lambda: len(counts) >= 3)
            wire.rule = pass_all
            await until_called_back(app, receiver, 1001, 1002)
            assert set(counts) == {2}
            assert [await gap_of(app, search) for search in searches] == [None, None]
