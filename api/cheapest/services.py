"""What orders of the cheapest items work with."""

from dataclasses import dataclass
from typing import Annotated

from fastapi import Depends

from api.http.dependencies import service
from api.orders.services import OrderServices
from api.search.services import SearchServices


@dataclass(frozen=True)
class CheapestServices:
    """Those of a search, which finds the items, and those of their orders."""

    search: SearchServices
    orders: OrderServices


CheapestDependency = Annotated[CheapestServices, Depends(service(CheapestServices))]
