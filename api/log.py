"""The log of the service, to which every module of this package writes."""

import structlog

log = structlog.get_logger("gear.api")
