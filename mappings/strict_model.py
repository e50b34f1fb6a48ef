"""The base of objects that are checked when they are read. Framework-free."""

from pydantic import BaseModel, ConfigDict


class StrictModel(BaseModel):
    """An object that does not change, without other keys than those of its fields."""

    model_config = ConfigDict(frozen=True, extra="forbid")
