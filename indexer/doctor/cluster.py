"""Checks what around our indices changes them: the engine's version, automatic creation, index templates.

The cluster's health and disks are for a monitoring product.
"""

import re
from collections.abc import Iterator

from indexer.doctor.facts import EngineFacts, PlatformFacts
from indexer.doctor.findings import Code, Finding, curl
from mappings.names import products_of

OLDEST_MAJOR = 3
# A generation's name has 17 digits and the fingerprint behind the alias.
_SAMPLE_GENERATION = "{alias}-20200101000000000-00000000"


def check_version(facts: EngineFacts) -> Iterator[Finding]:
    """The queries are written for OpenSearch 3.0 and newer."""
    major = facts.version.partition(".")[0]
    if facts.distribution != "opensearch" or not major.isdigit() or int(major) < OLDEST_MAJOR:
        message = f"the engine is {facts.distribution} {facts.version}, and only OpenSearch 3.0 and newer is supported"
        remedy = "move the cluster to OpenSearch 3.6, then load again"
        yield Finding(Code.ENGINE_VERSION, None, "engine", message, remedy)


def check_auto_create(engine: EngineFacts, facts: PlatformFacts) -> Iterator[Finding]:
    """Where the alias does not exist yet, a stray write makes an index of its name, which no load can replace."""
    alias = facts.alias
    taken = any(index.name == alias or alias in index.aliases for index in facts.indices)
    if not taken and may_create(engine.auto_create, alias):
        rest = "+*" if engine.auto_create.lower() == "true" else engine.auto_create
        body = {"persistent": {"action.auto_create_index": f"-{alias}*,{rest}"}}
        message = (
            f"nothing has the name {alias} yet, and the engine would make an index of it at any stray write "
            f"(action.auto_create_index is {engine.auto_create})"
        )
        yield Finding(Code.AUTO_CREATE, facts.platform, alias, message, curl("PUT", "_cluster/settings", body))


def may_create(setting: str, name: str) -> bool:
    """Whether `action.auto_create_index` lets a write make this index: the first pattern that fits decides."""
    if setting.lower() in ("true", "false"):
        return setting.lower() == "true"
    for part in (pattern.strip() for pattern in setting.split(",")):
        if _fits(part.lstrip("+-"), name):
            return not part.startswith("-")
    return False


def check_templates(engine: EngineFacts, facts: PlatformFacts) -> Iterator[Finding]:
    """A template whose patterns catch our names changes every new generation behind the definition's back."""
    sample = _SAMPLE_GENERATION.format(alias=facts.alias)
    names = (facts.alias, sample, products_of(sample))
    for template in engine.templates:
        if any(_fits(pattern, name) for pattern in template.patterns for name in names):
            message = (
                f"the index template {template.name} ({', '.join(template.patterns)}) also applies to {facts.alias} "
                "and its generations, and adds to what gear.json and products.json say"
            )
            remedy = f"narrow its patterns, or {curl('DELETE', template.path)}"
            yield Finding(Code.TEMPLATE, facts.platform, template.name, message, remedy)


def _fits(pattern: str, name: str) -> bool:
    return re.fullmatch(".*".join(re.escape(part) for part in pattern.split("*")), name) is not None
