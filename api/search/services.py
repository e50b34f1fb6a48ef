"""What searches work with."""

from dataclasses import dataclass
from typing import Annotated

from fastapi import Depends

from api.engine.client import Engine
from api.http.admission import Budget
from api.http.dependencies import service
from api.search.availability import Availability
from api.search.facets.price_parts import BroadFilters
from api.search.pagination.point_in_time import PointsInTime
from api.search.price_desc import PriceHistograms
from api.search.response_cache import ResponseCache
from api.search.suggest.counting import FrequentValueCounts
from api.search.unanswered import UnansweredSearches
from mappings.platforms import Platforms


@dataclass(frozen=True)
class SearchServices:
    """The engine of searches, what they have learnt of it, and what they leave."""

    engine: Engine
    platforms: Platforms
    availability: Availability
    cursor_budget: Budget
    points_in_time: PointsInTime
    response_cache: ResponseCache
    broad_filters: BroadFilters
    price_histograms: PriceHistograms
    frequent_values: FrequentValueCounts
    unanswered: UnansweredSearches


SearchDependency = Annotated[SearchServices, Depends(service(SearchServices))]
