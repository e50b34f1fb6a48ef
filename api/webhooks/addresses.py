"""Checks the URLs and addresses of callbacks and redirects. Pure: resolves no name.

The names of a URL are resolved when a callback is delivered; what a text alone gives away is refused here. A
literal address counts in every notation that some reader of URLs takes for one.
"""

import re
import unicodedata
from ipaddress import AddressValueError, IPv4Address, IPv4Network, IPv6Address, IPv6Network
from urllib.parse import urlsplit

Address = IPv4Address | IPv6Address

# https://www.iana.org/assignments/iana-ipv4-special-registry and …ipv6-special-registry: what `is_global` of the
# supported Python versions disagrees about, or calls global though no single host on the internet has it.
_NO_HOSTS_4 = (IPv4Network("192.0.0.0/24"), IPv4Network("192.88.99.0/24"))
_NO_HOSTS_6 = (IPv6Network("2001::/23"), IPv6Network("2001:db8::/32"), IPv6Network("3fff::/20"))
_UNICAST_6 = IPv6Network("2000::/3")  # all that IANA has ever given out to hosts

_MAPPED = IPv6Network("::ffff:0:0/96")  # RFC 4291 2.5.5.2
_NAT64 = IPv6Network("64:ff9b::/96")  # RFC 6052 2.1
_SIX_TO_FOUR = IPv6Network("2002::/16")  # RFC 3056 2: the IPv4 address follows
_ISATAP = (0x00005EFE, 0x02005EFE)  # RFC 5214 6.1: bits 64 to 95, the IPv4 address follows

_LABEL = re.compile(r"[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?")
_NUMBER = re.compile(r"[0-9]+|0x[0-9a-f]*")
_MAX_HOST_CHARACTERS = 253
_INNER_NAMES = ("localhost", "local", "internal")
_NO_HOST = "has a host that is no name and no address"


class URLRefusedError(ValueError):
    """A URL that cannot be used; the text is a sentence without its subject."""


def is_global(address: Address) -> bool:
    """Whether the address is global unicast: one host on the public internet. An embedded IPv4 address counts."""
    if isinstance(address, IPv4Address):
        special = any(address in network for network in _NO_HOSTS_4)
        return address.is_global and not address.is_multicast and not special
    if address.scope_id is not None:
        return False
    if address in _MAPPED or address in _NAT64:
        return is_global(IPv4Address(int(address) & 0xFFFFFFFF))
    if address in _SIX_TO_FOUR:
        return is_global(IPv4Address(int(address) >> 80 & 0xFFFFFFFF))
    if (int(address) >> 32) & 0xFFFFFFFF in _ISATAP and not is_global(IPv4Address(int(address) & 0xFFFFFFFF)):
        return False
    special = any(address in network for network in _NO_HOSTS_6)
    return address in _UNICAST_6 and address.is_global and not special


def ascii_host(host: str) -> str:
    """A URL's host as it is looked up: ASCII, lower case, without the dot of an absolute name.

    International names become `xn--` names, full-width digits and dots become plain ones. Raises URLRefusedError for
    what is no host.
    """
    try:
        plain = host.encode("idna").decode("ascii").lower()
    except UnicodeError as error:
        raise URLRefusedError(_NO_HOST) from error
    return plain.removesuffix(".")


def literal_addresses(host: str) -> list[Address]:
    """Every address that a reader may take an ASCII host for; empty for a name.

    `[…]` is IPv6; anything whose last label is a number is IPv4, as browsers and inet_aton read it: one to four
    parts, each decimal, octal or hexadecimal. Where readers disagree (`010.0.0.1`) there are two. Raises
    URLRefusedError for a literal that nobody can read.
    """
    if host.startswith("["):
        try:
            return [IPv6Address(host.removeprefix("[").removesuffix("]"))]
        except AddressValueError as error:
            raise URLRefusedError("has a host that looks like an IPv6 address and is none") from error
    labels = host.split(".")
    if not _NUMBER.fullmatch(labels[-1]):
        return []
    addresses = {address for octal in (True, False) if (address := _ipv4(labels, octal)) is not None}
    if not addresses:
        raise URLRefusedError("has a host that looks like an IPv4 address and is none")
    return sorted(addresses)


def _ipv4(labels: list[str], octal: bool) -> IPv4Address | None:
    numbers = [_part(label, octal) for label in labels]
    last = numbers.pop()
    if len(numbers) > 3 or last is None or last >= 256 ** (4 - len(numbers)):
        return None
    value = last
    for position, number in enumerate(numbers):
        if number is None or number > 255:
            return None
        value += number << 8 * (3 - position)
    return IPv4Address(value)


def _part(label: str, octal: bool) -> int | None:
    if not _NUMBER.fullmatch(label) or len(label) > 40:  # 40 digits are more than any notation of 32 bits needs
        return None
    if label.startswith("0x"):
        return int(label[2:] or "0", 16)
    if octal and label.startswith("0"):
        return int(label, 8) if re.fullmatch("[0-7]+", label) else None
    return int(label)


def url_problem(url: str, *, allow_insecure: bool) -> str | None:
    """What keeps a URL from being used as a callback or redirect, as a sentence without its subject; None if nothing.

    `allow_insecure` lets http, private addresses and inner names pass, for development.
    """
    try:
        _check_host(_host_of(url, ("https", "http") if allow_insecure else ("https",)), allow_insecure)
    except URLRefusedError as refused:
        return str(refused)
    return None


def _host_of(url: str, schemes: tuple[str, ...]) -> str:
    if any(character.isspace() or unicodedata.category(character) == "Cc" or character == "\\" for character in url):
        # readers of URLs disagree about what these mean
        raise URLRefusedError("must not hold blanks, control characters or backslashes")
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError as error:
        raise URLRefusedError("is no URL") from error
    if parts.scheme not in schemes or not parts.hostname:
        raise URLRefusedError(f"must be an absolute {' or '.join(schemes)} URL")
    if "@" in parts.netloc:
        raise URLRefusedError("must not hold user information")
    if port == 0:
        raise URLRefusedError("must not name port 0")
    return f"[{parts.hostname}]" if parts.netloc.startswith("[") else ascii_host(parts.hostname)


def _check_host(host: str, allow_insecure: bool) -> None:
    addresses = literal_addresses(host)
    if not allow_insecure and not all(is_global(address) for address in addresses):
        raise URLRefusedError("must not name an address that is not on the public internet")
    if addresses:
        return
    labels = host.split(".")
    if len(host) > _MAX_HOST_CHARACTERS or not all(_LABEL.fullmatch(label) for label in labels):
        raise URLRefusedError(_NO_HOST)
    if not allow_insecure and (len(labels) == 1 or labels[-1] in _INNER_NAMES):
        raise URLRefusedError("must not name a host that is not on the public internet")
