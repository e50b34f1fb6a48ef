"""The commands of the service as users of a secured engine run them."""

import json
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.support.node.secured import SecuredNode


@dataclass(frozen=True)
class Place:
    """A folder with a database, and the commands as each user of the engine runs them."""

    node: SecuredNode
    folder: Path
    prefix: str = "gear"

    def environment(self, user: str) -> dict[str, str]:
        """The settings of a process that is this user."""
        return {
            **self.node.environment(f"gear-{user}", f"opensearch_{user}_password"),
            "GEAR_INDEX_PREFIX": self.prefix,
            "GEAR_DATABASE_URL": f"sqlite:///{self.folder / 'gear.db'}",
            "GEAR_DIGEST_KEY_FILE": str(self.node.secrets / "digest_key"),
            "GEAR_ENCRYPTION_KEYRING": str(self.node.secrets / "encryption_keys"),
        }

    def run(self, user: str, program: str, *arguments: str, stdin: str = "") -> dict[str, Any]:
        """What a command prints last with --json, given this standard input; it must succeed."""
        command = [str(Path(sys.executable).with_name(f"gear-{program}")), *arguments, "--json"]
        environment = {**os.environ, **self.environment(user), "PYTHONPATH": os.pathsep.join(sys.path)}
        done = subprocess.run(
            command, cwd=self.folder, env=environment, capture_output=True, text=True, check=False, input=stdin
        )
        assert done.returncode == 0, f"{arguments}: {done.stdout}{done.stderr}"
        printed: dict[str, Any] = json.loads(done.stdout.strip().splitlines()[-1])
        return printed
