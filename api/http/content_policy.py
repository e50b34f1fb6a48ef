"""Content security policies: what a page may load in, the header out; what stands in the page itself by its digest."""

import base64
import hashlib
import re
from collections.abc import Mapping

HEADER = "Content-Security-Policy"


def policy(directives: Mapping[str, str]) -> str:
    """The header's text."""
    return "; ".join(f"{directive} {source}" for directive, source in directives.items())


def digest(element: str, page: str) -> str:
    """What a policy calls the text of the page's first such element by."""
    found = re.search(rf"<{element}>(.*?)</{element}>", page, re.DOTALL)
    content = hashlib.sha256((found[1] if found else "").encode()).digest()
    return f"'sha256-{base64.b64encode(content).decode()}'"
