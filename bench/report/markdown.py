"""Tables and numbers of docs/benchmarks.md."""

from collections.abc import Sequence


def table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A table of Markdown."""
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def size(items: int) -> str:
    """A number of items in words: `100 thousand`, `10 million`."""
    for unit, name in ((1_000_000, "million"), (1000, "thousand")):
        if items % unit == 0:
            return f"{items // unit} {name}"
    return f"{items:,}"


def number(value: float) -> str:
    """Three digits, and all of those before the point."""
    return f"{value:,.0f}" if value >= 99.95 else f"{value:#.3g}"
