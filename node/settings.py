"""The settings of a node, from the environment, `.env` and the command line."""

import re
from pathlib import Path
from typing import Any, Literal

from pydantic import Field, ValidationError, field_validator
from pydantic_settings import BaseSettings, SettingsConfigDict

from node.errors import NodeError

_UNITS = {"m": 1024**2, "g": 1024**3}
_SMALLEST_HEAP = 256 * 1024**2


class NodeSettings(BaseSettings):
    """One node: where it lives, where it listens, how much it may take."""

    model_config = SettingsConfigDict(
        env_prefix="GEAR_NODE_", env_file=".env", env_ignore_empty=True, extra="ignore", frozen=True
    )

    dir: Path | None = Field(None, description="Folder of this node's data, logs and configuration.")
    cache: Path | None = Field(None, description="Folder of the downloads and the unpacked server.")
    port: int = Field(9200, ge=1024, le=65535, description="HTTP port on 127.0.0.1.")
    heap: str = Field("512m", description="Java heap, such as 512m or 2g.")
    jvm: Literal["laptop", "full"] = Field(
        "laptop", description="laptop starts fast and stays small; full has the whole compiler."
    )
    user: str = Field("nobody", description="Account that runs the server when we are root.")
    repository: str | None = Field(None, description="Address of a mirror to fetch from instead of the usual one.")
    timeout: float = Field(180, gt=0, description="Seconds that a start may take, downloads not counted.")

    @field_validator("heap")
    @classmethod
    def _heap_is_a_size(cls, value: str) -> str:
        if not re.fullmatch(r"[1-9][0-9]*[mMgG]", value):
            raise ValueError(f"{value!r} is no size: write a whole number with m or g, such as 512m or 2g")
        if heap_bytes(value) < _SMALLEST_HEAP:
            raise ValueError(f"{value} is too small for OpenSearch: give it 256m at least")
        return value.lower()

    @field_validator("dir", "cache")
    @classmethod
    def _absolute(cls, value: Path | None) -> Path | None:
        return None if value is None else value.expanduser().absolute()


def heap_bytes(heap: str) -> int:
    """`512m` or `2g` (binary units, as Java reads them) to bytes."""
    return int(heap[:-1]) * _UNITS[heap[-1].lower()]


def read_settings(**options: Any) -> NodeSettings:
    """Settings from the environment, overruled by every option that is not None.

    Raises NodeError naming each wrong setting.
    """
    overrides = {name: value for name, value in options.items() if value is not None}
    try:
        return NodeSettings(**overrides)
    except ValidationError as error:
        problems = "; ".join(
            f"{'.'.join(str(part) for part in problem['loc'])}: {problem['msg'].removeprefix('Value error, ')}"
            for problem in error.errors()
        )
        msg = f"the settings of the node are wrong: {problems} (options, or GEAR_NODE_... in the environment)"
        raise NodeError(msg) from error
