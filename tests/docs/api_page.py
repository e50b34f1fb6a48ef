"""`docs/api.md`: the OpenAPI description in, a page with every field, limit and example out."""

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from api.errors import ERRORS
from tests.docs.limits import held_in, limits_of, type_of

Schema = dict[str, Any]
LINE = 100  # characters of an example's line, beyond which what it holds has lines of its own


@dataclass
class ApiPage:
    """The description, and where each object has been told: it is told once."""

    schema: Schema
    told: dict[str, tuple[str, str]] = field(default_factory=dict)  # an object's reference to its operation and field

    def text(self) -> str:
        """The page without its first lines."""
        parts = [
            self._operation(f"{method.upper()} {path}", operation)
            for path, operations in self.schema["paths"].items()
            for method, operation in operations.items()
        ]
        return "\n".join([*parts, self._errors()])

    def _operation(self, title: str, operation: Schema) -> str:
        parts = [f"## {title}\n", f"**{operation['summary']}.** {operation.get('description', '')}\n"]
        parts += self._parameters(operation.get("parameters", ()))
        if "requestBody" in operation:
            content = operation["requestBody"]["content"]["application/json"]
            parts += self._fields(title, "field of the body", content["schema"], answered=False)
            parts += [f"Body, {name}:\n\n{block(one['value'])}" for name, one in content["examples"].items()]
        for status, answer in operation["responses"].items():
            content = answer.get("content", {}).get("application/json", {})
            if int(status) < 400 and content:
                parts += self._fields(title, f"field of the answer {status}", content["schema"], answered=True)
                parts += answers_of(status, content)
        codes = [
            f"{status} {one['description']}" for status, one in operation["responses"].items() if int(status) >= 400
        ]
        return "\n".join([*parts, f"Errors: {' · '.join(codes)}\n"])

    def _parameters(self, parameters: list[Schema]) -> list[str]:
        if not parameters:
            return []
        rows = ["| parameter | in | type | limits | default | meaning |", "| --- | --- | --- | --- | --- | --- |"]
        for one in parameters:
            shape, limits = self._shape(one["schema"], answered=False)
            default = _default(one["schema"], required=one.get("required", False))
            rows.append(_row(f"`{one['name']}`", one["in"], shape, limits, default, _said(one.get("description", ""))))
        return ["\n".join(rows) + "\n"]

    def _fields(self, title: str, head: str, held: Schema, *, answered: bool) -> list[str]:
        cells = (head, "type", "meaning") if answered else (head, "type", "limits", "default", "meaning")
        rows = [_row(*cells), _row(*["---"] * len(cells))]
        rows += self._rows(title, "", held_in(self.schema, held), answered=answered)
        return ["\n".join(rows) + "\n"]

    def _rows(self, title: str, path: str, model: Schema, *, answered: bool) -> Iterator[str]:
        for names in _alike(model["properties"]):
            described = model["properties"][names[0]]
            shape, limits = self._shape(described, answered=answered)
            reference, place = self._object_in(described, path + names[0])
            below = {} if reference is None else self.schema["components"]["schemas"][reference]
            said = [described.get("description", ""), below.get("description", "")]
            known = None if reference is None else self.told.get(reference)
            if known is not None:
                operation, field_there = known
                said[1] = f"as `{field_there}`" + ("" if operation == title else f" of {operation}")
            name = ", ".join(f"`{path}{one}`" for one in names)
            if answered:
                told = _said(*said)
                yield _row(name, shape, f"{told} ({limits})" if told and limits else told or limits)
            else:
                default = _default(described, required=names[0] in model.get("required", ()))
                yield _row(name, shape, limits, default, _said(*said))
            if reference is not None and known is None:
                self.told[reference] = title, place
                yield from self._rows(title, f"{place}.", below, answered=answered)

    def _shape(self, described: Schema, *, answered: bool) -> tuple[str, str]:
        shape = type_of(self.schema, described)
        nullable = any(one.get("type") == "null" for one in described.get("anyOf", ()))
        return f"{shape} or null" if answered and nullable else shape, limits_of(self.schema, described)

    def _object_in(self, described: Schema, path: str) -> tuple[str | None, str]:
        """The reference of the object that a field holds or lists, if it does, and what its fields stand below."""
        for one in (described, *described.get("anyOf", ())):
            if "$ref" in one and "properties" in held_in(self.schema, one):
                return one["$ref"].rsplit("/", 1)[-1], path
            if one.get("type") == "array":
                return self._object_in(one["items"], f"{path}[]")
        return None, path

    def _errors(self) -> str:
        parts = ["## Errors\n", "Always the same envelope; `code` is the stable part.\n"]
        parts += self._fields(
            "every operation", "field of an error", {"$ref": "#/components/schemas/ErrorAnswer"}, answered=True
        )
        search = self.schema["paths"]["/v1/gear/search"]["post"]["responses"]["422"]
        example = search["content"]["application/json"]["examples"]["validation_failed"]["value"]
        rows = [_row("status", "code", "meaning"), _row("---", "---", "---")]
        rows += [_row(str(status), f"`{code}`", text) for code, (status, text) in ERRORS.items()]
        return "\n".join([*parts, block(example), "\n".join(rows) + "\n"])


def answers_of(status: str, content: Schema) -> list[str]:
    """The examples of an answer."""
    if "example" in content:
        return [f"Answer {status}:\n\n{block(content['example'])}"]
    return [
        f"Answer {status} to {name}: {one['summary']}.\n\n{block(one['value'])}"
        for name, one in content["examples"].items()
    ]


def block(value: Any) -> str:
    """JSON as a block of Markdown."""
    return f"```json\n{written(value)}\n```\n"


def written(value: Any, indent: int = 0, used: int = 0) -> str:
    """JSON in which everything that fits into a line has one; `used`: the characters in front of it."""
    line = json.dumps(value, ensure_ascii=False)
    if used + len(line) <= LINE or not isinstance(value, dict | list) or not value:
        return line
    inner = " " * (indent + 2)
    keys = (
        [f"{json.dumps(key, ensure_ascii=False)}: " for key in value] if isinstance(value, dict) else [""] * len(value)
    )
    held = value.values() if isinstance(value, dict) else value
    lines = [inner + key + written(one, indent + 2, len(inner + key)) for key, one in zip(keys, held, strict=True)]
    opened, closed = "{}" if isinstance(value, dict) else "[]"
    return f"{opened}\n" + ",\n".join(lines) + f"\n{' ' * indent}{closed}"


def _alike(properties: Schema) -> Iterator[list[str]]:
    """Names of fields; those next to each other of which the same is said are together."""
    together: list[str] = []
    last: Schema = {}
    for name, described in properties.items():
        plain = {key: value for key, value in described.items() if key != "title"}
        if together and plain != last:
            yield together
            together = []
        together.append(name)
        last = plain
    yield together


def _default(described: Schema, *, required: bool) -> str:
    if required:
        return "required"
    default = described.get("default")
    return "none" if default is None else f"`{json.dumps(default)}`"


def _said(*parts: str) -> str:
    return ". ".join(" ".join(one.rstrip(".").split()) for one in parts if one)


def _row(*cells: str) -> str:
    return f"| {' | '.join(one.replace('|', chr(92) + '|') for one in cells)} |"
