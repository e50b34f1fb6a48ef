"""Runs the commands of live changes."""

import time
from pathlib import Path
from typing import Any

import click

from indexer.cli.context import answered, claims_of, connected, platform_of
from indexer.live.changes import ChangeJob, Changes
from indexer.loading.load import SHORT_PATIENCE
from indexer.loading.report import ChangeReport
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
        began = time.monotonic()
        try:
            mapper = None if map_file is None else Mapper(read_item_map(map_file))
            job = ChangeJob(sources=expand_patterns(sources), platform=found, mapper=mapper, **options)
            claims = claims_of(found, min(job.give_up_after, SHORT_PATIENCE), without_orders=without_orders)
            changes = Changes(job, connected(settings), read_definition().with_shards(found.shards), claims, report)
            changes.upsert() if verb == "upsert" else changes.delete()
        finally:
            report.seconds = time.monotonic() - began
            answer.update(report.as_json())
            if not quiet:
                click.echo(report.counts(), err=True)
