"""Checks the settings and mapping of a serving index against the definition. Pure."""

from collections.abc import Iterator
from typing import Any

from indexer.doctor.facts import IndexFacts, PlatformFacts
from indexer.doctor.findings import Action, Code, Finding, Repair, Severity, curl, fix_command, load_command
from indexer.engine.drift import DefinedIndex, analysis_differences, at_creation, field_differences, same

BLOCKS = ("read_only_allow_delete", "read_only", "write", "read", "metadata")
# Settings that a check of their own looks at.
_OWN_CHECK = ("refresh_interval", "auto_expand_replicas", "number_of_replicas", "max_result_window")


# What it means for each index of a generation that it cannot be written, and that searches see no changes of it.
_BLOCKED = {
    "gear.json": "sold items cannot be hidden in it",
    "products.json": "no item of a new product can be put on offer",
}
_UNSEEN = {"gear.json": "searches never see that an item was sold", "products.json": "texts never find new products"}


def check_index(facts: PlatformFacts, index: IndexFacts, definition: DefinedIndex) -> Iterator[Finding]:
    """Checks one index of a generation. Blocks first: nothing else can be set right while they stand."""
    defined, platform = definition.settings, facts.platform
    yield from _blocks(platform, index, _BLOCKED[definition.file], room=facts.room)
    yield from _refresh(platform, index, defined, _UNSEEN[definition.file])
    yield from _replicas(platform, index, defined, facts.data_nodes)
    yield from _result_window(platform, index, defined)
    yield from _other_settings(platform, index, definition)
    yield from _drift(platform, index, definition, facts.definition.fingerprint)


def _blocks(platform: int, index: IndexFacts, effect: str, *, room: bool) -> Iterator[Finding]:
    standing = [name for name in BLOCKS if str(index.settings.get(f"blocks.{name}")).lower() == "true"]
    if not standing:
        return
    values = {f"blocks.{name}": None for name in standing}
    message = f"{index.name} is blocked ({', '.join(standing)}), so that {effect}"
    if room:
        repair = Repair(Action.PUT_SETTINGS, index.name, values)
        yield Finding(Code.BLOCKED, platform, index.name, message, fix_command(platform), repair)
    else:
        lift = curl("PUT", f"{index.name}/_settings", {"index": values})
        remedy = f"make room until the disk is below the low watermark, then {lift}"
        yield Finding(Code.BLOCKED, platform, index.name, message, remedy)


def _refresh(platform: int, index: IndexFacts, defined: dict[str, Any], unseen: str) -> Iterator[Finding]:
    expected, live = defined["refresh_interval"], index.settings.get("refresh_interval")
    if same(expected, live):
        return
    never = live == "-1"
    effect = unseen if never else "searches see changes later or sooner than meant"
    message = f"{index.name} has refresh_interval {live or 'unset'} instead of {expected}: {effect}"
    yield _setting(Code.REFRESH, platform, index, message, {"refresh_interval": expected}, is_error=never)


def _replicas(platform: int, index: IndexFacts, defined: dict[str, Any], data_nodes: int) -> Iterator[Finding]:
    names = [name for name in defined if name in ("auto_expand_replicas", "number_of_replicas")]
    differing = {name: defined[name] for name in names if not same(defined[name], index.settings.get(name))}
    allowed = min(_max_replicas(defined), data_nodes - 1)
    copies = int(index.settings.get("number_of_replicas", 0))
    few = copies < allowed
    if not differing and not few:
        return
    differences = ", ".join(f"{name} {index.settings.get(name, 'unset')} instead of {defined[name]}" for name in names)
    effect = "the loss of a node stops its searches" if few else "it will not be copied when a node is added"
    message = f"{index.name} has {copies} copies where {max(allowed, 0)} are possible ({differences}): {effect}"
    if differing:
        yield _setting(Code.REPLICAS, platform, index, message, differing, is_error=few)
    else:
        message += "; its settings are right, so a rule of allocation keeps it from a node"
        remedy = curl("GET", f"{index.name}/_settings?flat_settings=true&pretty")
        severity = Severity.WARNING
        yield Finding(Code.REPLICAS, platform, index.name, message, remedy, exceptional_severity=severity)


def _max_replicas(defined: dict[str, Any]) -> int:
    expanding = str(defined.get("auto_expand_replicas", "false"))
    if expanding == "false":
        return int(defined.get("number_of_replicas", 0))
    most = expanding.rpartition("-")[2]
    return 10**6 if most == "all" else int(most)


def _result_window(platform: int, index: IndexFacts, defined: dict[str, Any]) -> Iterator[Finding]:
    expected, live = int(defined["max_result_window"]), index.result_window
    if live == expected:
        return
    small = live < expected
    effect = "pages beyond it are answered with an error" if small else "that is more than any page needs"
    message = f"{index.name} has max_result_window {live} instead of {expected}: {effect}"
    yield _setting(Code.RESULT_WINDOW, platform, index, message, {"max_result_window": expected}, is_error=small)


def _other_settings(platform: int, index: IndexFacts, definition: DefinedIndex) -> Iterator[Finding]:
    differing = {
        name: value
        for name, value in definition.settings.items()
        if name not in _OWN_CHECK and not same(value, index.settings.get(name))
    }
    if not differing:
        return
    fixed = [name for name in differing if at_creation(name)]
    differences = "; ".join(
        f"{name} {index.settings.get(name, 'unset')} instead of {differing[name]}" for name in differing
    )
    message = f"{index.name} has other settings than {definition.file}: {differences}"
    if fixed:
        message += f"; {', '.join(fixed)} can be set only on a new index"
        yield Finding(Code.SETTINGS, platform, index.name, message, load_command(platform))
    else:
        yield _setting(Code.SETTINGS, platform, index, message, differing, is_error=False)


def _setting(
    code: Code, platform: int, index: IndexFacts, message: str, values: dict[str, Any], *, is_error: bool
) -> Finding:
    severity = Severity.ERROR if is_error else Severity.WARNING
    repair = Repair(Action.PUT_SETTINGS, index.name, values)
    return Finding(code, platform, index.name, message, fix_command(platform), repair, severity)


def _drift(platform: int, index: IndexFacts, definition: DefinedIndex, expected: str) -> Iterator[Finding]:
    fingerprint = index.meta.get("fingerprint")
    fields = field_differences(definition, index.mappings)
    analysis = analysis_differences(definition, index.settings)
    differences = []
    if fingerprint != expected:
        differences.append(f"it was made with definition {fingerprint or 'unknown'}, this version's is {expected}")
    if fields:
        differences.append(f"fields {fields.sentence()}")
    if analysis:
        differences.append(f"analysis {analysis.sentence()}")
    if differences:
        message = f"{index.name} is not what {definition.file} describes, so searches may miss items: "
        message += "; ".join(differences)
        yield Finding(Code.MAPPING_DRIFT, platform, index.name, message, load_command(platform))
