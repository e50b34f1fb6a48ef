"""Faults of settings: what pydantic found wrong in, one sentence with the settings' names out."""

from pydantic import ValidationError


def setting_faults(error: ValidationError) -> str:
    """What is wrong with each setting, each named as it is in the environment."""
    return "; ".join(_fault(one["loc"], one["msg"]) for one in error.errors())


def _fault(location: tuple[int | str, ...], message: str) -> str:
    setting = f"GEAR_{'_'.join(map(str, location)).upper()}"
    return f"{setting}: {message.removeprefix('Value error, ').removeprefix(f'{setting} ')}"
