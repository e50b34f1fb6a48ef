"""The commands: checked arguments in, the work done, its result printed for people or machines, an exit code out."""

import logging
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import click
import orjson
from opensearchpy import OpenSearch
from opensearchpy.exceptions import OpenSearchException
from pydantic import ValidationError

from indexer.claims import Claims
from indexer.dry_run import DryRun, DryRunReport
from indexer.export import Export
from indexer.failures import CommandError, address_of, explained
from indexer.interruption import Interruption
from indexer.item_map import read_item_map
from indexer.lines import SourceError
from indexer.load import SHORT_PATIENCE, Load, LoadJob
from indexer.mapped import Mapper
from indexer.patience import Patience
from indexer.progress import LoadProgress
from indexer.read import expanded, total_size
from indexer.report import LoadReport
from indexer.upkeep import Upkeep
from indexer.web import silent
from mappings.connection import SearchSettings, connect
from mappings.definition import read_definition
from mappings.platforms import Platform, PlatformFileError, Platforms, read_platforms

ROLLBACK_PATIENCE = 3.0  # seconds: somebody waits for it
INTERRUPTED = 130  # what a shell reports for a command ended by Ctrl-C


@contextmanager
def _answered(answer: dict[str, Any], *, as_json: bool) -> Iterator[None]:
    """Runs a command: prints `answer` as JSON, with its `error` where it failed, and sets the exit code."""
    code = 0
    # The client logs every failed try with its traceback; what matters is said once, by us.
    logging.getLogger("opensearch").setLevel(logging.CRITICAL)
    try:
        yield
    except (CommandError, SourceError, PlatformFileError) as error:
        answer["error"] = str(error)
    except ValidationError as error:
        answer["error"] = "; ".join(_setting_fault(one["loc"], one["msg"]) for one in error.errors())
    except OpenSearchException as error:
        answer["error"] = explained(error, address_of(SearchSettings()))
    except KeyboardInterrupt:
        answer["error"] = "interrupted"
        code = INTERRUPTED
    if answer.get("error") is not None:
        click.echo(f"Error: {answer['error']}", err=True)
        code = code or 1
    if as_json:
        click.echo(orjson.dumps(answer))
    if code:
        sys.exit(code)


def _setting_fault(location: tuple[int | str, ...], message: str) -> str:
    sentence = message.removeprefix("Value error, ")
    setting = f"GEAR_{'_'.join(str(part) for part in location).upper()}"
    return sentence if sentence.startswith(setting) else f"{setting} {sentence}"


def _platform(platforms: Platforms, reference: str) -> Platform:
    platform = platforms.by_reference(reference)
    if platform is None:
        message = f"{reference} is no known platform; known are {platforms.known()}"
        raise CommandError(message)
    return platform


def _connected(settings: SearchSettings, senders: int = 1) -> OpenSearch:
    """A client that has reached the engine once; trying again is for the callers, who know how long."""
    client = connect(settings, retries=0, connections=senders + 1)
    client.info()
    return client


def _claims(platform: Platform, seconds: float, *, without_orders: bool) -> Claims | None:
    if without_orders:
        return None
    from store.settings import StoreSettings

    return Claims(platform.id, StoreSettings().database_url, Patience(seconds))


def _upkeep(platform: Platform, settings: SearchSettings, client: OpenSearch) -> Upkeep:
    return Upkeep(client, platform, settings.alias(platform.id), read_definition())


def run_load(
    files: tuple[str, ...],
    *,
    platform: str,
    without_orders: bool,
    quiet: bool,
    as_json: bool,
    map_file: Path | None,
    **options: Any,
) -> None:
    """`gear-indexer load`."""
    answer: dict[str, Any] = {"platform": platform, "swapped": False}
    with _answered(answer, as_json=as_json):
        settings = SearchSettings()
        found = _platform(read_platforms(settings.platform_files), platform)
        report = LoadReport(found.id, settings.alias(found.id))
        answer.update(report.as_json())
        began = time.monotonic()
        interruption = Interruption()
        try:
            job = _job(files, found, map_file, options)
            with interruption.watched(), _progress(job, quiet=quiet) as progress:
                claims = _claims(found, min(job.give_up_after, SHORT_PATIENCE), without_orders=without_orders)
                client = _connected(settings, job.senders)
                Load(job, client, read_definition(), claims, report).run(progress, interruption)
                _tell_never_found(job, progress)
                progress.say(f"{report.index} serves behind {report.alias}: {report.counts()}")
        finally:
            report.seconds = time.monotonic() - began
            answer.update(report.as_json())


def _job(files: tuple[str, ...], platform: Platform, map_file: Path | None, options: dict[str, Any]) -> LoadJob:
    mapper = None if map_file is None else Mapper(read_item_map(map_file))
    return LoadJob(files=expanded(files), platform=platform, mapper=mapper, **options)


def _progress(job: LoadJob, *, quiet: bool) -> LoadProgress:
    return LoadProgress(total_size(job.files, silent if quiet else _say), quiet=quiet)


def _tell_never_found(job: LoadJob, progress: LoadProgress) -> None:
    if job.mapper is not None and (missing := job.mapper.never_found()):
        progress.say(f"no item has {', '.join(missing)}, which the map reads; is it spelt so in the sources?")


def _say(text: str) -> None:
    click.echo(text, err=True)


def run_dry_load(
    files: tuple[str, ...], *, platform: str, quiet: bool, as_json: bool, map_file: Path | None, **options: Any
) -> None:
    """`gear-indexer load --dry-run`."""
    answer: dict[str, Any] = {"platform": platform, "dryRun": True, "wouldSwap": False}
    with _answered(answer, as_json=as_json):
        found = _platform(read_platforms(), platform)
        settings = SearchSettings()
        report = DryRunReport(found.id, settings.alias(found.id))
        answer.update(report.as_json())
        began = time.monotonic()
        try:
            job = _job(files, found, map_file, options)
            with _progress(job, quiet=quiet) as progress:
                DryRun(job, _connected(settings), read_definition(), report).run(progress, _say)
                _tell_never_found(job, progress)
        finally:
            answer.update({**report.as_json(), "seconds": round(time.monotonic() - began, 3)})
        if not as_json:
            click.echo("\n".join(report.sentences()))
        if report.refusals:
            raise CommandError("a load would be refused: " + "; ".join(report.refusals))


def run_export(platform: str, *, output: Path | None, quiet: bool, as_json: bool) -> None:
    """`gear-indexer export`."""
    from indexer.sample_files import written

    answer: dict[str, Any] = {"platform": platform, "output": None if output is None else str(output)}
    with _answered(answer, as_json=as_json):
        found = _platform(read_platforms(), platform)
        settings = SearchSettings()
        answer.update({"platform": found.id, "alias": settings.alias(found.id), "complete": False})
        export = Export(_connected(settings), settings.alias(found.id))
        began = time.monotonic()
        try:
            answer["bytes"] = written(export.pieces(), output)
            answer["complete"] = True
        finally:
            seconds = round(time.monotonic() - began, 3)
            answer.update({"items": export.items, "expected": export.expected, "seconds": seconds})
        if not quiet:
            _say(f"{export.items:,} items of {answer['alias']} in {seconds:,.1f} s")


def run_status(platform: str | None, *, as_json: bool) -> None:
    """`gear-indexer status`."""
    answer: dict[str, Any] = {}
    with _answered(answer, as_json=as_json):
        settings = SearchSettings()
        platforms = read_platforms(settings.platform_files)
        client = _connected(settings)
        asked = list(platforms) if platform is None else [_platform(platforms, platform)]
        states = [_upkeep(one, settings, client).status() for one in asked]
        answer.update({"platforms": states} if platform is None else states[0])
        if not as_json:
            for state in states:
                click.echo(_readable(state))


def _readable(state: dict[str, Any]) -> str:
    lines = [f"{state['alias']}: nothing is loaded; gear-indexer load FILE... --platform {state['platform']}"]
    if state["serving"] is not None:
        shown = ", ".join(f"{key} {value}" for key, value in state["settings"].items())
        advice = "" if state["definition"] == "equal" else " from this version's: load again"
        lines = [
            f"{state['alias']}: {state['items']:,} items in {state['serving']}",
            f"  definition {state['definition']}{advice}",
            f"  {shown}",
        ]
    for one in state["generations"]:
        note = "; gear-indexer prune removes it" if one["state"] == "unfinished" else ""
        size = f"{one['items']:,} items, {one['bytes'] / 1e6:,.1f} MB"
        lines.append(f"  {one['index']}  {one['state']}  {size}, definition {one['definition']}{note}")
    return "\n".join(lines)


def run_rollback(platform: str, to: str | None, *, without_orders: bool, as_json: bool) -> None:
    """`gear-indexer rollback`."""
    answer: dict[str, Any] = {"platform": platform, "swapped": False}
    with _answered(answer, as_json=as_json):
        settings = SearchSettings()
        found = _platform(read_platforms(settings.platform_files), platform)
        answer["platform"] = found.id
        claims = _claims(found, ROLLBACK_PATIENCE, without_orders=without_orders)
        upkeep = _upkeep(found, settings, _connected(settings))
        answer.update(upkeep.rollback(to, claims, lambda text: click.echo(text, err=True)))
        click.echo(f"{answer['index']} serves behind {answer['alias']}: {answer['items']:,} items", err=True)


def run_prune(platform: str, keep: int, *, as_json: bool) -> None:
    """`gear-indexer prune`."""
    answer: dict[str, Any] = {"platform": platform}
    with _answered(answer, as_json=as_json):
        settings = SearchSettings()
        found = _platform(read_platforms(settings.platform_files), platform)
        answer["platform"] = found.id
        answer.update(_upkeep(found, settings, _connected(settings)).prune(keep))
        removed = ", ".join(answer["removed"]) or "nothing"
        click.echo(f"removed {removed}; kept {', '.join(answer['kept']) or 'nothing'}", err=True)


def run_doctor(
    platform: str | None, *, fix: bool, older_than: float, keep: int, without_orders: bool, as_json: bool
) -> None:
    """`gear-indexer doctor`."""
    from indexer.diagnosis import diagnosed, readable_findings

    answer: dict[str, Any] = {"platforms": [], "errors": None, "warnings": None, "findings": []}
    with _answered(answer, as_json=as_json):
        platforms = read_platforms(SearchSettings().platform_files)
        asked = list(platforms) if platform is None else [_platform(platforms, platform)]
        answer["platforms"] = [one.id for one in asked]
        answer.update(diagnosed(asked, fix=fix, older_than=older_than, keep=keep, without_orders=without_orders))
        if not as_json:
            click.echo(readable_findings(answer))
    if answer["errors"]:
        sys.exit(1)


def run_sample(count: int, seed: int, *, catalogue: Path, platform: str, output: Path | None, as_json: bool) -> None:
    """`gear-indexer sample`."""
    from indexer.sample import Sampler
    from indexer.sample_files import read_catalogue, written

    answer: dict[str, Any] = {"count": count, "seed": seed, "output": None if output is None else str(output)}
    with _answered(answer, as_json=as_json):
        began = time.monotonic()
        sampler = Sampler(
            read_catalogue(catalogue), _platform(read_platforms(SearchSettings().platform_files), platform), seed
        )
        answer["bytes"] = written(sampler.batches(count), output)
        answer["seconds"] = round(time.monotonic() - began, 3)
