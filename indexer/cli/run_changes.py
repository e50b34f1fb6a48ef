"""Runs the commands of live changes."""

from pathlib import Path
from typing import Any

import click

from indexer.cli.context import answered, claims_of, connected, platform_of
from indexer.live.changes import ChangeJob, ChangeReport, Changes
from indexer.loading.load import SHORT_RETRY_SECONDS
from indexer.sources.item_map import read_item_map
from indexer.sources.mapping import Mapper
from indexer.sources.source import expand_patterns
from mappings.connection import SearchSettings
from mappings.definition import read_definition
from mappings.platforms import read_platforms


def run_changes(
    verb: str,
    sources: tuple[str, ...],
    *,
    platform: str,
    without_orders: bool,
    quiet: bool,
    as_json: bool,
    map_file: Path | None,
    **options: Any,
) -> None:
    """`gear-indexer upsert` and `gear-indexer delete`."""
    answer: dict[str, Any] = {"platform": platform}
    with answered(answer, as_json=as_json):
        settings = SearchSettings()
        found = platform_of(read_platforms(settings.platform_files), platform)
        report = ChangeReport(found.id, settings.alias(found.id))
        answer.update(report.as_json())
        try:
            mapper = None if map_file is None else Mapper(read_item_map(map_file))
            job = ChangeJob(sources=expand_patterns(sources), platform=found, mapper=mapper, **options)
            retry_seconds = min(job.retry_timeout, SHORT_RETRY_SECONDS)
            with claims_of(found, retry_seconds, without_orders=without_orders) as claims:
                definition = read_definition().with_shards(found.shards)
                changes = Changes(job, connected(settings), definition, claims, report)
                changes.upsert() if verb == "upsert" else changes.delete()
        finally:
            answer.update(report.as_json())
            if not quiet:
                click.echo(report.counts(), err=True)
