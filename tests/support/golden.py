"""Golden files: expected values as JSON in tests/golden."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

GOLDEN = Path(__file__).parent.parent / "golden"


Golden = Callable[[str, Any], None]
