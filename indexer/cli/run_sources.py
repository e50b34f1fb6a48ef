"""Runs the commands that read sources: `gear-indexer load` and its dry run, `upsert` and `delete`."""

import time
from pathlib import Path
from typing import Any

import click

from indexer.cli.context import Interruption, PlatformIndex, mapper_of, platform_command, say
from indexer.cli.load_metrics import LoadMetrics
from indexer.cli.progress import LoadProgress
from indexer.engine.retry import RetryPolicy
from indexer.errors import CommandError
from indexer.live.source_changes import ChangeReport, SourceChanges
from indexer.loading.dry_run import DryRunReport, dry_run
from indexer.loading.job import LoadJob, Progress
from indexer.loading.load import SHORT_RETRY_SECONDS, Load
from indexer.loading.report import LoadReport
from indexer.sources.http import silent
from indexer.sources.source import expand_patterns, total_size


def run_load(
    files: tuple[str, ...],
    *,
    platform: str,
    without_orders: bool,
    quiet: bool,
    as_json: bool,
    metrics_file: Path | None,
    **options: Any,
) -> None:
    with platform_command(platform, as_json=as_json, swapped=False) as (index, result):
        report = LoadReport(index.platform.id, index.alias)
        interruption = Interruption()
        try:
            job = _job(files, index, options, quiet=quiet)
            retry = RetryPolicy(min(job.retry_timeout, SHORT_RETRY_SECONDS))
            with (
                interruption.watched(),
                LoadProgress(job.size, quiet=quiet) as shown,
                LoadMetrics(shown, metrics_file, report, job.size) as progress,
                index.claims(retry, without_orders=without_orders) as claims,
            ):
                client = index.connected(job.concurrency)
                Load(job, client, index.definition, claims, report, progress).run(interruption.hold)
                _report_unmatched(job, progress)
                progress.say(f"{report.index} serves behind {report.alias}: {report.counts()}")
        finally:
            if report.phases and not quiet:
                say(report.table())
            result.update(report.as_json())


def run_dry_load(files: tuple[str, ...], *, platform: str, quiet: bool, as_json: bool, **options: Any) -> None:
    with platform_command(platform, as_json=as_json, dryRun=True, wouldSwap=False) as (index, result):
        report = DryRunReport(index.platform.id, index.alias)
        began = time.monotonic()
        try:
            job = _job(files, index, options, quiet=quiet)
            with LoadProgress(job.size, quiet=quiet) as progress:
                dry_run(job, index.connected(), index.definition, report, say, progress)
                _report_unmatched(job, progress)
        finally:
            result.update({**report.as_json(), "seconds": round(time.monotonic() - began, 3)})
        if not as_json:
            click.echo("\n".join(report.sentences()))
        if report.refusals:
            raise CommandError("a load would be refused: " + "; ".join(report.refusals))


def run_changes(
    verb: str,
    sources: tuple[str, ...],
    *,
    platform: str,
    without_orders: bool,
    quiet: bool,
    as_json: bool,
    map_file: Path | None,
    rejects: Path | None,
    retry_timeout: float,
) -> None:
    with platform_command(platform, as_json=as_json) as (index, result):
        report = ChangeReport(index.platform.id, index.alias)
        try:
            mapper = mapper_of(map_file)
            named = expand_patterns(sources)
            retry = RetryPolicy(min(retry_timeout, SHORT_RETRY_SECONDS))
            with index.claims(retry, without_orders=without_orders) as claims:
                writer = index.writer(index.connected(), claims, RetryPolicy(retry_timeout))
                changes = SourceChanges(writer, index.platform, mapper, rejects, report)
                changes.upsert(named) if verb == "upsert" else changes.delete(named)
        finally:
            result.update(report.as_json())
            if not quiet:
                say(report.sentence())


def _job(files: tuple[str, ...], index: PlatformIndex, options: dict[str, Any], *, quiet: bool) -> LoadJob:
    mapper = mapper_of(options.pop("map_file"))
    names = expand_patterns(files)
    size = total_size(names, silent if quiet else say)
    key = index.settings.derived_digest_key
    return LoadJob(files=names, platform=index.platform, mapper=mapper, size=size, digest_key=key, **options)


def _report_unmatched(job: LoadJob, progress: Progress) -> None:
    if job.mapper is not None and (missing := job.mapper.unmatched_paths()):
        progress.say(f"no item has {', '.join(missing)}, which the map reads; is it spelt so in the sources?")
