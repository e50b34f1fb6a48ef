"""Parses and checks GEAR_DATABASE_URL."""

import ssl
from pathlib import Path

from sqlalchemy.engine import URL, make_url
from sqlalchemy.exc import ArgumentError

from store.connection.errors import AddressRefused

_DRIVERS = {
    "sqlite": "sqlite+aiosqlite",
    "sqlite+aiosqlite": "sqlite+aiosqlite",
    "postgres": "postgresql+asyncpg",
    "postgresql": "postgresql+asyncpg",
    "postgresql+asyncpg": "postgresql+asyncpg",
}

# What asyncpg.connect or store.connection.postgres takes. Anything else would only fail at the first connection, as a
# TypeError.
_POSTGRES_OPTIONS = frozenset(
    {"host", "port", "ssl", "sslrootcert", "passfile", "prepared_statement_cache_size", "target_session_attrs"}
)
_SESSIONS = ("any", "primary", "read-write")  # of libpq's, those that may take orders
_VERIFYING = ("verify-ca", "verify-full")
_TLS_MODES = ("disable", "allow", "prefer", "require", *_VERIFYING)
_MAX_PORT = 65_535


def database_address(text: str) -> URL:
    """The address with the asynchronous driver named; SQLite paths are made absolute to the working directory.

    Raises AddressRefused, which names the setting and never quotes the address: it may hold a password.
    """
    try:
        url = make_url(_with_hosts_as_options(text))
    except (ArgumentError, ValueError):
        raise AddressRefused("is not a database URL") from None
    driver = _DRIVERS.get(url.drivername)
    if driver is None:
        raise AddressRefused(f"has the scheme {url.drivername!r}, which is not supported")
    url = url.set(drivername=driver)
    return _sqlite(url) if driver == "sqlite+aiosqlite" else _postgres(url)


def _sqlite(url: URL) -> URL:
    if not url.database or url.database == ":memory:" or url.database.startswith("file:"):
        raise AddressRefused("must name a file: orders in memory are lost with the process")
    if url.host or url.query:
        raise AddressRefused("must be sqlite:/// and a path alone, without host and options")
    return url.set(database=str(Path(url.database).absolute()))


def _with_hosts_as_options(text: str) -> str:
    """libpq's `//user@a:5432,b/name` in SQLAlchemy's form, `//user@/name?host=a:5432&host=b:5432`."""
    scheme, _, rest = text.partition("://")
    authority, slash, path = rest.partition("/")
    login, at, hosts = authority.rpartition("@")
    if "," not in hosts:
        return text
    options = "&".join(f"host={host if ':' in host else f'{host}:5432'}" for host in hosts.split(","))
    return f"{scheme}://{login}{at}{slash}{path}{'&' if '?' in path else '?'}{options}"


def _postgres(url: URL) -> URL:
    if not url.database:
        raise AddressRefused("names no database")
    query = dict(url.query)
    if "sslmode" in query:  # libpq's word for what asyncpg calls ssl, with the same values
        query["ssl"] = query.pop("sslmode")
    unknown = sorted(set(query) - _POSTGRES_OPTIONS)
    if unknown:
        raise AddressRefused(f"has unknown options: {', '.join(unknown)}")
    if "," in query.get("host", "") or isinstance(query.get("host"), tuple):
        query.setdefault("target_session_attrs", "read-write")  # of several, the one that takes orders
    if query.get("target_session_attrs", "any") not in _SESSIONS:
        raise AddressRefused(f"has a target_session_attrs that is not one of {', '.join(_SESSIONS)}")
    if "sslrootcert" in query:
        _check_certificates(str(query["sslrootcert"]), str(query.setdefault("ssl", "verify-full")))
    if query.get("ssl", "prefer") not in _TLS_MODES:
        raise AddressRefused(f"has an sslmode that is not one of {', '.join(_TLS_MODES)}")
    url = url.set(query=query)
    _check_hosts(url)
    return url


def _check_hosts(url: URL) -> None:
    """What would only fail at the first connection, with a traceback."""
    try:
        _, arguments = url.get_dialect()().create_connect_args(url)
    except (ArgumentError, ValueError):
        raise AddressRefused(
            "has hosts that are not all of the form host:port, or an option that is no number"
        ) from None
    ports = arguments.get("port", 1)
    if not all(1 <= port <= _MAX_PORT for port in (ports if isinstance(ports, list) else [ports])):
        raise AddressRefused(f"has a port that is not one of 1 to {_MAX_PORT}")


def _check_certificates(file: str, mode: str) -> None:
    if mode not in _VERIFYING:
        raise AddressRefused(f"has an sslrootcert, which goes with sslmode {' or '.join(_VERIFYING)}")
    try:
        ssl.create_default_context(cafile=file)
    except OSError:  # also what is no certificate
        raise AddressRefused("has an sslrootcert that is not a file of certificates which can be read") from None
