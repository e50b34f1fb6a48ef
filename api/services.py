"""Services: what the routes work with, made once when the app starts and closed when it ends."""

from dataclasses import dataclass

from fastapi import Request

from api.search.engine.client import Engine
from api.search.pagination.point_in_time import Cursors
from api.search.price_desc import Dearest
from api.search.response_cache import Answers
from api.settings import Settings
from mappings.platforms import Platforms
from store.connection.engine import Store


@dataclass(frozen=True)
class Services:
    """The parts of one running app."""

    settings: Settings
    platforms: Platforms
    engine: Engine
    store: Store
    cursors: Cursors
    answers: Answers
    dearest: Dearest


async def services_of(request: Request) -> Services:
    """A dependency: the running app's services. Async, because the framework sends others to a thread."""
    services: Services = request.app.state.services
    return services
