"""Names and docstrings are in the field's words."""

import ast
import re
from pathlib import Path
from typing import Final

from tests.support.source_code import (
    EXAMPLES,
    FILES,
    ROOT,
    TEST_FILES,
    names,
    nodes_of,
    none,
    shown,
    text_of,
    tree_of,
    words,
)

# Words of our own where the field has one. None of them is in the name of a file, class, function, parameter, field,
# constant, flag, metric or setting.
PRIVATE_WORDS: Final = re.compile(
    r"kept|unkept|untold|dearest|company|patience|strangers?|noting|masks?|masking|paces?|twins?|overtaken|upkeep"
    r"|answers?|behind|moments?|seen|understand|understood|views?|freeze|frozen|begun|leftovers|questions?|met|senders|doubtful|stated|sums"
)
PRIVATE_PHRASES: Final = re.compile(
    r"^_?(most|least|MOST|LEAST)_|low_water|LowWater|in_force|left_by_the_dead|known_to_live|once_more|give_?n?_?up|GivenUp|give-up|Rounds|Shares|Notes|Waits"
)
# Participles and pronouns where a value has a noun; as whole names.
VAGUE_NAMES: Final = re.compile(
    r"_?(found|held|kept|asked|told|one|whole|made|chosen|given|about|said|known|gone|meant|begun|seen|met)s?"
)
TELEGRAPHIC: Final = re.compile(r"\bin[,;:.)]|\bgoes? in\b|\bcomes? out\b|\bin\b.*\bout\b[.:,]")
"""What goes in and what comes out, in the place of a sentence."""

EMPTY_NAMES: Final = {"utils", "util", "common", "helpers", "helper", "manager", "misc", "shared", "base"}


def test_names_are_the_fields_words() -> None:
    offenders = {
        f"{shown(file)}: {name}"
        for file in [*FILES, *EXAMPLES, *TEST_FILES]
        for name in names(file)
        if VAGUE_NAMES.fullmatch(name)
        or PRIVATE_PHRASES.search(name)
        or (not is_sentence(name, file) and any(PRIVATE_WORDS.fullmatch(word) for word in words(name)))
    }
    none(offenders, "say it in the field's words")


def is_sentence(name: str, file: Path) -> bool:
    """Whether it is the name of a test function, which says what users rely on in words of everyday English."""
    return name.startswith("test_") and name != file.stem


def test_docstrings_are_sentences() -> None:
    """Not "what goes in, what comes out"."""
    files = [*FILES, *TEST_FILES]
    openings = {file: (ast.get_docstring(tree_of(file)) or "").partition("\n\n")[0] for file in files}
    none((f"{shown(file)}: {text}" for file, text in openings.items() if TELEGRAPHIC.search(text)), "say what it is")


def test_every_module_opens_with_one_sentence() -> None:
    for file in FILES:
        opening = (ast.get_docstring(tree_of(file)) or "").partition("\n\n")[0]
        assert opening.rstrip().endswith((".", "`", ":")), f"{shown(file)}: say in one sentence what it is or does"


def test_nothing_is_named_after_nothing() -> None:
    parts = {(file, part) for file in FILES for part in file.relative_to(ROOT).with_suffix("").parts}
    none((shown(file) for file, part in parts if {*part.split("_")} & EMPTY_NAMES), "the name says nothing")
    classes = [
        f"{shown(file)}: {node.name}"
        for file in FILES
        for node in nodes_of(file)
        if isinstance(node, ast.ClassDef) and re.search(r"Util|Helper|Manager", node.name)
    ]
    none(classes, "the name says nothing")


def test_nothing_is_left_for_later() -> None:
    none((shown(file) for file in FILES if re.search(r"\b(TODO|FIXME|XXX|HACK)\b", text_of(file))), "finish it")
