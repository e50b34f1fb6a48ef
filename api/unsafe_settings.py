"""Finds settings that suit a laptop and are unsafe in production."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

from api.settings import Settings
from store.connection.settings import is_this_machine


@dataclass(frozen=True)
class UnsafeSetting:
    """One finding: its `code`, the setting, why it is unsafe and what to do. Holds no secret."""

    code: str
    setting: str
    message: str
    remedy: str


def unsafe_settings(settings: Settings, workers: int) -> Iterator[UnsafeSetting]:
    """What is unsafe, for so many workers; reads the modes of files and nothing else."""
    if settings.allow_insecure_callbacks:
        message = "every token with the scope order can send requests to private addresses, the engine's too"
        yield UnsafeSetting("insecure-callbacks", "GEAR_ALLOW_INSECURE_CALLBACKS", message, "leave it out")
    public_url = urlsplit(settings.public_url)
    if not settings.public_url_is_set:
        message = f"buyers are sent to {settings.public_url}"
        yield UnsafeSetting("no-public-url", "GEAR_PUBLIC_URL", message, "set it to the address that buyers reach")
    elif public_url.scheme == "http" and not is_this_machine(public_url.hostname):
        message = "the address of an order's page is its secret, and goes over the network in clear"
        yield UnsafeSetting("public-url-http", "GEAR_PUBLIC_URL", message, "use https")
    elsewhere = [address for address in settings.addresses if not is_this_machine(address.hostname)]
    if any(address.scheme == "http" for address in elsewhere):
        message = "items, prices and any password go to the engine in clear"
        yield UnsafeSetting("engine-without-tls", "GEAR_OPENSEARCH_URL", message, "use https")
    if settings.opensearch_password is None and any(address.password is None for address in elsewhere):
        message = "whoever reaches the engine sets prices"
        remedy = "set it with GEAR_OPENSEARCH_USERNAME, or let nothing else reach the engine"
        yield UnsafeSetting("engine-without-login", "GEAR_OPENSEARCH_PASSWORD", message, remedy)
    if settings.database_without_tls:
        message = "orders, secrets and the password go to PostgreSQL in clear"
        yield UnsafeSetting("database-without-tls", "GEAR_DATABASE_URL", message, "add ?sslmode=verify-full")
    if settings.encryption_keyring is None:
        message = "webhook secrets, e-mail addresses and trade links are in clear in the database and its backups"
        remedy = "gear-api encryption key, then gear-api encryption rotate"
        yield UnsafeSetting("not-encrypted", "GEAR_ENCRYPTION_KEYRING", message, remedy)
    elif _mode(settings.encryption_keyring) & 0o077:
        message = f"others than its owner may read {settings.encryption_keyring}"
        remedy = f"chmod 600 {settings.encryption_keyring}"
        yield UnsafeSetting("keys-readable", "GEAR_ENCRYPTION_KEYRING", message, remedy)
    if not settings.rate_limit:
        message = "one token can use the service up"
        yield UnsafeSetting("no-rate-limit", "GEAR_RATE_LIMIT", message, "set it, such as 100/second")
    elif workers > 1 and not settings.rate_limit_storage:
        message = f"{workers} workers count each for themselves: together they allow {workers} times the limit"
        yield UnsafeSetting("rate-limit-per-worker", "GEAR_RATE_LIMIT_STORAGE", message, "name a shared storage")
    database = settings.sqlite_file
    if database is not None and _mode(database) & 0o007:
        message = f"everybody on this machine may read {database}"
        yield UnsafeSetting("database-readable", "GEAR_DATABASE_URL", message, f"chmod 600 {database}")
    if _mode(Path(".env")) & 0o007:
        message = "everybody on this machine may read it"
        yield UnsafeSetting("env-readable", ".env", message, "chmod 600 .env")


def _mode(file: Path) -> int:
    """The permissions of a file; none where it is not there."""
    try:
        return file.stat().st_mode
    except OSError:
        return 0
