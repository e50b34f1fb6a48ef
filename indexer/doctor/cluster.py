"""Checks of the cluster: what the engine says about itself in, findings out; pure."""

import re
from collections.abc import Sequence

from indexer.doctor.disks import Disk, Watermarks, least_free, readable
from indexer.doctor.findings import Code, Finding, Severity, curl
from indexer.engine.facts import EngineFacts, IndexFacts, LostShard

OLDEST_MAJOR = 3
# A generation's name has 17 digits and the fingerprint behind the alias.
_SAMPLE_GENERATION = "{alias}-20200101000000000-00000000"


def check_version(facts: EngineFacts) -> list[Finding]:
    """Only OpenSearch from 3.0 on is what the queries are written and tested for."""
    major = facts.version.partition(".")[0]
    if facts.distribution == "opensearch" and major.isdigit() and int(major) >= OLDEST_MAJOR:
        return []
    return [
        Finding(
            code=Code.ENGINE_VERSION,
            severity=Severity.WARNING,
            subject="engine",
            message=f"the engine is {facts.distribution} {facts.version}, and only OpenSearch 3.0 and newer is tested",
            remedy="move the cluster to OpenSearch 3.6, then load again",
        )
    ]


def check_shards(platform: int, lost: Sequence[LostShard]) -> list[Finding]:
    """A primary that is away takes items out of reach; a copy that is away only takes the safety."""
    found = []
    for primary in (True, False):
        here = [shard for shard in lost if shard.primary is primary]
        for index in sorted({shard.index for shard in here}):
            shards = [shard for shard in here if shard.index == index]
            kind = "primary shard" if primary else "copy of a shard"
            remedy = curl("POST", "_cluster/reroute?retry_failed=true")
            found.append(
                Finding(
                    code=Code.SHARDS_MISSING if primary else Code.COPIES_MISSING,
                    severity=Severity.ERROR if primary else Severity.WARNING,
                    platform=platform,
                    subject=index,
                    message=f"{len(shards)} {kind} of {index} is on no node: {shards[0].reason}",
                    remedy=f"set right what the reason names, then {remedy}",
                )
            )
    return found


def check_status(facts: EngineFacts, found: Sequence[Finding]) -> list[Finding]:
    """A red cluster whose lost shards are not ours: a warning, for what is wrong there may come here."""
    if facts.status != "red" or any(one.code == Code.SHARDS_MISSING for one in found):
        return []
    return [
        Finding(
            code=Code.CLUSTER_RED,
            severity=Severity.WARNING,
            subject="cluster",
            message="the cluster is red for indices that are none of ours: some of their primary shards are on no node",
            remedy=curl("GET", "_cluster/allocation/explain?pretty"),
        )
    ]


def disks_have_room(facts: EngineFacts | None) -> bool:
    """Whether every disk is known to be below the low watermark; true where the engine does not mind its disks."""
    if facts is None:
        return False
    marks = facts.watermarks
    return marks is None or (bool(facts.disks) and not any(marks.passed(marks.low, disk) for disk in facts.disks))


def check_disks(facts: EngineFacts, largest: int) -> list[Finding]:
    """Disks past a watermark, or which the next load would bring past the flood stage.

    `largest` is what the biggest serving index takes, in bytes: a load needs as much beside it.
    """
    marks = facts.watermarks
    if marks is None:
        return []
    return [one for disk in facts.disks if (one := _disk(disk, marks, largest)) is not None]


def _disk(disk: Disk, marks: Watermarks, largest: int) -> Finding | None:
    left = disk.free - least_free(marks.flood, disk.total)
    state = f"the disk of {disk.node} is {disk.used_percent:.1f} % full, {readable(disk.free)} free"
    room = "gear-indexer prune removes generations that are not needed; then make room or add a disk"
    code, severity = Code.DISK_LOW, Severity.WARNING
    if left <= 0:
        code, severity = Code.DISK_FULL, Severity.ERROR
        message = f"{state}: past the flood stage ({marks.flood}), at which the engine makes indices read-only"
    elif marks.passed(marks.high, disk):
        message = f"{state}: past the high watermark ({marks.high}); {readable(left)} more and indices are read-only"
    elif marks.passed(marks.low, disk):
        message = f"{state}: past the low watermark ({marks.low}); {readable(left)} more and indices are read-only"
    elif left < largest:
        message = (
            f"{state}: {readable(left)} short of the flood stage ({marks.flood}), and the next load needs "
            f"{readable(largest)} as the serving index does"
        )
    else:
        return None
    return Finding(code=code, severity=severity, subject=disk.node, message=message, remedy=room)


def check_auto_create(platform: int, alias: str, facts: EngineFacts, indices: Sequence[IndexFacts]) -> list[Finding]:
    """Where the alias does not exist yet, a stray write makes an index of its name, which no load can replace."""
    taken = any(one.name == alias or alias in one.aliases for one in indices)
    if taken or not may_create(facts.auto_create, alias):
        return []
    body = {"persistent": {"action.auto_create_index": _keeping_out(facts.auto_create, alias)}}
    return [
        Finding(
            code=Code.AUTO_CREATE,
            severity=Severity.WARNING,
            platform=platform,
            subject=alias,
            message=f"nothing has the name {alias} yet, and the engine would make an index of it at any stray write "
            f"(action.auto_create_index is {facts.auto_create})",
            remedy=curl("PUT", "_cluster/settings", body),
        )
    ]


def _keeping_out(setting: str, alias: str) -> str:
    rest = "+*" if setting.lower() == "true" else setting
    return f"-{alias}*,{rest}"


def may_create(setting: str, name: str) -> bool:
    """Whether `action.auto_create_index` lets a write make this index: the first pattern that fits decides."""
    if setting.lower() in ("true", "false"):
        return setting.lower() == "true"
    for part in (one.strip() for one in setting.split(",")):
        if _fits(part.lstrip("+-"), name):
            return not part.startswith("-")
    return False


def check_templates(platform: int, alias: str, facts: EngineFacts) -> list[Finding]:
    """A template whose patterns catch our names changes every new generation behind the definition's back."""
    names = (alias, _SAMPLE_GENERATION.format(alias=alias))
    return [
        Finding(
            code=Code.TEMPLATE,
            severity=Severity.WARNING,
            platform=platform,
            subject=template.name,
            message=f"the index template {template.name} ({', '.join(template.patterns)}) also applies to {alias} and "
            "its generations, and adds to what gear.json says",
            remedy=f"narrow its patterns, or {curl('DELETE', template.path)}",
        )
        for template in facts.templates
        if any(_fits(pattern, name) for pattern in template.patterns for name in names)
    ]


def _fits(pattern: str, name: str) -> bool:
    return re.fullmatch(".*".join(re.escape(part) for part in pattern.split("*")), name) is not None
