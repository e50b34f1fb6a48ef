"""Describes invalid settings in one sentence that names each as the environment does."""

from pydantic import ValidationError

from mappings.strict_model import plain_reason


def describe_setting_errors(error: ValidationError) -> str:
    return "; ".join(_describe(detail["loc"], detail["msg"]) for detail in error.errors())


def _describe(location: tuple[int | str, ...], message: str) -> str:
    setting = f"GEAR_{'_'.join(map(str, location)).upper()}"
    return f"{setting}: {plain_reason(message).removeprefix(f'{setting} ')}"
