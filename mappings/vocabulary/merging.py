"""One vocabulary of several: the platform's own and its languages. Pure."""

from collections.abc import Mapping, Sequence
from typing import Any

from mappings.vocabulary.vocabulary import Vocabulary


def merged(vocabularies: Sequence[Vocabulary]) -> Vocabulary:
    """One vocabulary of several: the platform's own first, then its languages."""
    parts: dict[str, Any] = {}
    for vocabulary in vocabularies:
        for name in Vocabulary.model_fields:
            value = getattr(vocabulary, name)
            parts[name] = _joined(parts[name], value) if name in parts else value
    return Vocabulary.model_construct(**parts)  # each was validated


def _joined(first: Any, second: Any) -> Any:
    if isinstance(first, Mapping):
        both = {key: _joined(first[key], second[key]) for key in first if key in second}
        return {**first, **second, **both}
    return first | second if isinstance(first, frozenset) else second if isinstance(first, str) else (*first, *second)
