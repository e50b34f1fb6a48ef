"""Defines findings: a code, severity, sentence and remedy each, and the repair that loses nothing."""

import shlex
from dataclasses import dataclass
from enum import StrEnum, auto
from typing import Any

import orjson


class Severity(StrEnum):
    """`error`: buyers get wrong or no results, or soon will; `warning`: look at it when there is time."""

    ERROR = "error"
    WARNING = "warning"


class Code(StrEnum):
    """Every kind of finding and how bad it is; `docs/doctor.md` says what each means."""

    severity: Severity

    def __new__(cls, code: str, severity: Severity = Severity.ERROR) -> "Code":
        """`severity` is that of most findings of the kind."""
        kind = str.__new__(cls, code)
        kind._value_ = code
        kind.severity = severity
        return kind

    ENGINE_UNREACHABLE = "engine-unreachable"
    ENGINE_VERSION = "engine-version", Severity.WARNING
    NOT_CHECKED = "not-checked"
    AUTO_CREATE = "auto-create", Severity.WARNING
    TEMPLATE = "template", Severity.WARNING
    ALIAS_IS_INDEX = "alias-is-index"
    ALIAS_FOREIGN = "alias-foreign"
    ALIAS_SEVERAL = "alias-several"
    ALIAS_MISSING = "alias-missing"
    CLOSED = "closed"
    BLOCKED = "blocked"
    REFRESH = "refresh"
    REPLICAS = "replicas"
    RESULT_WINDOW = "result-window"
    SETTINGS = "settings", Severity.WARNING
    MAPPING_DRIFT = "mapping-drift"
    PRODUCTS_MISSING = "products-missing"
    PRODUCTS_ALIAS = "products-alias"
    PRODUCTS_INCOMPLETE = "products-incomplete"
    PRODUCTS_ALTERED = "products-altered"
    PRODUCTS_ORPHANED = "products-orphaned", Severity.WARNING
    PRODUCTS_UNUSED = "products-unused", Severity.WARNING
    STALE_LOCK = "stale-lock", Severity.WARNING
    UNFINISHED_LOAD = "unfinished-load", Severity.WARNING
    TOO_MANY_GENERATIONS = "too-many-generations", Severity.WARNING
    DATABASE_UNREACHABLE = "database-unreachable"
    DATABASE_UNMIGRATED = "database-unmigrated"
    SOLD_BUT_OFFERED = "sold-but-offered"
    FREE_BUT_HIDDEN = "free-but-hidden"
    INDEX_SYNC_PENDING = "index-sync-pending"


class Action(StrEnum):
    """What a repair does, all of it without loss."""

    PUT_SETTINGS = auto()  # puts settings, below `index`, on the index; None takes one away
    SERVE = auto()  # has this generation bind the items of active orders, then points the alias to it alone
    POINT_PRODUCTS = auto()  # points the alias of the products to those of this generation, which serves
    REMOVE_PRODUCTS = auto()  # removes an index of products without listings
    REMOVE_GENERATION = auto()  # removes a generation that does not serve
    RELEASE_LOCK = auto()  # takes the lock of the alias over from an owner that has crashed, and gives it back
    REMOVE_EMPTY_INDEX = auto()  # removes an index under the alias's name, once it is seen again that nothing is in it
    PUBLISH_CLAIMS = auto()  # has the index say of every item what the orders say


@dataclass(frozen=True)
class Repair:
    """An action on an index, or on the alias."""

    action: Action
    index: str
    settings: dict[str, Any] | None = None  # to put
    window: int = 0  # the index's max_result_window, where it is read


@dataclass(frozen=True)
class Finding:
    """One thing that is not as it should be; `platform` is None where it concerns all, `repair` where none is safe."""

    code: Code
    platform: int | None
    subject: str
    message: str
    remedy: str
    repair: Repair | None = None
    exceptional_severity: Severity | None = None
    fixed: bool = False

    @property
    def severity(self) -> Severity:
        """How bad it is: as the code says, unless the finding says otherwise."""
        return self.exceptional_severity or self.code.severity

    @property
    def key(self) -> tuple[str, int | None, str]:
        """The same for the same fault in two looks."""
        return self.code, self.platform, self.subject

    def as_json(self) -> dict[str, Any]:
        shown = ("code", "severity", "platform", "subject", "message", "remedy", "fixed")
        return {name: getattr(self, name) for name in shown}


def curl(method: str, path: str, body: dict[str, Any] | None = None) -> str:
    """A command for a shell in which the engine's address is set."""
    data = f" -H 'content-type: application/json' -d {shlex.quote(orjson.dumps(body).decode())}" if body else ""
    return f'curl -X {method} "$GEAR_OPENSEARCH_URL/{path}"{data}'


def fix_command(platform: int) -> str:
    """The doctor itself, for what it can repair."""
    return f"gear-indexer doctor --platform {platform} --fix"


def load_command(platform: int) -> str:
    """A rebuild of the platform's index."""
    return f"gear-indexer load FILE... --platform {platform}"
