"""The response of `GET /v1/operations`."""

from typing import Literal

from pydantic import Field

from api.http.fields import StrictCamelCase


class EngineHealth(StrictCamelCase):
    """The health of the engine's cluster."""

    status: str = Field(description="`green`, `yellow` or `red`, as the engine says it")
    nodes: int
    unassigned_shards: int


class GenerationEntry(StrictCamelCase):
    """A generation of a platform: its index of listings, without the products beside it."""

    index: str
    created_at: str = Field(description="when its load began; RFC 3339")
    fingerprint: str = Field(description="of its definition")
    serving: bool
    items: int
    bytes: int


class WorkEntry(StrictCamelCase):
    """The command that holds the lock of a platform."""

    command: str = Field(description="such as `load`")
    host: str
    index: str | None = Field(description="the index that it fills")
    since: str = Field(description="RFC 3339, by the command's clock")
    heartbeat: str = Field(description="when it was last heard of; RFC 3339, by the command's clock")
    read: int | None = Field(description="records read up to its checkpoint; null where there is none")
    indexed: int | None = Field(description="items acknowledged up to its checkpoint")


class RejectReason(StrictCamelCase):
    """A rule that items broke."""

    reason: str = Field(description="field and rule")
    count: int


class IntakeEntry(StrictCamelCase):
    """A load or a follower by what it last wrote down; its times are by its own clock."""

    command: str = Field(description="`load` or `follow`")
    source: str = Field(description="what it reads: files, `stdin`, or a topic")
    host: str
    since: str = Field(description="RFC 3339")
    heartbeat: str = Field(description="when it was last heard of; RFC 3339. A follower writes every 5 seconds")
    ended: bool = Field(description="whether it said that it ends; false where it was killed")
    read: int
    rejected: int
    lag: int | None = Field(description="messages that a follower has not read yet; null where that is not known")
    age_seconds: float | None = Field(
        description="from the oldest change of a follower's last batch to its acknowledgement"
    )
    reasons: list[RejectReason] = Field(description="why items were refused: the 20 most frequent, the first one most")


class PlatformState(StrictCamelCase):
    """What serves a platform, and who is at work on it."""

    id: int
    slug: str
    generations: list[GenerationEntry] = Field(description="the newest first")
    work: WorkEntry | None = Field(description="null where nobody is at work")
    intakes: list[IntakeEntry] = Field(
        description="the last load, and followers that were heard of within 7 days; the last heard of first"
    )


class BacklogsEntry(StrictCamelCase):
    """What waits in the store."""

    index_sync_pending: int = Field(description="sold or released items that the index does not show yet")
    index_sync_seconds: float = Field(description="how long the oldest has waited")
    callbacks_overdue: int = Field(description="callbacks due and not delivered, without waiting retries")
    callbacks_overdue_seconds: float = Field(description="for how long the oldest is due")
    callbacks_failed: int = Field(description="callbacks of real orders that were given up")
    active_orders: int = Field(description="real orders that are `created` or `processing`")


class OperationsResponse(StrictCamelCase):
    """The state of the service; what does not answer is null."""

    status: Literal["success"]
    search: bool = Field(description="whether searches work, as `/health/ready` says")
    orders: bool = Field(description="whether new orders work")
    engine: EngineHealth | None = Field(description="null where the engine does not answer")
    platforms: list[PlatformState] | None = Field(description="null where the engine does not answer")
    backlogs: BacklogsEntry | None = Field(description="null where the store does not answer")
