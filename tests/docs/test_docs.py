"""The documents name only what exists: commands, options, settings, error codes, tests, links."""

import re
import shlex
from collections.abc import Iterator
from pathlib import Path

import click
import pytest

from api.errors import ERRORS
from api.settings import Settings
from node.settings import NodeSettings
from tests.docs.pages import DOCS, GROUPS, PAGES, commands, help_text

ROOT = DOCS.parent
COMMANDS = dict(pair for name, group in GROUPS.items() for pair in commands(name, group))
TARGETS = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE))
DOCUMENTS = sorted([*ROOT.glob("*.md"), *DOCS.rglob("*.md")])
DUTIES = [DOCS / name for name in ("operations.md", "catalogue.md", "orders.md", "monitoring.md")]
WRITTEN = [file for file in DOCUMENTS if file.name not in PAGES]
SETTINGS = {str(field.validation_alias or f"GEAR_{name.upper()}") for name, field in Settings.model_fields.items()} | {
    f"GEAR_NODE_{name.upper()}" for name in NodeSettings.model_fields
}
# Names that begin like settings: of the tests, of integrators, and of Compose.
COMPOSE = {name for file in ROOT.glob("*compose*.yml") for name in re.findall(r"\$\{(GEAR_\w+)", file.read_text())}
OTHER_VARIABLES = re.compile("|".join([r"GEAR_TEST_\w+", "GEAR_X_FILE", "GEAR_URL", *COMPOSE]))
TESTS = {
    name
    for file in (ROOT / "tests").rglob("test_*.py")
    for name in [file.stem, *re.findall(r"def (test_[a-z0-9_]+)", file.read_text(encoding="utf-8"))]
}


def text_of(file: Path) -> str:
    """A document's text."""
    return file.read_text(encoding="utf-8")


def without_blocks(text: str) -> str:
    """The text without its fenced blocks."""
    return re.sub(r"^```.*?^```", "", text, flags=re.MULTILINE | re.DOTALL)


def code_spans(text: str) -> list[str]:
    """Everything between backticks outside of fenced blocks, on one line each."""
    return [" ".join(span.split()) for span in re.findall(r"`([^`]+)`", without_blocks(text))]


def command_lines(text: str) -> Iterator[str]:
    """Every line and code span that begins with one of our commands."""
    yield from re.findall(r"^(?:\.venv/bin/)?(gear-[a-z]+ .*)$", text, re.MULTILINE)
    for span in code_spans(text):
        if re.match(r"gear-(indexer|api|node)( |$)", span):
            yield span


def anchors_of(file: Path) -> set[str]:
    """The anchors of a document's headings, as GitHub makes them."""
    headings = re.findall(r"^#+ (.+)$", without_blocks(text_of(file)), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("name", PAGES)
def test_generated_pages_are_up_to_date(name: str) -> None:
    assert text_of(DOCS / name) == PAGES[name](), "run `make docs` and commit what it wrote"


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_and_option_has_help_and_an_example(name: str) -> None:
    usage, *rest = help_text(name).splitlines()
    assert usage.startswith(f"Usage: {name}")
    assert any(name in line for line in rest), "the help needs an example that can be pasted"
    options = [parameter for parameter in COMMANDS[name].params if isinstance(parameter, click.Option)]
    assert [option.name for option in options if not option.help] == []


@pytest.mark.parametrize("file", WRITTEN, ids=lambda file: file.name)
def test_links_lead_somewhere(file: Path) -> None:
    broken = []
    for path, anchor in re.findall(r"\]\((?!https?:)([^)#]*)(?:#([^)]*))?\)", without_blocks(text_of(file))):
        target = file.parent / path if path else file
        if not target.exists() or (anchor and anchor not in anchors_of(target)):
            broken.append(f"{path}#{anchor}")
    assert broken == []


@pytest.mark.parametrize("file", WRITTEN, ids=lambda file: file.name)
def test_commands_and_their_options_exist(file: Path) -> None:
    text = text_of(file)
    named = re.findall(r"`make ([a-z][a-z-]+)`", text) + re.findall(r"^make ([a-z-]+)", text, re.MULTILINE)
    assert set(named) <= TARGETS
    for line in command_lines(text):
        words = shlex.split(line.split("|")[0].replace("…", ""), comments=True)
        name = max((name for name in COMMANDS if words[: len(name.split())] == name.split()), key=len)
        rest = words[len(name.split()) :]
        if isinstance(COMMANDS[name], click.Group):
            assert not rest or rest[0].startswith("-"), f"{name} has no command {rest[0]}"
        options = {flag for option in COMMANDS[name].params for flag in (*option.opts, *option.secondary_opts)}
        used = {word.split("=")[0] for word in rest if word.startswith("--")}
        assert used <= options | {"--help"}, f"{name} does not take {used - options}"


@pytest.mark.parametrize("file", [ROOT / "README.md", ROOT / "CHANGELOG.md", *DUTIES, DOCS / "resiliency.md"])
def test_options_named_alone_exist(file: Path) -> None:
    options = {flag for command in COMMANDS.values() for option in command.params for flag in (*option.opts, "--help")}
    spans = code_spans(text_of(file))
    assert {span.split()[0] for span in spans if span.startswith("--")} <= options


def test_the_settings_on_the_operations_page_are_those_of_the_code() -> None:
    rows = re.findall(r"^\| (`[A-Z]+_[^|]+) \|", text_of(DOCS / "operations.md"), re.MULTILINE)
    secret_files = {
        name for name in SETTINGS if name.removesuffix("_FILE") in SETTINGS - {name}
    }  # one sentence for all
    assert {name for row in rows for name in re.findall(r"[A-Z]\w+", row)} == SETTINGS - secret_files


@pytest.mark.parametrize("file", WRITTEN, ids=lambda file: file.name)
def test_settings_exist(file: Path) -> None:
    named = {name for span in code_spans(text_of(file)) for name in re.findall(r"\bGEAR_[A-Z_]+[A-Z]\b", span)}
    assert {name for name in named - SETTINGS if not OTHER_VARIABLES.fullmatch(name)} == set()


def test_every_error_code_is_documented() -> None:
    text = text_of(DOCS / "api.md")
    assert {code for code in ERRORS if f"| `{code}` |" not in text} == set()


@pytest.mark.parametrize("file", DOCUMENTS, ids=lambda file: file.name)
def test_tests_that_are_named_exist(file: Path) -> None:
    assert set(re.findall(r"`(test_[a-z0-9_]+)(?:\.py)?`", text_of(file))) <= TESTS


def test_every_fault_on_the_resiliency_page_names_its_test() -> None:
    rows = re.findall(r"^\| (?!---|fault )(.*) \|$", text_of(DOCS / "resiliency.md"), re.MULTILINE)
    assert len(rows) > 100
    assert [row for row in rows if "`test_" not in row.split(" | ")[-1]] == []


def test_the_metrics_on_the_monitoring_page_are_those_of_the_code() -> None:
    kinds = "[Cc]ounter|[Gg]auge|[Hh]istogram|GaugeMetricFamily|CounterMetricFamily"
    declared = re.compile(rf'(?:{kinds})\(\s*(?:registry,\s*)?"(gear_[a-z_]+)"')
    files = [*(ROOT / "api").rglob("*.py"), *(ROOT / "indexer").rglob("*.py")]
    metrics = {name for file in files for name in declared.findall(text_of(file))}
    named = {file: set(re.findall(r"\bgear_[a-z_]+\b", text_of(file))) for file in DUTIES}
    without_unit = {
        file: {re.sub(r"_(total|bucket|sum|count)$", "", name) for name in names} for file, names in named.items()
    }
    assert without_unit[DOCS / "monitoring.md"] == metrics
    assert set().union(*without_unit.values()) <= metrics
