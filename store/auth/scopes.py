"""What a token may do. Pure."""

from typing import Final

SCOPES: Final = ("search", "order", "fulfil", "catalogue", "operate", "metrics")
