"""The base of objects that are checked when they are read, and what is wrong with them. Framework-free."""

from pydantic import BaseModel, ConfigDict, ValidationError


class StrictModel(BaseModel):
    """An object that does not change, without other keys than those of its fields."""

    model_config = ConfigDict(frozen=True, extra="forbid")


def plain_reason(message: str) -> str:
    """The reason in pydantic's message: a validator's own text has a prefix there."""
    return message.removeprefix("Value error, ")


def describe_errors(error: ValidationError) -> str:
    """Each wrong field with the reason, of the whole object the reason alone."""
    return "; ".join(
        ": ".join([*([".".join(map(str, each["loc"]))] if each["loc"] else []), plain_reason(each["msg"])])
        for each in error.errors()
    )
