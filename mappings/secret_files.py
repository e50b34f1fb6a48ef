"""Secrets of settings from files: `GEAR_X_FILE` names the file that holds `GEAR_X`."""

from pathlib import Path
from typing import Any

from pydantic import ValidationError, ValidationInfo, ValidatorFunctionWrapHandler, field_validator
from pydantic_settings import BaseSettings

from mappings.strict_model import plain_reason


class SecretFileSettings(BaseSettings):
    """A field `x` with a field `x_file` before it is read from that file where it is given."""

    @field_validator("*", mode="wrap", check_fields=False)
    @classmethod
    def _read_secret_file(cls, value: Any, check: ValidatorFunctionWrapHandler, info: ValidationInfo) -> Any:
        file: Path | None = info.data.get(f"{info.field_name}_file")
        if file is None:
            return check(value)
        variable = f"{cls.model_config.get('env_prefix')}{info.field_name}_file".upper()
        shown = f"its file {file} ({variable})"
        if value and value != cls.model_fields[str(info.field_name)].default:
            raise ValueError(f"is given, and {shown} too: keep one")
        try:
            text = file.read_text(encoding="utf-8").rstrip("\r\n")
        except (OSError, UnicodeDecodeError) as error:
            reason = error.strerror if isinstance(error, OSError) else "it is not UTF-8 text"
            raise ValueError(f"{shown} cannot be read: {reason}") from None
        if not text:
            raise ValueError(f"{shown} is empty")
        try:
            return check(text)
        except ValidationError as error:
            reason = plain_reason(error.errors(include_input=False)[0]["msg"])
            raise ValueError(f"what {shown} holds is refused: {reason}") from None
