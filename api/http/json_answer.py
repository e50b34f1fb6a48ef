"""Answers in JSON."""

from collections.abc import Mapping
from typing import Any

import orjson
from fastapi import Response


def json_answer(content: Mapping[str, Any], status: int = 200, headers: Mapping[str, str] | None = None) -> Response:
    """The success of an operation, with its content."""
    return Response(orjson.dumps({"status": "success", **content}), status, headers, "application/json")
