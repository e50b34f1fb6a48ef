"""Runs a CLI command: prints its result, explains errors, sets the exit code."""

import json
import logging
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import FrameType
from typing import Any

import click
from opensearchpy import OpenSearch
from opensearchpy.exceptions import OpenSearchException
from pydantic import ValidationError

from indexer.engine.retry import RetryPolicy
from indexer.errors import CommandError
from indexer.live.writer import LiveWriter
from indexer.orders.claims import Claims
from indexer.orders.database import OrdersDatabase
from indexer.sources.item_map import read_item_map
from indexer.sources.mapping import Mapper
from indexer.sources.records import SourceError
from mappings.connection import SearchSettings, connect
from mappings.definition import Definition, read_definition
from mappings.engine_errors import describe_error
from mappings.platforms import Platform, PlatformFileError, read_platforms
from mappings.strict_model import describe_setting_errors
from store.connection.settings import StoreSettings

INTERRUPTED = 130  # what a shell reports for a command ended by Ctrl-C


@contextmanager
def command_result(result: dict[str, Any], *, as_json: bool) -> Iterator[None]:
    """Runs a command: prints `result` as JSON, with its `error` where it failed, and sets the exit code."""
    code = 0
    # The client logs every failed try with its traceback; what matters is said once, by us.
    logging.getLogger("opensearch").setLevel(logging.CRITICAL)
    try:
        yield
    except (CommandError, SourceError, PlatformFileError) as error:
        result["error"] = str(error)
    except ValidationError as error:
        result["error"] = describe_setting_errors(error)
    except OpenSearchException as error:
        result["error"] = describe_error(error, SearchSettings().redacted_address)
    except (KeyboardInterrupt, click.Abort):  # at a prompt it is the other one
        result["error"] = "interrupted"
        code = INTERRUPTED
    if result.get("error") is not None:
        click.echo(f"Error: {result['error']}", err=True)
        code = code or 1
    if as_json:
        click.echo(json_text(result))
    if code:
        sys.exit(code)


def json_text(result: dict[str, Any]) -> bytes:
    """JSON for machines; a name that is no UTF-8, as files may have, is shown as far as it can be."""
    return json.dumps(result, ensure_ascii=False).encode("utf-8", "replace")


class Interruption:
    """Turns Ctrl-C and SIGTERM into one KeyboardInterrupt, or into one call of `stop`.

    `hold()` delays it to the end of the block. A second signal after it has its default effect.
    """

    def __init__(self, stop: Callable[[], None] | None = None) -> None:
        self._stop = stop
        self._is_blocked = False
        self._pending = False
        self._before = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}

    @contextmanager
    def watched(self) -> Iterator[None]:
        """Takes the signals for the length of the block."""
        for number in self._before:
            signal.signal(number, self._handle)
        try:
            yield
        finally:
            self._restore()

    @contextmanager
    def hold(self) -> Iterator[None]:
        """Puts an interruption off to the end of the block."""
        self._is_blocked = True
        try:
            yield
        finally:
            self._is_blocked = False
        if self._pending:
            self._end()

    def _handle(self, number: int, frame: FrameType | None) -> None:
        self._pending = True
        if not self._is_blocked:
            self._end()

    def _end(self) -> None:
        self._restore()
        if self._stop is None:
            raise KeyboardInterrupt
        self._stop()

    def _restore(self) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)


@dataclass(frozen=True)
class PlatformIndex:
    """A platform whose index a command is about."""

    settings: SearchSettings
    platform: Platform

    @property
    def alias(self) -> str:
        return self.settings.alias(self.platform.id)

    @property
    def definition(self) -> Definition:
        return read_definition().with_shards(self.platform.shards)

    def connected(self, concurrency: int = 1) -> OpenSearch:
        """A client that has reached the engine once; retries are for the callers, who know how long."""
        client = connect(self.settings, retries=0, connections=concurrency + 1)
        client.info()
        return client

    @contextmanager
    def claims(self, retry: RetryPolicy, *, without_orders: bool) -> Iterator[Claims | None]:
        """What the orders claim of the platform, in one session with their database."""
        if without_orders:
            yield None
            return
        with OrdersDatabase(StoreSettings().database_url) as database:
            yield Claims(self.platform.id, database, retry)

    def writer(self, client: OpenSearch, claims: Claims | None, retry: RetryPolicy) -> LiveWriter:
        """The writer of live changes behind the alias."""
        return LiveWriter(client, self.alias, self.definition, claims, retry, self.settings.derived_digest_key)


def all_indices() -> list[PlatformIndex]:
    """Those of every platform."""
    settings = SearchSettings()
    return [PlatformIndex(settings, platform) for platform in read_platforms(settings.platform_files)]


def index_of(reference: str) -> PlatformIndex:
    """The index of a platform, by its id or slug; raises CommandError."""
    settings = SearchSettings()
    platforms = read_platforms(settings.platform_files)
    platform = platforms.by_reference(reference)
    if platform is None:
        raise CommandError(f"{reference} is no known platform; known are {platforms.describe()}")
    return PlatformIndex(settings, platform)


@contextmanager
def platform_command(reference: str, *, as_json: bool, **result: Any) -> Iterator[tuple[PlatformIndex, dict[str, Any]]]:
    """Runs a command on the index of a platform, which it is given with the result to fill."""
    result = {"platform": reference, **result}
    with command_result(result, as_json=as_json):
        index = index_of(reference)
        result["platform"] = index.platform.id
        yield index, result


def mapper_of(map_file: Path | None) -> Mapper | None:
    """What reads items in the shape that a map describes."""
    return None if map_file is None else Mapper(read_item_map(map_file))


def say(text: str) -> None:
    """One line of talk, on stderr."""
    click.echo(text, err=True)
