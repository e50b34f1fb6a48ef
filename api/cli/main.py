"""The command `gear-api`: serving, the schema and the OpenAPI description; the other commands join it here."""

import json
import os
import sys
from contextlib import nullcontext, suppress
from functools import partial
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

import click

from api.cli.audit import audit
from api.cli.callbacks import deliver, webhook
from api.cli.conform import conform
from api.cli.context import AS_JSON, checked, command_actor, run_now
from api.cli.doctor import PRODUCTION, check_settings, doctor
from api.cli.encryption import encryption
from api.cli.explain import explain
from api.cli.mcp import serve_mcp
from api.cli.orders import orders
from api.cli.privacy import forget
from api.cli.reconcile import reconcile
from api.cli.tokens import token
from api.cli.vocabulary import searches, vocabulary

if TYPE_CHECKING:
    from collections.abc import Callable

    from fastapi import FastAPI

    from mappings.platforms import Platforms


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="gear")
def main() -> None:
    """Serve searches and orders, and manage their tokens.

    Settings come from GEAR_… variables and a file `.env`; see docs/operations.md.

    Example: gear-api migrate && gear-api serve
    """


@main.command()
@click.option("--host", help="Address to listen on (GEAR_API_HOST, 127.0.0.1).")
@click.option("--port", type=click.IntRange(1, 65535), help="Port to listen on (GEAR_API_PORT, 8000).")
@click.option("--workers", type=click.IntRange(1, 256), default=1, show_default=True, help="Processes to serve with.")
@PRODUCTION
def serve(host: str | None, port: int | None, workers: int, production: bool) -> None:
    """Serve the API until it is stopped: by SIGTERM after GEAR_DRAIN_SECONDS, by SIGINT at once.

    Example: gear-api serve --port 8000 --workers 2
    """
    import uvicorn
    from uvicorn.config import STARTUP_FAILURE

    from api.http.connections import raise_open_files
    from api.http.protocol import GearProtocol
    from api.settings import Settings
    from api.telemetry import logs
    from mappings.platforms import read_platforms

    # every worker builds its settings from the environment, and must know where it listens
    os.environ.update({name: str(value) for name, value in (("GEAR_API_HOST", host), ("GEAR_API_PORT", port)) if value})
    settings = checked(Settings)
    platforms = checked(lambda: read_platforms(settings.platform_files))
    logs.configure()
    check_settings(settings, production=production, workers=workers)
    checked(platforms.make_tables)
    raise_open_files()
    with TemporaryDirectory(prefix="gear-metrics-") if workers > 1 else nullcontext() as metrics_dir:
        if metrics_dir is not None:  # shared, so that each worker can report for all
            os.environ.setdefault("PROMETHEUS_MULTIPROC_DIR", metrics_dir)
        config = uvicorn.Config(
            _application(workers, platforms),
            factory=True,
            host=settings.api_host,
            port=settings.api_port,
            workers=workers,
            access_log=False,
            server_header=False,
            proxy_headers=False,  # the app reads them, by GEAR_TRUSTED_PROXIES
            http=GearProtocol,
            ws="none",
            # longer than a proxy keeps an idle connection, so that the proxy closes it
            timeout_keep_alive=75,
            log_config=None,
            timeout_graceful_shutdown=10,
            # a worker that is only busy is not killed: the others would have its load as well
            timeout_worker_healthcheck=30,
        )
        with suppress(KeyboardInterrupt):
            if workers > 1:
                from api.http.workers import Supervisor
                from api.telemetry.metrics import worker_deaths  # it counts in the folder that is set by now

                supervisor = Supervisor(config, [config.bind_socket()], worker_deaths().inc)
                supervisor.run()
                failed = supervisor.has_failed
            else:
                server = uvicorn.Server(config)
                server.run()
                failed = not server.started
            if failed:
                sys.exit(STARTUP_FAILURE)


def _application(workers: int, platforms: "Platforms") -> "str | Callable[[], FastAPI]":
    """What makes the app: with what was read, or by its name where each of several workers reads for itself."""
    from api.http.workers import FORKS

    if workers > 1 and not FORKS:
        return "api.app:serve"
    from api.app import serve as application

    return partial(application, platforms)


@main.command()
@AS_JSON
def migrate(as_json: bool) -> None:
    """Bring the database's schema up to date; safe to run twice, and by two at once. A newer schema is left as it is.

    Example: GEAR_DATABASE_URL=postgresql+asyncpg://gear:secret@db/gear gear-api migrate
    """
    from store import migrate as migration
    from store.connection.settings import StoreSettings

    settings = checked(StoreSettings)
    run_now(migration.upgrade(settings.database_url, actor=command_actor()))
    revision = run_now(migration.current(settings.database_url))
    newer = "" if revision == migration.head() else ", of a newer version: it is left as it is"
    click.echo(f"the schema is at {revision}{newer}", err=True)
    if as_json:
        click.echo(json.dumps({"revision": revision}))


@main.command()
def openapi() -> None:
    """Print the OpenAPI description as JSON.

    Example: gear-api openapi > openapi.json
    """
    from api.app import create_app
    from api.settings import Settings

    app = checked(lambda: create_app(Settings()))
    click.echo(json.dumps(app.openapi(), indent=2, ensure_ascii=False))


for _command in (
    *(audit, conform, deliver, doctor, encryption, explain, forget, orders, reconcile, searches, serve_mcp, token),
    *(vocabulary, webhook),
):
    main.add_command(_command)
