"""Runs `gear-indexer upsert` and `gear-indexer delete`."""

from pathlib import Path
from typing import Any

from indexer.cli.context import command_result, index_of, mapper_of, say
from indexer.engine.retry import RetryPolicy
from indexer.live.source_changes import ChangeReport, SourceChanges
from indexer.loading.load import SHORT_RETRY_SECONDS
from indexer.sources.source import expand_patterns


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
    result: dict[str, Any] = {"platform": platform}
    with command_result(result, as_json=as_json):
        index = index_of(platform)
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
