"""What the commands share: settings, the store, durations, `--json` and errors that say what to do."""

import asyncio
import getpass
import os
import socket
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Iterator
from contextlib import asynccontextmanager, contextmanager
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any, Final, TypeVar

import click

if TYPE_CHECKING:
    from sqlalchemy.ext.asyncio import AsyncConnection

    from api.engine.client import Engine
    from api.errors import ApiError
    from mappings.connection import SearchSettings
    from mappings.platforms import Platform, Platforms
    from store.auth.tokens import Token
    from store.connection.engine import Store
    from store.records import Actor

Result = TypeVar("Result")

AS_JSON = click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
ENGINE_SECONDS: Final = 30.0  # of one call to the engine


class Content(click.File):
    """What is in a file, or in stdin for `-`: bytes (mode `rb`) or text (`r`); raises BadParameter for no UTF-8."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """The bytes or the text."""
        file = super().convert(value, param, ctx)
        try:
            return file.read()
        except UnicodeDecodeError:
            self.fail(f"{value!r} is not UTF-8", param, ctx)
        finally:
            if value != "-":
                file.close()


TEXT: Final = Content("r", encoding="utf-8")


def duration(context: click.Context, parameter: click.Parameter, value: str | None) -> timedelta | None:
    """Parses an option such as `90d`; raises BadParameter."""
    from api.settings import parse_duration

    try:
        return None if value is None else parse_duration(value)
    except ValueError as error:
        raise click.BadParameter(str(error)) from None


def since_when(context: click.Context, parameter: click.Parameter, value: str) -> datetime:
    """Parses an option such as `36h` or a time with its zone; raises BadParameter."""
    now = datetime.now(UTC)
    if value[-1:] in "smhd" and value[:-1].isdigit():
        return now - (duration(context, parameter, value) or timedelta(0))
    try:
        at = datetime.fromisoformat(value)
        if at.tzinfo is None:
            raise click.BadParameter(f"{value!r} has no time zone: add Z or +01:00")
        return at.astimezone(UTC)
    except (ValueError, OverflowError):
        message = f"{value!r} is neither a time such as 2026-03-01T12:00:00Z nor a duration such as 36h"
        raise click.BadParameter(message) from None


def command_actor() -> "Actor":
    """Who runs the command, for the audit: the user's name and the machine's."""
    from store.records import Actor

    try:
        user = getpass.getuser()
    except (KeyError, OSError):  # in a container, a number without a name
        user = str(os.getuid())
    return Actor.command(f"{user}@{socket.gethostname()}")


async def record_command(
    connection: "AsyncConnection", action: str, subject: str, details: dict[str, Any] | None = None
) -> None:
    """Puts what the command does into the audit, with who runs it."""
    from store import audit

    await audit.record(connection, command_actor(), action, subject, datetime.now(UTC), details or {})


@asynccontextmanager
async def opened_store() -> AsyncIterator["Store"]:
    """The store of GEAR_DATABASE_URL. A command waits for a slow statement as long as its transaction may last."""
    from store.connection.drivers import Timeouts
    from store.connection.engine import TRANSACTION_SECONDS, Store
    from store.connection.settings import StoreSettings

    settings = checked(StoreSettings)
    store = Store(settings.database_url, cipher=settings.cipher, timeouts=Timeouts(statement=TRANSACTION_SECONDS))
    try:
        yield store
    finally:
        await store.close()


@asynccontextmanager
async def opened_engine(settings: "SearchSettings") -> AsyncIterator["Engine"]:
    from api.engine.client import Engine

    engine = Engine(settings, ENGINE_SECONDS)
    try:
        yield engine
    finally:
        await engine.close()


def unknown_token(id_or_name: str) -> click.ClickException:
    return click.ClickException(f"no usable token has the id or name {id_or_name!r}; see gear-api token list")


async def token_named(store: "Store", id_or_name: str) -> "Token":
    """The one token of this id or name, revoked ones too; raises ClickException."""
    from store.auth import tokens

    async with store.reading() as connection:
        named = [token for token in await tokens.list_all(connection) if id_or_name in (token.id, token.name)]
    if len(named) != 1:
        matches = ", ".join(token.id for token in named) or "none"
        raise click.ClickException(f"{id_or_name!r} must name one token, found {matches}; see gear-api token list")
    return named[0]


def platform_named(platforms: "Platforms", reference: str | None) -> "Platform":
    """The platform of this id or slug, or the only one; raises UsageError."""
    if reference is None and len(platforms) > 1:
        raise click.UsageError(f"say with --platform which one: {platforms.describe()}")
    platform = next(iter(platforms)) if reference is None else platforms.by_reference(reference)
    if platform is None:
        raise click.UsageError(f"{reference} is no known platform; known are {platforms.describe()}")
    return platform


@contextmanager
def search_errors(settings: "SearchSettings") -> Iterator[None]:
    """Turns a body that the API refuses and an engine that does not answer into messages, in the place of log lines."""
    import structlog
    from opensearchpy.exceptions import OpenSearchException

    from api.errors import ApiError
    from mappings.engine_errors import describe_error

    logging = structlog.get_config()
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger("critical"))
    try:
        yield
    except OpenSearchException as error:
        raise click.ClickException(describe_error(error, settings.redacted_address)) from error
    except ApiError as error:
        if isinstance(error.__cause__, OpenSearchException):
            raise click.ClickException(describe_error(error.__cause__, settings.redacted_address)) from error
        raise click.ClickException(_refusal(error)) from error
    finally:
        structlog.configure(**logging)


def _refusal(error: "ApiError") -> str:
    if error.code == "search_unavailable":
        return f"{error.message or 'the engine did not respond'}; see GEAR_OPENSEARCH_URL and `gear-indexer doctor`"
    details = "; ".join(f"{detail.field}: {detail.message}" for detail in error.details)
    return f"the API refuses this body ({error.code}): {details or error.message}"


def checked(build: Callable[[], Result]) -> Result:
    """Builds settings or what depends on them; raises ClickException that names each wrong setting."""
    from pydantic import ValidationError

    from mappings.platforms import PlatformFileError
    from mappings.strict_model import describe_setting_errors

    try:
        return build()
    except PlatformFileError as error:
        raise click.ClickException(str(error)) from None
    except ValidationError as error:
        raise click.ClickException(describe_setting_errors(error)) from None


def search_settings() -> "tuple[SearchSettings, Platforms]":
    """The settings of the engine, and the platforms; raises ClickException."""
    from mappings.connection import SearchSettings
    from mappings.platforms import read_platforms

    settings = checked(SearchSettings)
    return settings, checked(lambda: read_platforms(settings.platform_files))


def run_now(work: Coroutine[Any, Any, Result]) -> Result:
    """Runs a coroutine; errors of the store become messages."""
    from store.connection.errors import StoreError

    try:
        return asyncio.run(work)
    except (StoreError, ValueError) as error:
        raise click.ClickException(str(error)) from None


def run_on_store(work: Callable[["Store"], Awaitable[Result]]) -> Result:
    async def run() -> Result:
        async with opened_store() as store:
            return await work(store)

    return run_now(run())


def read_now(work: Callable[["AsyncConnection"], Awaitable[Result]]) -> Result:
    """Runs some work on the store that only reads."""

    async def read(store: "Store") -> Result:
        async with store.reading() as connection:
            return await work(connection)

    return run_on_store(read)
