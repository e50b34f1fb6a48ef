"""Runs `gear-indexer follow`."""

import time
from collections.abc import Callable
from contextlib import ExitStack, closing
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import click

from indexer.cli.context import Interruption, PlatformIndex, json_text, platform_command, say
from indexer.documents.rejects import RejectsFile
from indexer.engine.progress_records import FOLLOW_SECONDS, ProgressPublisher
from indexer.engine.retry import RetryPolicy, StoppedError
from indexer.errors import CommandError
from indexer.follow.follower import Follower, FollowReport
from indexer.follow.kafka import SCHEME, KafkaStream
from indexer.follow.lines import LineStream
from indexer.follow.metrics import FollowMetrics
from indexer.follow.stream import Stream

STDIN = "-"
SAY_SECONDS = 10.0
SPARE_SECONDS = 60.0  # that a batch may take beyond its retries, before the group takes the follower for dead


def run_follow(
    source: str,
    *,
    platform: str,
    group: str | None,
    properties: Path | None,
    rejects: Path | None,
    retry_timeout: float,
    without_orders: bool,
    metrics_port: int | None,
    metrics_host: str,
    quiet: bool,
    as_json: bool,
) -> None:
    command = platform_command(platform, as_json=as_json, source=source)
    with command as (index, result), ExitStack() as resources:
        report = FollowReport(index.platform.id, index.alias, source=source)
        retry = RetryPolicy(retry_timeout)
        stamp = f"{datetime.now(UTC):%Y%m%d%H%M%S%f}"
        target = rejects or Path(f"{index.alias}-{stamp}.rejects.ndjson")
        try:
            claims = resources.enter_context(index.claims(retry, without_orders=without_orders))
            client = index.connected()
            writer = index.writer(client, claims, retry)
            writer.check()
            show = _shown(resources, metrics_port, metrics_host, quiet=quiet, as_json=as_json)
            stream = resources.enter_context(closing(_stream(source, index, retry_timeout, group, properties)))
            rejected = resources.enter_context(RejectsFile(target, append=True))
            publisher = ProgressPublisher(client, index.alias, "follow", stream.name)
            resources.callback(lambda: publisher.write(**_progress(report), ended=True))

            def on_batch(report: FollowReport, messages: int) -> None:
                show(report, messages)
                publisher.write(**_progress(report), every=FOLLOW_SECONDS)

            follower = Follower(stream, writer, rejected, report, on_batch)

            def stop() -> None:
                """After the batch that is being written; waiting for the engine ends at once."""
                follower.stopped.set()
                retry.stopped.set()

            with Interruption(stop).watched():
                follower.run()
            rejected.close()
        except StoppedError as error:
            if source == STDIN:  # which cannot be read again
                message = f"stopped while the engine was away: send again what comes after line {report.line}"
                raise CommandError(message) from error
            say("stopped while the engine was away: what was not acknowledged is not committed")
        finally:
            result.update(report.as_json())
            if not quiet:
                say(_sentence(report))
        if stream.ended and (refusals := report.refusals()) is not None:
            raise CommandError(refusals)


def _stream(
    source: str, index: PlatformIndex, retry_timeout: float, group: str | None, properties: Path | None
) -> Stream:
    """The stream of this name; raises CommandError."""
    if source == STDIN:
        return LineStream(index.platform)
    if not source.startswith(SCHEME):
        raise CommandError(f"{source}: must be - for stdin, or kafka://host:port/topic")
    return KafkaStream(
        source,
        group or index.alias,
        index.platform,
        properties=_properties(properties),
        max_pause=retry_timeout + SPARE_SECONDS,
        say=say,
    )


def _properties(file: Path | None) -> dict[str, str]:
    """The properties of a file as Kafka's own tools read it: `name=value` lines; raises CommandError."""
    if file is None:
        return {}
    try:
        lines = file.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise CommandError(f"{file} cannot be read: {error}") from error
    properties = {}
    for number, line in enumerate(lines, 1):
        name, equals, value = line.partition("=")
        if line.strip() and not line.lstrip().startswith("#"):
            if not equals:
                raise CommandError(f"{file}, line {number}: must be name=value")
            properties[name.strip()] = value.strip()
    return properties


def _shown(
    resources: ExitStack, port: int | None, host: str, *, quiet: bool, as_json: bool
) -> Callable[[FollowReport, int], None]:
    """What shows each batch: metrics, a line on stdout for machines, now and then one on stderr for people."""
    metrics = FollowMetrics()
    if port is not None:
        resources.callback(metrics.serve(port, host))
    said_at = time.monotonic()

    def show(report: FollowReport, messages: int) -> None:
        nonlocal said_at
        metrics.update(report, messages)
        if messages and as_json:
            click.echo(json_text(report.as_json()))
        if messages and not quiet and time.monotonic() - said_at >= SAY_SECONDS:
            said_at = time.monotonic()
            say(_sentence(report))

    return show


def _progress(report: FollowReport) -> dict[str, Any]:
    """What operators see of a report."""
    return {name: getattr(report, name) for name in ("read", "rejected", "reasons", "lag", "age")}


def _sentence(report: FollowReport) -> str:
    return f"{report.sentence()}; lag {report.lag:,}"
