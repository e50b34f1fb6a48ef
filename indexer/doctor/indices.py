"""Checks the settings and mapping of a serving index against the definition. Pure."""

from typing import Any

from indexer.doctor.facts import IndexFacts
from indexer.doctor.findings import Code, Finding, PutSettings, Severity, curl, fix_command, load_command
from indexer.engine.drift import (
    analysis_differences,
    at_creation,
    defined_settings,
    field_differences,
    same,
)
from mappings.definition import Definition

BLOCKS = ("read_only_allow_delete", "read_only", "write", "read", "metadata")
# Settings that a check of their own looks at.
_OWN_CHECK = ("refresh_interval", "auto_expand_replicas", "number_of_replicas", "max_result_window")


def check_index(
    platform: int, index: IndexFacts, definition: Definition, *, data_nodes: int, room: bool
) -> list[Finding]:
    """Blocks first: nothing else can be set right while they stand."""
    defined = defined_settings(definition)
    return [
        *_blocks(platform, index, room=room),
        *_refresh(platform, index, defined),
        *_replicas(platform, index, defined, data_nodes),
        *_result_window(platform, index, defined),
        *_other_settings(platform, index, defined),
        *_drift(platform, index, definition),
    ]


def _blocks(platform: int, index: IndexFacts, *, room: bool) -> list[Finding]:
    standing = [name for name in BLOCKS if str(index.settings.get(f"blocks.{name}")).lower() == "true"]
    if not standing:
        return []
    values: dict[str, Any] = {f"blocks.{name}": None for name in standing}
    lift = curl("PUT", f"{index.name}/_settings", {"index": values})
    return [
        Finding(
            code=Code.BLOCKED,
            severity=Severity.ERROR,
            platform=platform,
            subject=index.name,
            message=f"{index.name} is blocked ({', '.join(standing)}), so that sold items cannot be hidden in it",
            remedy=fix_command(platform)
            if room
            else f"make room until the disk is below the low watermark, then {lift}",
            repair=PutSettings(index.name, values) if room else None,
        )
    ]


def _refresh(platform: int, index: IndexFacts, defined: dict[str, Any]) -> list[Finding]:
    meant, live = defined["refresh_interval"], index.settings.get("refresh_interval")
    if same(meant, live):
        return []
    never = live == "-1"
    effect = "searches never see that an item was sold" if never else "searches see changes later or sooner than meant"
    return [
        _setting(
            Code.REFRESH,
            Severity.ERROR if never else Severity.WARNING,
            platform,
            index,
            f"{index.name} has refresh_interval {live or 'unset'} instead of {meant}: {effect}",
            {"refresh_interval": meant},
        )
    ]


def _replicas(platform: int, index: IndexFacts, defined: dict[str, Any], data_nodes: int) -> list[Finding]:
    names = [name for name in defined if name in ("auto_expand_replicas", "number_of_replicas")]
    differing = {name: defined[name] for name in names if not same(defined[name], index.settings.get(name))}
    allowed = min(_max_replicas(defined), data_nodes - 1)
    copies = int(index.settings.get("number_of_replicas", 0))
    if not differing and copies >= allowed:
        return []
    differences = ", ".join(f"{name} {index.settings.get(name, 'unset')} instead of {defined[name]}" for name in names)
    few = copies < allowed
    effect = "the loss of a node stops its searches" if few else "it will not be copied when a node is added"
    message = f"{index.name} has {copies} copies where {max(allowed, 0)} are possible ({differences}): {effect}"
    severity = Severity.ERROR if few else Severity.WARNING
    if differing:
        return [_setting(Code.REPLICAS, severity, platform, index, message, differing)]
    return [
        Finding(
            code=Code.REPLICAS,
            severity=Severity.WARNING,
            platform=platform,
            subject=index.name,
            message=f"{message}; its settings are right, so a rule of allocation keeps it from a node",
            remedy=curl("GET", f"{index.name}/_settings?flat_settings=true&pretty"),
        )
    ]


def _max_replicas(defined: dict[str, Any]) -> int:
    expanding = str(defined.get("auto_expand_replicas", "false"))
    if expanding == "false":
        return int(defined.get("number_of_replicas", 0))
    most = expanding.rpartition("-")[2]
    return 10**6 if most == "all" else int(most)


def _result_window(platform: int, index: IndexFacts, defined: dict[str, Any]) -> list[Finding]:
    meant = int(defined["max_result_window"])
    live = index.result_window
    if live == meant:
        return []
    small = live < meant
    effect = "pages beyond it are answered with an error" if small else "that is more than any page needs"
    return [
        _setting(
            Code.RESULT_WINDOW,
            Severity.ERROR if small else Severity.WARNING,
            platform,
            index,
            f"{index.name} has max_result_window {live} instead of {meant}: {effect}",
            {"max_result_window": meant},
        )
    ]


def _other_settings(platform: int, index: IndexFacts, defined: dict[str, Any]) -> list[Finding]:
    differing = {
        name: value
        for name, value in defined.items()
        if name not in _OWN_CHECK and not same(value, index.settings.get(name))
    }
    if not differing:
        return []
    fixed = [name for name in differing if at_creation(name)]
    differences = "; ".join(
        f"{name} {index.settings.get(name, 'unset')} instead of {differing[name]}" for name in differing
    )
    message = f"{index.name} has other settings than gear.json: {differences}"
    if not fixed:
        return [_setting(Code.SETTINGS, Severity.WARNING, platform, index, message, differing)]
    return [
        Finding(
            code=Code.SETTINGS,
            severity=Severity.WARNING,
            platform=platform,
            subject=index.name,
            message=f"{message}; {', '.join(fixed)} can be set only on a new index",
            remedy=load_command(platform),
        )
    ]


def _setting(
    code: Code, severity: Severity, platform: int, index: IndexFacts, message: str, values: dict[str, Any]
) -> Finding:
    return Finding(
        code=code,
        severity=severity,
        platform=platform,
        subject=index.name,
        message=message,
        remedy=fix_command(platform),
        repair=PutSettings(index.name, values),
    )


def _drift(platform: int, index: IndexFacts, definition: Definition) -> list[Finding]:
    fingerprint = index.mappings.get("_meta", {}).get("fingerprint")
    fields = field_differences(definition, index.mappings)
    analysis = analysis_differences(definition, index.settings)
    differences = []
    if fingerprint != definition.fingerprint:
        differences.append(
            f"it was made with definition {fingerprint or 'unknown'}, this version's is {definition.fingerprint}"
        )
    if fields:
        differences.append(f"fields {fields.sentence()}")
    if analysis:
        differences.append(f"analysis {analysis.sentence()}")
    if not differences:
        return []
    sentence = "; ".join(differences)
    return [
        Finding(
            code=Code.MAPPING_DRIFT,
            severity=Severity.ERROR,
            platform=platform,
            subject=index.name,
            message=f"{index.name} is not what gear.json describes, so searches may miss items: {sentence}",
            remedy=load_command(platform),
        )
    ]
