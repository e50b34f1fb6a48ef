"""A typed client of the gear search and order service, sync and async.

Requests and answers are those of the HTTP API, as typed dictionaries (`gear_client.models`).
"""

from gear_client.client import AsyncGearClient, GearClient
from gear_client.errors import ConnectionFailedError, GearError
from gear_client.webhooks import CallbackError, verify_callback

__all__ = [
    "AsyncGearClient",
    "CallbackError",
    "ConnectionFailedError",
    "GearClient",
    "GearError",
    "verify_callback",
]
