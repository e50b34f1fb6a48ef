"""The command `gear-api`: serving, the schema, tokens and the OpenAPI description."""

import json
import os
from contextlib import nullcontext
from datetime import UTC, datetime, timedelta
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import click

from api.cli.callbacks import deliver, webhook
from api.cli.context import AS_JSON, checked, duration, opened_store, run_now
from api.cli.doctor import PRODUCTION, check_settings, doctor
from api.cli.encryption import encryption
from api.cli.explain import explain
from api.cli.privacy import forget

if TYPE_CHECKING:
    from store.auth.tokens import Token

SCOPES = ("search", "order", "fulfil", "metrics")


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
def serve(host: str | None, port: int | None, workers: int, production: bool) -> None:  # click passes flags by name
    """Serve the API until it is stopped (SIGTERM, SIGINT).

    Example: gear-api serve --port 8000 --workers 2
    """
    import uvicorn

    from api import logs
    from api.http.connections import raise_open_files
    from api.http.protocol import GearProtocol
    from api.settings import Settings
    from mappings.platforms import read_platforms

    # every worker builds its settings from the environment, and must know where it listens
    os.environ.update({name: str(value) for name, value in (("GEAR_API_HOST", host), ("GEAR_API_PORT", port)) if value})
    settings = checked(Settings)
    checked(lambda: read_platforms(settings.platform_files))
    logs.configure()
    check_settings(settings, production=production, workers=workers)
    raise_open_files()
    with TemporaryDirectory(prefix="gear-metrics-") if workers > 1 else nullcontext() as metrics_dir:
        if metrics_dir is not None:  # shared, so that each worker can report for all
            os.environ.setdefault("PROMETHEUS_MULTIPROC_DIR", metrics_dir)
        uvicorn.run(
            "api.app:serve",
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
        )


@main.command()
@AS_JSON
def migrate(as_json: bool) -> None:
    """Bring the database's schema up to date; safe to run twice, and by two at once.

    Example: GEAR_DATABASE_URL=postgresql+asyncpg://gear:secret@db/gear gear-api migrate
    """
    from store import migrate as migration
    from store.connection.settings import StoreSettings

    settings = checked(StoreSettings)
    run_now(migration.upgrade(settings.database_url))
    click.echo(f"the schema is at {migration.head()}", err=True)
    if as_json:
        click.echo(json.dumps({"revision": migration.head()}))


@main.command()
def openapi() -> None:
    """Print the OpenAPI description as JSON.

    Example: gear-api openapi > openapi.json
    """
    from api.app import create_app
    from api.settings import Settings

    app = checked(lambda: create_app(Settings()))
    click.echo(json.dumps(app.openapi(), indent=2, ensure_ascii=False))


@main.group()
def token() -> None:
    """Create, list and revoke bearer tokens.

    Example: gear-api token create --name shop --scope search --scope order
    """


@token.command("create")
@click.option("--name", required=True, help="Whose token it is.")
@click.option("--scope", "scopes", multiple=True, required=True, type=click.Choice(SCOPES), help="What it may do.")
@click.option("--sandbox", is_flag=True, help="Its orders touch no real item.")
@click.option("--expires", callback=duration, help="How long it is valid, such as 90d; default: for ever.")
@AS_JSON
def create_token(
    name: str, scopes: tuple[str, ...], sandbox: bool, expires: timedelta | None, as_json: bool
) -> None:  # click passes flags by name
    """Create a token and print its two secrets, which are shown only once.

    Example: gear-api token create --name shop --scope search --scope order --expires 90d --json
    """
    from store.auth import tokens

    now = datetime.now(UTC)

    async def create() -> tokens.CreatedToken:
        async with opened_store() as store, store.transaction() as connection:
            until = None if expires is None else now + expires
            return await tokens.create(connection, name, scopes, sandbox, until, now)

    created = run_now(create())
    shown = {
        "id": created.token.id,
        "token": created.plaintext,
        "webhookSecret": created.token.webhook_secret,
        **_describe(created.token),
    }
    if as_json:
        click.echo(json.dumps(shown))
        return
    for key, value in shown.items():
        click.echo(f"{key}: {' '.join(value) if isinstance(value, list) else value}")
    click.echo("keep both secrets: they are not shown again", err=True)


@token.command("list")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON array.")
def list_tokens(as_json: bool) -> None:  # click passes flags by name
    """List the tokens, without their secrets.

    Example: gear-api token list
    """
    from store.auth import tokens

    async def find() -> list[tokens.Token]:
        async with opened_store() as store, store.reading() as connection:
            return await tokens.list_all(connection)

    shown = [{"id": token.id, **_describe(token)} for token in run_now(find())]
    if as_json:
        click.echo(json.dumps(shown))
        return
    for entry in shown:
        state = "revoked" if entry["revokedAt"] else f"expires {entry['expiresAt'] or 'never'}"
        click.echo(f"{entry['id']}  {entry['name']}  {' '.join(entry['scopes'])}  {state}")


@token.command("revoke")
@click.argument("token_id_or_name")
@click.option("--stop-callbacks", is_flag=True, help="Send no more callbacks of its orders, now and later.")
@AS_JSON
def revoke_token(token_id_or_name: str, stop_callbacks: bool, as_json: bool) -> None:  # click passes flags by name
    """Revoke a token by its id or name; every worker refuses it within 5 seconds.

    Its orders go on and so do their callbacks, unless they are stopped, also later, by the id of the revoked token.

    Example: gear-api token revoke shop --stop-callbacks
    """
    from store.auth import tokens

    async def revoke() -> bool:
        async with opened_store() as store, store.transaction() as connection:
            return await tokens.revoke(connection, token_id_or_name, datetime.now(UTC), stop_callbacks=stop_callbacks)

    if not run_now(revoke()):
        message = f"no usable token has the id or name {token_id_or_name!r}; see gear-api token list"
        raise click.ClickException(message)
    click.echo(f"revoked {token_id_or_name}", err=True)
    if as_json:
        click.echo(json.dumps({"revoked": token_id_or_name, "callbacksStopped": stop_callbacks}))


def _describe(token: "Token") -> dict[str, Any]:
    def timestamp(at: datetime | None) -> str | None:
        return None if at is None else at.isoformat()

    return {
        "name": token.name,
        "scopes": sorted(token.scopes),
        "sandbox": token.sandbox,
        "createdAt": timestamp(token.created_at),
        "expiresAt": timestamp(token.expires_at),
        "revokedAt": timestamp(token.revoked_at),
    }


main.add_command(deliver)
main.add_command(doctor)
main.add_command(encryption)
main.add_command(explain)
main.add_command(forget)
main.add_command(webhook)
