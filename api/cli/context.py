"""What the commands share: settings, the store, durations, `--json` and errors that say what to do."""

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

AS_JSON = click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")


def duration(context: click.Context, parameter: click.Parameter, value: str | None) -> timedelta | None:
    """Parses an option such as `90d`; raises BadParameter."""
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

    settings = checked(StoreSettings)
    store = Store(settings.database_url, cipher=settings.cipher)
    try:
        yield store
    finally:
        await store.close()


def checked(build: Callable[[], Result]) -> Result:
    """Builds settings or what depends on them; raises ClickException that names each wrong setting."""
    from pydantic import ValidationError

    from mappings.platforms import PlatformFileError
    from mappings.setting_errors import describe_setting_errors

    try:
        return build()
    except PlatformFileError as error:
        raise click.ClickException(str(error)) from None
    except ValidationError as error:
        raise click.ClickException(describe_setting_errors(error)) from None


def run_now(work: Coroutine[Any, Any, Result]) -> Result:
    """Runs a coroutine; errors of the store become messages."""
    from store.connection.errors import StoreError

    try:
        return asyncio.run(work)
    except (StoreError, ValueError) as error:
        raise click.ClickException(str(error)) from None
