"""Markdown of measured figures: rows in, a table out; names and numbers in, Mermaid's plots of bars or lines out."""

import json
import math
from collections.abc import Mapping, Sequence

_BAR_COLOUR = "#8fb3d9"  # dark enough on white, light enough behind its number
# Told apart in grey and by most of those who see few colours (Okabe and Ito).
_LINE_COLOURS = {"blue": "#0072b2", "orange": "#e69f00", "green": "#009e73", "purple": "#cc79a7"}


def table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A table of Markdown."""
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def plot(title: str, bars: Sequence[tuple[str, float]]) -> str:
    """Lying bars, each with its text."""
    names = ", ".join(json.dumps(name, ensure_ascii=False) for name, _ in bars)
    values = ", ".join(f"{value:.4g}" if value < 1000 else f"{value:.0f}" for _, value in bars)
    most = max(value for _, value in bars)
    look = {
        "xyChart": {"height": 90 + 36 * len(bars), "showDataLabel": True, "titleFontSize": 16},
        "themeVariables": {"xyChart": {"plotColorPalette": _BAR_COLOUR}},
    }
    lines = ["```mermaid", f"%%{{init: {json.dumps(look)}}}%%", "xychart-beta horizontal"]
    lines += [f'    title "{title}"', f"    x-axis [{names}]"]
    # without an end of its own the axis would begin at the least value, whose bar were none
    return "\n".join([*lines, f"    y-axis 0 --> {math.ceil(most * 1.1)}", f"    bar [{values}]", "```"])


def size(items: int) -> str:
    """A number of items in words: `100 thousand`, `10 million`."""
    for unit, name in ((1_000_000, "million"), (1000, "thousand")):
        if items % unit == 0:
            return f"{items // unit} {name}"
    return f"{items:,}"


def number(value: float) -> str:
    """Three digits, and all of those before the point."""
    return f"{value:,.0f}" if value >= 99.95 else f"{value:#.3g}"


def lines(title: str, unit: str, at: Sequence[str], series: Mapping[str, Sequence[float]]) -> str:
    """At most four lines over the same places, and a sentence that says whose colour is whose: there is no legend."""
    palette = ", ".join(_LINE_COLOURS.values())
    look = {"xyChart": {"titleFontSize": 16}, "themeVariables": {"xyChart": {"plotColorPalette": palette}}}
    names = ", ".join(json.dumps(name) for name in at)
    most = max(value for values in series.values() for value in values)
    told = ["```mermaid", f"%%{{init: {json.dumps(look)}}}%%", "xychart-beta", f'    title "{title}"']
    told += [f"    x-axis [{names}]", f'    y-axis "{unit}" 0 --> {math.ceil(most * 1.1)}']
    told += [f"    line [{', '.join(f'{value:.4g}' for value in values)}]" for values in series.values()]
    legend = "; ".join(f"{colour}: {name}" for colour, name in zip(_LINE_COLOURS, series, strict=False))
    return "\n".join([*told, "```", "", f"{legend[0].upper()}{legend[1:]}."])
