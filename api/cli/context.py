"""What the commands share: settings, stores and durations in, results or a message that says what to do out."""

import asyncio
import re
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import asynccontextmanager
from datetime import timedelta
from typing import TYPE_CHECKING, Any, TypeVar

import click

if TYPE_CHECKING:
    from store.connection.engine import Store

_UNITS = {"s": "seconds", "m": "minutes", "h": "hours", "d": "days"}

Result = TypeVar("Result")


def duration(context: click.Context, parameter: click.Parameter, value: str | None) -> timedelta | None:
    """An option's text such as `90d`; raises BadParameter for what is none."""
    if value is None:
        return None
    match = re.fullmatch(r"([1-9]\d{0,4})([smhd])", value)
    if match is None:
        message = f"{value!r} is not a duration such as 90d, 12h, 30m or 60s"
        raise click.BadParameter(message)
    return timedelta(**{_UNITS[match[2]]: int(match[1])})


@asynccontextmanager
async def opened_store() -> AsyncIterator["Store"]:
    """The store of GEAR_DATABASE_URL."""
    from store.connection.engine import Store
    from store.connection.settings import StoreSettings

    store = Store(checked(StoreSettings).database_url)
    try:
        yield store
    finally:
        await store.close()


def checked(made: Callable[[], Result]) -> Result:
    """What is made, such as settings; raises ClickException with each setting that is wrong."""
    from pydantic import ValidationError

    from mappings.platforms import PlatformFileError
    from mappings.setting_faults import setting_faults

    try:
        return made()
    except PlatformFileError as error:
        raise click.ClickException(str(error)) from None
    except ValidationError as error:
        raise click.ClickException(setting_faults(error)) from None


def run_now(work: Coroutine[Any, Any, Result]) -> Result:
    """Runs it to its end; what the store refuses becomes a message."""
    from store.connection.errors import StoreError

    try:
        return asyncio.run(work)
    except (StoreError, ValueError) as error:
        raise click.ClickException(str(error)) from None
