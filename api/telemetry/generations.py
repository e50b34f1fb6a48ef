"""Shows as metrics which index serves each platform: its name, when its load began, and its definition."""

from functools import partial
from typing import Final

from prometheus_client.core import GaugeMetricFamily, Metric

from api.background import BackgroundTasks, SharedTask
from api.engine.client import Engine
from api.errors import ApiError
from mappings.platforms import Platforms

ENGINE_SECONDS: Final = 1.0  # a scrape waits no longer for the engine


class GenerationReader:
    """Reads the serving generations in the background, once for all scrapes of a moment."""

    def __init__(self, engine: Engine, platforms: Platforms, tasks: BackgroundTasks) -> None:
        self._reading = SharedTask(tasks, partial(engine.generations, list(platforms)))

    async def metrics(self) -> list[Metric]:
        """The generations; none where the engine does not answer in time."""
        serving = await self._reading.result(ENGINE_SECONDS, ApiError)
        if serving is None:
            return []
        info = GaugeMetricFamily(
            "gear_index_info",
            "The index that serves a platform, and the fingerprint of its definition",
            labels=["platform", "index", "fingerprint"],
        )
        created = GaugeMetricFamily(
            "gear_index_created_timestamp_seconds", "When the load of the serving index began", labels=["platform"]
        )
        for platform, generation in sorted(serving.items()):
            info.add_metric([str(platform), generation.index, generation.fingerprint], 1)
            created.add_metric([str(platform)], generation.created_at.timestamp())
        return [info, created]
