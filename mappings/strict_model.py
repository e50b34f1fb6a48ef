"""The base of objects that are checked when they are read, and what is wrong with these or settings. Framework-free."""

import re
from typing import Final

from pydantic import BaseModel, ConfigDict, ValidationError

_PLAIN: Final = {
    re.compile(r"^Value error, "): "",
    re.compile(r"a valid dictionary or instance of \w+$"): "an object",
    re.compile(r" after validation\b"): "",
    re.compile(r"^String should match pattern '\^\[\^\\x00\]\*\$'$"): "must not have a NUL character",
}
"""What pydantic's messages say of our code, and what is said instead."""


class StrictModel(BaseModel):
    """An object that does not change, without other keys than those of its fields."""

    model_config = ConfigDict(frozen=True, extra="forbid")


def plain_reason(message: str) -> str:
    """The reason in pydantic's message, as who does not know our code reads it."""
    for pattern, plain in _PLAIN.items():
        message = pattern.sub(plain, message)
    return message


def describe_errors(error: ValidationError) -> str:
    """Each wrong field with the reason, of the whole object the reason alone."""
    return "; ".join(
        ": ".join([*([".".join(map(str, each["loc"]))] if each["loc"] else []), plain_reason(each["msg"])])
        for each in error.errors()
    )


def describe_setting_errors(error: ValidationError) -> str:
    """The same of settings, each named as the environment does."""
    return "; ".join(_describe_setting(each["loc"], plain_reason(each["msg"])) for each in error.errors())


def _describe_setting(location: tuple[int | str, ...], reason: str) -> str:
    setting = f"GEAR_{'_'.join(map(str, location)).upper()}"
    return f"{setting}: {reason.removeprefix(f'{setting} ')}"
