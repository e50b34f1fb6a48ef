"""Writes `docs/api.md` from the OpenAPI description: every field, limit and example."""

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from api.errors import ERRORS
from tests.docs.limits import limits_of, resolve, type_of

Schema = dict[str, Any]
MAX_LINE = 100  # characters of an example's line; longer values are broken into lines


@dataclass
class ApiPage:
    """The page. Each object is described once, where it first occurs."""

    schema: Schema
    described_at: dict[str, tuple[str, str]] = field(default_factory=dict)  # reference: operation and field

    def text(self) -> str:
        """The page without its heading."""
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
            if content["schema"].get("type") == "array":
                parts.append(f"{operation['requestBody']['description']}\n")
            else:
                parts += self._fields(title, "field of the body", content["schema"], answered=False)
            parts += [f"Body, {name}:\n\n{block(example['value'])}" for name, example in content["examples"].items()]
        for status, response in operation["responses"].items():
            content = response.get("content", {}).get("application/json", {})
            if int(status) < 400 and content:
                parts += self._fields(title, f"field of the response {status}", content["schema"], answered=True)
                parts += responses_of(status, content)
        codes = [
            f"{status} {response['description']}"
            for status, response in operation["responses"].items()
            if int(status) >= 400
        ]
        return "\n".join([*parts, f"Errors: {' · '.join(codes)}\n"])

    def _parameters(self, parameters: list[Schema]) -> list[str]:
        if not parameters:
            return []
        rows = ["| parameter | in | type | limits | default | meaning |", "| --- | --- | --- | --- | --- | --- |"]
        for parameter in parameters:
            shape, limits = self._shape(parameter["schema"], answered=False)
            default = _default(parameter["schema"], required=parameter.get("required", False))
            meaning = _sentences(parameter.get("description", ""))
            rows.append(_row(f"`{parameter['name']}`", parameter["in"], shape, limits, default, meaning))
        return ["\n".join(rows) + "\n"]

    def _fields(self, title: str, head: str, described: Schema, *, answered: bool) -> list[str]:
        cells = (head, "type", "meaning") if answered else (head, "type", "limits", "default", "meaning")
        rows = [_row(*cells), _row(*["---"] * len(cells))]
        rows += self._rows(title, "", resolve(self.schema, described), answered=answered)
        return ["\n".join(rows) + "\n"]

    def _rows(self, title: str, path: str, model: Schema, *, answered: bool) -> Iterator[str]:
        for names in _alike(model["properties"]):
            described = model["properties"][names[0]]
            shape, limits = self._shape(described, answered=answered)
            reference, place = self._object_in(described, path + names[0])
            below = {} if reference is None else self.schema["components"]["schemas"][reference]
            sentences = [described.get("description", ""), below.get("description", "")]
            earlier = None if reference is None else self.described_at.get(reference)
            if earlier is not None:
                operation, field_there = earlier
                sentences[1] = f"as `{field_there}`" + ("" if operation == title else f" of {operation}")
            name = ", ".join(f"`{path}{part}`" for part in names)
            if answered:
                meaning = _sentences(*sentences)
                yield _row(name, shape, f"{meaning} ({limits})" if meaning and limits else meaning or limits)
            else:
                default = _default(described, required=names[0] in model.get("required", ()))
                yield _row(name, shape, limits, default, _sentences(*sentences))
            if reference is not None and earlier is None:
                self.described_at[reference] = title, place
                yield from self._rows(title, f"{place}.", below, answered=answered)

    def _shape(self, described: Schema, *, answered: bool) -> tuple[str, str]:
        shape = type_of(self.schema, described)
        nullable = any(choice.get("type") == "null" for choice in described.get("anyOf", ()))
        return f"{shape} or null" if answered and nullable else shape, limits_of(self.schema, described)

    def _object_in(self, described: Schema, path: str) -> tuple[str | None, str]:
        """The reference of the object that a field holds or lists, if any, and the path of its fields."""
        for choice in (described, *described.get("anyOf", ())):
            if "$ref" in choice and "properties" in resolve(self.schema, choice):
                return choice["$ref"].rsplit("/", 1)[-1], path
            if choice.get("type") == "array":
                return self._object_in(choice["items"], f"{path}[]")
        return None, path

    def _errors(self) -> str:
        parts = ["## Errors\n", "Always the same envelope; `code` is the stable part.\n"]
        parts += self._fields(
            "every operation", "field of an error", {"$ref": "#/components/schemas/ErrorResponse"}, answered=True
        )
        search = self.schema["paths"]["/v1/gear/search"]["post"]["responses"]["422"]
        example = search["content"]["application/json"]["examples"]["validation_failed"]["value"]
        rows = [_row("status", "code", "meaning"), _row("---", "---", "---")]
        rows += [_row(str(status), f"`{code}`", text) for code, (status, text) in ERRORS.items()]
        return "\n".join([*parts, block(example), "\n".join(rows) + "\n"])


def responses_of(status: str, content: Schema) -> list[str]:
    """The examples of a response."""
    if "example" in content:
        return [f"Response {status}:\n\n{block(content['example'])}"]
    return [
        f"Response {status} to {name}: {example['summary']}.\n\n{block(example['value'])}"
        for name, example in content["examples"].items()
    ]


def block(value: Any) -> str:
    """JSON as a fenced block."""
    return f"```json\n{formatted(value)}\n```\n"


def formatted(value: Any, indent: int = 0, used: int = 0) -> str:
    """JSON with every value on one line where it fits; `used` counts the characters in front of it."""
    line = json.dumps(value, ensure_ascii=False)
    if used + len(line) <= MAX_LINE or not isinstance(value, dict | list) or not value:
        return line
    inner = " " * (indent + 2)
    keys = (
        [f"{json.dumps(key, ensure_ascii=False)}: " for key in value] if isinstance(value, dict) else [""] * len(value)
    )
    values = value.values() if isinstance(value, dict) else value
    lines = [
        inner + key + formatted(part, indent + 2, len(inner + key)) for key, part in zip(keys, values, strict=True)
    ]
    start, end = "{}" if isinstance(value, dict) else "[]"
    return f"{start}\n" + ",\n".join(lines) + f"\n{' ' * indent}{end}"


def _alike(properties: Schema) -> Iterator[list[str]]:
    """Names of fields, with equal neighbours in one list."""
    group: list[str] = []
    last: Schema = {}
    for name, described in properties.items():
        plain = {key: value for key, value in described.items() if key != "title"}
        if group and plain != last:
            yield group
            group = []
        group.append(name)
        last = plain
    yield group


def _default(described: Schema, *, required: bool) -> str:
    if required:
        return "required"
    default = described.get("default")
    return "none" if default is None else f"`{json.dumps(default)}`"


def _sentences(*parts: str) -> str:
    return ". ".join(" ".join(part.rstrip(".").split()) for part in parts if part)


def _row(*cells: str) -> str:
    return f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in cells)} |"
