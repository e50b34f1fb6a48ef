"""Defines findings: a code, severity, sentence and remedy each, and the repair that loses nothing."""

import shlex
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

import orjson


class Severity(StrEnum):
    """`error`: buyers get wrong or no answers, or soon will; `warning`: look at it when there is time."""

    ERROR = "error"
    WARNING = "warning"


class Code(StrEnum):
    """Every kind of finding; `docs/doctor.md` says what each means and which test makes it."""

    ENGINE_UNREACHABLE = "engine-unreachable"
    ENGINE_VERSION = "engine-version"
    NOT_CHECKED = "not-checked"
    AUTO_CREATE = "auto-create"
    TEMPLATE = "template"
    ALIAS_IS_INDEX = "alias-is-index"
    ALIAS_FOREIGN = "alias-foreign"
    ALIAS_SEVERAL = "alias-several"
    ALIAS_MISSING = "alias-missing"
    CLOSED = "closed"
    BLOCKED = "blocked"
    REFRESH = "refresh"
    REPLICAS = "replicas"
    RESULT_WINDOW = "result-window"
    SETTINGS = "settings"
    MAPPING_DRIFT = "mapping-drift"
    STALE_LOCK = "stale-lock"
    UNFINISHED_LOAD = "unfinished-load"
    STRAY_TOMBSTONES = "stray-tombstones"
    TOO_MANY_GENERATIONS = "too-many-generations"
    DATABASE_UNREACHABLE = "database-unreachable"
    DATABASE_UNMIGRATED = "database-unmigrated"
    SOLD_BUT_OFFERED = "sold-but-offered"
    FREE_BUT_HIDDEN = "free-but-hidden"
    INDEX_SYNC_PENDING = "index-sync-pending"


@dataclass(frozen=True)
class PutSettings:
    """Put these settings, below `index`, on an index; None takes one away."""

    index: str
    values: dict[str, Any]


@dataclass(frozen=True)
class Serve:
    """Point the alias to this finished generation alone, with the items of active orders marked in it first."""

    index: str


@dataclass(frozen=True)
class RemoveGeneration:
    """Remove a generation that does not serve."""

    index: str


@dataclass(frozen=True)
class ReleaseLock:
    """Take the lock of an alias over as every command does, if its owner has died, and give it back."""

    alias: str


@dataclass(frozen=True)
class RemoveTombstones:
    """Remove the record of deletes beside a generation that is not being filled."""

    index: str


@dataclass(frozen=True)
class RemoveEmptyIndex:
    """Remove an index that stands under the alias's name, once it is seen again that nothing is in it."""

    index: str


@dataclass(frozen=True)
class TellClaims:
    """Have this index say of every item what the orders say; `window` is its max_result_window."""

    index: str
    window: int


Repair = PutSettings | Serve | ReleaseLock | RemoveGeneration | RemoveTombstones | RemoveEmptyIndex | TellClaims


@dataclass(frozen=True, kw_only=True)
class Finding:
    """One thing that is not as it should be; `platform` is None where it concerns all, `repair` where none is safe."""

    code: Code
    severity: Severity
    platform: int | None = None
    subject: str
    message: str
    remedy: str
    repair: Repair | None = None
    fixed: bool = False

    @property
    def key(self) -> tuple[str, int | None, str]:
        """The same for the same fault in two looks."""
        return self.code, self.platform, self.subject

    def as_json(self) -> dict[str, Any]:
        """For machines."""
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


def readable_bytes(size: float) -> str:
    """`76.6 GB`, in units of 1000."""
    for unit in ("B", "kB", "MB", "GB"):
        if size < 1000:
            return f"{size:.0f} {unit}" if unit == "B" else f"{size:,.1f} {unit}"
        size /= 1000
    return f"{size:,.1f} TB"
