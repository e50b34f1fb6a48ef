"""The command line `gear-node`: data on stdout, all else on stderr."""

import json
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from node.process.lifecycle import Status

NOT_RUNNING = 3
"""Exit code of `status` when the node does not run or does not answer (as init scripts have it)."""

_dir_option = click.option(
    "--dir",
    "directory",
    type=click.Path(path_type=Path),
    help="Folder of the node's data and logs (GEAR_NODE_DIR). Example: --dir /tmp/second-node",
)
_json_option = click.option("--json", "as_json", is_flag=True, help="One JSON object. Example: --json")


@contextmanager
def _explained_errors() -> Iterator[None]:
    """Turns an error into one sentence on stderr and exit code 1."""
    from node.errors import NodeError

    try:
        yield
    except NodeError as error:
        raise click.ClickException(str(error)) from error
    except ModuleNotFoundError as error:
        msg = f"the package {error.name!r} is missing: pip install '.[node]' in the checkout"
        raise click.ClickException(msg) from error
    except BrokenPipeError:
        raise  # whoever read our output has enough; click ends quietly
    except OSError as error:
        msg = f"{error.strerror or error} ({error.filename or 'no file named'}): check the disk and its permissions"
        raise click.ClickException(msg) from error


def _say(sentence: str) -> None:
    click.echo(sentence, err=True)


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="gear")
def main() -> None:
    """An OpenSearch on this machine without containers, bound to 127.0.0.1.

    Example: gear-node start && curl http://127.0.0.1:9200
    """


@main.command()
@_dir_option
@click.option("--port", type=int, help="HTTP port, 9200 unless GEAR_NODE_PORT says otherwise. Example: --port 9201")
@click.option("--heap", help="Java heap, 512m unless GEAR_NODE_HEAP says otherwise. Example: --heap 2g")
@click.option(
    "--jvm",
    type=click.Choice(["laptop", "full"]),
    help="laptop (default) starts fast and stays small; full is for benchmarks. Example: --jvm full",
)
@click.option("--timeout", type=float, help="Seconds that the start may take (180). Example: --timeout 300")
@_json_option
@_explained_errors()
def start(directory: Path | None, as_json: bool, **options: Any) -> None:
    """Get OpenSearch if it is not here yet, start it, and print its address once it answers.

    The first time fetches 176 MB; after that no network is needed. Data survives stop and start.

    Example: gear-node start --port 9201 --heap 1g
    """
    from node.process import lifecycle
    from node.settings import read_settings

    settings = read_settings(dir=directory, **options)
    record, is_running = lifecycle.start(settings, _say)
    folders = lifecycle.folders_of(settings)
    _say(f"OpenSearch {'runs already' if is_running else 'runs'} (process {record.pid}, data in {folders.home})")
    if as_json:
        data = {"url": record.url, "pid": record.pid, "alreadyRunning": is_running} | _where(folders)
        click.echo(json.dumps(data, ensure_ascii=False))
    else:
        click.echo(record.url)


@main.command()
@_dir_option
@click.option(
    "--timeout",
    type=click.FloatRange(min=0),
    default=30,
    show_default=True,
    help="Seconds before it is killed. Example: --timeout 60",
)
@_explained_errors()
def stop(directory: Path | None, timeout: float) -> None:
    """End the node in good order; its data stay. Fine when it does not run.

    Example: gear-node stop
    """
    from node.process import lifecycle
    from node.settings import read_settings

    settings = read_settings(dir=directory)
    stopped = lifecycle.stop(settings, timeout, _say)
    _say("OpenSearch stopped" if stopped else "OpenSearch was not running")


@main.command()
@_dir_option
@_json_option
@_explained_errors()
def status(directory: Path | None, as_json: bool) -> None:
    """Say whether the node runs and how it is. Exit code 0 when it answers, 3 when not.

    Example: gear-node status --json
    """
    from node.process import lifecycle
    from node.settings import read_settings

    report = lifecycle.status(read_settings(dir=directory))
    if as_json:
        click.echo(json.dumps(_status_json(report), ensure_ascii=False))
    else:
        for line in _status_lines(report):
            click.echo(line)
    if report.state != "running":
        sys.exit(NOT_RUNNING)


@main.command()
@_dir_option
@click.option("--yes", is_flag=True, help="Do not ask. Example: --yes")
@_explained_errors()
def reset(directory: Path | None, yes: bool) -> None:
    """End the node and delete all its data; the downloads stay, in the folder that `status` names.

    Example: gear-node reset --yes
    """
    from node.process import lifecycle
    from node.settings import read_settings

    settings = read_settings(dir=directory)
    folders = lifecycle.folders_of(settings)
    if not yes:
        click.confirm(f"Delete all data in {folders.home}?", abort=True, err=True)
    deleted = lifecycle.reset(settings, 30, _say)
    _say(f"deleted all data in {folders.home}" if deleted else f"there was nothing to delete in {folders.home}")


def _where(folders: Any) -> dict[str, str]:
    return {"dir": str(folders.home), "cache": str(folders.cache), "log": str(folders.log)}


def _status_json(report: "Status") -> dict[str, Any]:
    """The status for machines; what is not known is null."""
    from node.server.pins import OPENSEARCH_VERSION

    node = {**vars(report.record), "url": report.record.url} if report.record else {}
    cluster = vars(report.cluster) if report.cluster else {}
    return {
        "state": report.state,
        "running": report.state == "running",
        **{name: node.get(name) for name in ("url", "pid", "port", "heap", "jvm")},
        "version": OPENSEARCH_VERSION,
        **{name: cluster.get(name) for name in ("health", "indices", "documents")},
        "lockedIndices": list(cluster["locked"]) if cluster else None,
        "residentBytes": report.resident,
        "diskFreeBytes": report.disk_free,
        "stalePidFile": report.stale,
    } | _where(report.folders)


def _status_lines(report: "Status") -> list[str]:
    from node.process.config import FREE_DISK_TO_START

    record, state = report.record, report.cluster
    lines = [f"state     {report.state}"]
    if record is not None:
        memory = f", {report.resident / 1e6:.0f} MB resident" if report.resident else ""
        lines += [f"address   {record.url}", f"process   {record.pid} (heap {record.heap}, {record.jvm}{memory})"]
    if state is not None:
        lines.append(f"cluster   {state.health}, {state.indices} indices, {state.documents} documents")
        if state.locked:
            lines.append(f"locked    {', '.join(state.locked)}: the disk was too full, free some and they open again")
    lines += [f"{name:<10}{folder}" for name, folder in _where(report.folders).items()]
    lines += [f"disk      {report.disk_free / 1e9:.1f} GB free"]
    if report.disk_free < FREE_DISK_TO_START:
        lines.append("warning   the disk is nearly full: below 0.5 GB OpenSearch makes every index read-only")
    if report.stale:
        lines.append(f"warning   {report.folders.record} is stale: the node ended without `gear-node stop`")
    return lines
