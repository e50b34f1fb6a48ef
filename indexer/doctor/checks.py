"""Checks a platform's alias and generations against the definition. Pure."""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from rich import filesize

from indexer.doctor.facts import IndexFacts, PlatformFacts
from indexer.doctor.findings import Action, Code, Finding, Repair, curl, fix_command, load_command
from indexer.doctor.indices import check_index
from indexer.doctor.locks import check_lock, check_orphans, check_unfinished
from indexer.engine.drift import DefinedIndex, defined_listings, defined_products
from mappings.definition import Definition
from mappings.names import products_of

if TYPE_CHECKING:
    from indexer.products.comparison import AlteredProducts, NamedProducts

MAX_UNUSED = 10_000  # products that no item names, of which nothing is said: 3 MB


def check_platform(facts: PlatformFacts) -> Iterator[Finding]:
    """All that can be said without the orders; what a later repair needs is first."""
    yield from _alias(facts)
    yield from _foreign(facts)
    for index in facts.serving:
        if index.closed or index.generation is not None:
            yield from _served(facts, index, defined_listings(facts.definition), "every search fails")
    if facts.comparable is not None:
        yield from _products(facts, facts.comparable)
    yield from check_lock(facts)
    yield from check_unfinished(facts)
    yield from check_orphans(facts)
    yield from _too_many(facts)


def _served(facts: PlatformFacts, index: IndexFacts, defined: DefinedIndex, effect: str) -> Iterator[Finding]:
    """What is wrong with an index that serves, of listings or of products."""
    if index.closed:
        message = f"{index.name} serves behind {facts.alias} and is closed, so that {effect}"
        yield Finding(Code.CLOSED, facts.platform, index.name, message, curl("POST", f"{index.name}/_open"))
        return
    yield from check_index(facts, index, defined)


def _products(facts: PlatformFacts, index: IndexFacts) -> Iterator[Finding]:
    """What is wrong between the listings that serve and their products."""
    platform, alias, products = facts.platform, products_of(facts.alias), facts.products_of(index)
    if products is None:
        missing = products_of(index.name)
        message = f"{index.name} serves without {missing}, so that every search with a text fails, and pages do"
        yield Finding(Code.PRODUCTS_MISSING, platform, index.name, message, load_command(platform))
        return
    named = {each.name for each in facts.products if alias in each.aliases}
    if named != {products.name}:
        message = (
            f"the alias {alias} points to {', '.join(sorted(named)) or 'nothing'} instead of "
            f"{products.name}, so that texts are not matched with the products of {index.name}"
        )
        repair = Repair(Action.POINT_PRODUCTS, index.name)
        yield Finding(Code.PRODUCTS_ALIAS, platform, alias, message, fix_command(platform), repair)
    yield from _served(facts, products, defined_products(facts.definition), "every search with a text fails")


def check_named(platform: int, index: str, named: "NamedProducts") -> Iterator[Finding]:
    """Items that no text finds, and products that no item needs."""
    if not named.complete:
        message = (
            f"{named.missing:,} of the {named.named:,} products, names of stickers and other shared documents "
            f"that items of {index} name are missing, and {named.unnamed:,} items name no product: no text finds these "
            "items, or no page can show them"
        )
        yield Finding(Code.PRODUCTS_INCOMPLETE, platform, index, message, load_command(platform))
    if named.unused > max(named.named, MAX_UNUSED):
        message = (
            f"no item of {index} names {named.unused:,} of the {named.stored:,} shared documents and stickers: "
            "their last items are gone, and they take space and the time of searches until a load leaves them out"
        )
        yield Finding(Code.PRODUCTS_UNUSED, platform, index, message, load_command(platform))


def check_altered(platform: int, index: str, altered: "AlteredProducts") -> Iterator[Finding]:
    """Products that say something else than was loaded."""
    if altered.number:
        message = (
            f"{altered.number:,} products or other shared documents of {index} were altered behind the indexer's "
            f"back (such as {altered.first}): searches find and show what they say now, and what is shown wrongly "
            "cannot be ordered"
        )
        yield Finding(Code.PRODUCTS_ALTERED, platform, index, message, load_command(platform))


def _alias(facts: PlatformFacts) -> Iterator[Finding]:
    alias, platform = facts.alias, facts.platform
    taken = [index for index in (*facts.indices, *facts.products) if index.name in (alias, products_of(alias))]
    ours = [index for index in facts.serving if index.generation is not None]
    for index in taken:
        message = (
            f"an index is named {index.name}, which must be an alias: something wrote before the first load "
            f"({index.items:,} documents are in it), and no load can be swapped in"
        )
        repair = None if index.items else Repair(Action.REMOVE_EMPTY_INDEX, index.name)
        by_hand = f"{curl('DELETE', index.name)}, then {load_command(platform)}"
        remedy = by_hand if index.items else fix_command(platform)
        yield Finding(Code.ALIAS_IS_INDEX, platform, index.name, message, remedy, repair)
    if taken:
        return
    if len(ours) > 1:
        names = ", ".join(index.name for index in ours)
        fault = f"the alias {alias} points to {len(ours)} indices ({names}): items are found twice and sold ones are "
        yield _to_serve(facts, Code.ALIAS_SEVERAL, ours, f"{fault}not hidden; {{}} should serve alone: {{}}")
    elif facts.finished and not facts.serving:
        fault = f"nothing serves behind {alias} although {len(facts.finished)} finished generations exist; "
        yield _to_serve(facts, Code.ALIAS_MISSING, facts.finished, f"{fault}{{}} should: {{}}")


def _to_serve(facts: PlatformFacts, code: Code, candidates: Sequence[IndexFacts], message: str) -> Finding:
    """The finding that another generation should serve; `message` has places for its name and the reason."""
    complete = [index for index in candidates if facts.products_of(index) is not None]
    best, why = preferred(facts.definition, complete or candidates)
    remedy = f"gear-indexer rollback --platform {facts.platform} --to {best.name}"
    repair = Repair(Action.SERVE, best.name)
    return Finding(code, facts.platform, facts.alias, message.format(best.name, why), remedy, repair)


def preferred(definition: Definition, candidates: Sequence[IndexFacts]) -> tuple[IndexFacts, str]:
    """Which of these, oldest first, should serve, and why."""
    equal = [index for index in candidates if index.meta.get("fingerprint") == definition.fingerprint]
    if equal:
        return equal[-1], f"it is the newest with this version's definition ({definition.fingerprint})"
    return candidates[-1], "it is the newest, and none has this version's definition"


def _foreign(facts: PlatformFacts) -> Iterator[Finding]:
    for index in facts.serving:
        if index.generation is None and index.name != facts.alias:
            message = f"the alias {facts.alias} points to {index.name}, which no load has made"
            remedy = curl("DELETE", f"{index.name}/_alias/{facts.alias}")
            yield Finding(Code.ALIAS_FOREIGN, facts.platform, index.name, message, remedy)


def _too_many(facts: PlatformFacts) -> Iterator[Finding]:
    finished, keep = facts.finished, facts.keep
    others = [index for index in reversed(finished) if index not in facts.serving]  # newest first, as prune keeps them
    spare = others[max(keep - (len(finished) - len(others)), 0) :]
    if len(finished) > keep:
        size = filesize.decimal(sum(map(facts.bytes_of, spare)))
        message = f"{len(finished)} finished generations are kept, {keep} are meant to be; the others take {size}"
        remedy = f"gear-indexer prune --platform {facts.platform} --keep {keep}"
        yield Finding(Code.TOO_MANY_GENERATIONS, facts.platform, facts.alias, message, remedy)
