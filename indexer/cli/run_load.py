"""Runs the commands of loading, maintenance, the doctor and the sample."""

import sys
import time
from pathlib import Path
from typing import Any

import click

from indexer.cli.context import answered, claims_of, connected, platform_of
from indexer.cli.interruption import Interruption
from indexer.cli.progress import LoadProgress
from indexer.cli.status_text import readable_state
from indexer.errors import CommandError
from indexer.loading.dry_run import DryRun, DryRunReport
from indexer.loading.job import LoadJob
from indexer.loading.load import SHORT_RETRY_SECONDS, Load
from indexer.loading.report import LoadReport
from indexer.maintenance.export import Export
from indexer.maintenance.prune import prune
from indexer.maintenance.rollback import Rollback
from indexer.maintenance.status import status
from indexer.sources.http import silent
from indexer.sources.item_map import read_item_map
from indexer.sources.mapping import Mapper
from indexer.sources.source import expand_patterns, total_size
from mappings.connection import SearchSettings
from mappings.definition import Definition, read_definition
from mappings.platforms import Platform, read_platforms

ROLLBACK_RETRY_SECONDS = 3.0  # seconds: somebody waits for it


def _definition(platform: Platform) -> Definition:
    return read_definition().with_shards(platform.shards)


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
    with answered(answer, as_json=as_json):
        settings = SearchSettings()
        found = platform_of(read_platforms(settings.platform_files), platform)
        report = LoadReport(found.id, settings.alias(found.id))
        answer.update(report.as_json())
        interruption = Interruption()
        try:
            job = _job(files, found, map_file, options, quiet=quiet)
            retry_seconds = min(job.retry_timeout, SHORT_RETRY_SECONDS)
            with (
                interruption.watched(),
                LoadProgress(job.size, quiet=quiet) as progress,
                claims_of(found, retry_seconds, without_orders=without_orders) as claims,
            ):
                client = connected(settings, job.concurrency)
                definition = _definition(found)
                Load(job, client, definition, claims, report, progress).run(interruption.hold)
                _tell_never_found(job, progress)
                progress.say(f"{report.index} serves behind {report.alias}: {report.counts()}")
        finally:
            if report.phases and not quiet:
                click.echo(report.table(), err=True)
            answer.update(report.as_json())


def _job(
    files: tuple[str, ...], platform: Platform, map_file: Path | None, options: dict[str, Any], *, quiet: bool
) -> LoadJob:
    mapper = None if map_file is None else Mapper(read_item_map(map_file))
    names = expand_patterns(files)
    size = total_size(names, silent if quiet else _say)
    return LoadJob(files=names, platform=platform, mapper=mapper, size=size, **options)


def _tell_never_found(job: LoadJob, progress: LoadProgress) -> None:
    if job.mapper is not None and (missing := job.mapper.unmatched_paths()):
        progress.say(f"no item has {', '.join(missing)}, which the map reads; is it spelt so in the sources?")


def _say(text: str) -> None:
    click.echo(text, err=True)


def run_dry_load(
    files: tuple[str, ...], *, platform: str, quiet: bool, as_json: bool, map_file: Path | None, **options: Any
) -> None:
    """`gear-indexer load --dry-run`."""
    answer: dict[str, Any] = {"platform": platform, "dryRun": True, "wouldSwap": False}
    with answered(answer, as_json=as_json):
        settings = SearchSettings()
        found = platform_of(read_platforms(settings.platform_files), platform)
        report = DryRunReport(found.id, settings.alias(found.id))
        answer.update(report.as_json())
        began = time.monotonic()
        try:
            job = _job(files, found, map_file, options, quiet=quiet)
            with LoadProgress(job.size, quiet=quiet) as progress:
                definition = _definition(found)
                DryRun(job, connected(settings), definition, report, _say).run(progress)
                _tell_never_found(job, progress)
        finally:
            answer.update({**report.as_json(), "seconds": round(time.monotonic() - began, 3)})
        if not as_json:
            click.echo("\n".join(report.sentences()))
        if report.refusals:
            raise CommandError("a load would be refused: " + "; ".join(report.refusals))


def run_export(platform: str, *, output: Path | None, quiet: bool, as_json: bool) -> None:
    """`gear-indexer export`."""
    from indexer.sample.catalogue import written

    answer: dict[str, Any] = {"platform": platform, "output": None if output is None else str(output)}
    with answered(answer, as_json=as_json):
        settings = SearchSettings()
        found = platform_of(read_platforms(settings.platform_files), platform)
        answer.update({"platform": found.id, "alias": settings.alias(found.id), "complete": False})
        export = Export(connected(settings), settings.alias(found.id))
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
    with answered(answer, as_json=as_json):
        settings = SearchSettings()
        platforms = read_platforms(settings.platform_files)
        client = connected(settings)
        asked = list(platforms) if platform is None else [platform_of(platforms, platform)]
        states = [status(client, one.id, settings.alias(one.id), _definition(one)) for one in asked]
        answer.update({"platforms": states} if platform is None else states[0])
        if not as_json:
            for state in states:
                click.echo(readable_state(state))


def run_rollback(
    platform: str, to: str | None, *, yes: bool, dry_run: bool, without_orders: bool, as_json: bool
) -> None:
    """`gear-indexer rollback`."""
    answer: dict[str, Any] = {"platform": platform, "swapped": False}
    with answered(answer, as_json=as_json):
        settings = SearchSettings()
        found = platform_of(read_platforms(settings.platform_files), platform)
        answer["platform"] = found.id
        rollback = Rollback(connected(settings), found, settings.alias(found.id), _definition(found))
        preview = rollback.preview(to)
        answer["changes"] = preview.as_json()
        for sentence in preview.sentences():
            _say(sentence)
        if dry_run:
            return
        if not yes and sys.stdin.isatty() and not click.confirm("Have it serve?", err=True):
            message = "nothing was done"
            raise CommandError(message)
        with claims_of(found, ROLLBACK_RETRY_SECONDS, without_orders=without_orders) as claims:
            answer.update(rollback.run(to, claims, _say, preview=preview))
        _say(f"{answer['index']} serves behind {answer['alias']}: {answer['items']:,} items{_way_back(answer)}")


def _way_back(answer: dict[str, Any]) -> str:
    if answer["previous"] is None:
        return ""
    return f"; to take it back: gear-indexer rollback --platform {answer['platform']} --to {answer['previous']}"


def run_prune(platform: str, keep: int, *, as_json: bool) -> None:
    """`gear-indexer prune`."""
    answer: dict[str, Any] = {"platform": platform}
    with answered(answer, as_json=as_json):
        settings = SearchSettings()
        found = platform_of(read_platforms(settings.platform_files), platform)
        answer["platform"] = found.id
        answer.update(prune(connected(settings), settings.alias(found.id), _definition(found), keep, _say))
        removed = ", ".join(answer["removed"]) or "nothing"
        click.echo(f"removed {removed}; kept {', '.join(answer['kept']) or 'nothing'}", err=True)


def run_doctor(
    platform: str | None, *, fix: bool, older_than: float, keep: int, without_orders: bool, as_json: bool
) -> None:
    """`gear-indexer doctor`."""
    from indexer.doctor.diagnosis import diagnosed, readable_findings

    answer: dict[str, Any] = {"platforms": [], "errors": None, "warnings": None, "findings": []}
    with answered(answer, as_json=as_json):
        platforms = read_platforms(SearchSettings().platform_files)
        asked = list(platforms) if platform is None else [platform_of(platforms, platform)]
        answer["platforms"] = [one.id for one in asked]
        answer.update(diagnosed(asked, fix=fix, older_than=older_than, keep=keep, without_orders=without_orders))
        if not as_json:
            click.echo(readable_findings(answer))
    if answer["errors"]:
        sys.exit(1)


def run_sample(count: int, seed: int, *, catalogue: Path, platform: str, output: Path | None, as_json: bool) -> None:
    """`gear-indexer sample`."""
    from indexer.sample.catalogue import read_catalogue, written
    from indexer.sample.generator import Sampler

    answer: dict[str, Any] = {"count": count, "seed": seed, "output": None if output is None else str(output)}
    with answered(answer, as_json=as_json):
        began = time.monotonic()
        sampler = Sampler(
            read_catalogue(catalogue), platform_of(read_platforms(SearchSettings().platform_files), platform), seed
        )
        answer["bytes"] = written(sampler.batches(count), output)
        answer["seconds"] = round(time.monotonic() - began, 3)
