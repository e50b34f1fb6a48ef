"""Languages of people: which of those that there are a browser wants."""

from collections.abc import Collection, Iterator
from typing import Final

ENGLISH: Final = "en"
MAX_HEADER: Final = 1000  # characters that are read
# A language that is written in two ways, by what says which: a script or a region.
_WRITTEN: Final = {"zh": {"hant": "hant", "tw": "hant", "hk": "hant", "mo": "hant"}}
_USUALLY: Final = {"zh": "hans"}


def preferred(header: str, codes: Collection[str]) -> str:
    """The first language of an `Accept-Language` header that there is, else English."""
    code_of = {_written(code): code for code in codes}
    return next((code_of[wish] for wish in _wishes(header) if wish in code_of), ENGLISH)


def _wishes(header: str) -> Iterator[tuple[str, str | None]]:
    weighed = []
    for part in header[:MAX_HEADER].split(","):
        tag, _, parameter = part.partition(";")
        name, _, weight = parameter.strip().partition("=")
        try:
            weighed.append((float(weight) if name.strip() == "q" else 1.0, tag.strip()))
        except ValueError:
            continue
    return (_written(tag) for weight, tag in sorted(weighed, key=lambda each: -each[0]) if weight > 0)


def _written(code: str) -> tuple[str, str | None]:
    """A language and, where it has several, its script."""
    language, *rest = code.lower().split("-")
    scripts = _WRITTEN.get(language, {})
    return language, next((scripts[part] for part in rest if part in scripts), _USUALLY.get(language))
