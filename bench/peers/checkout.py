"""A checkout of this repository: its commands, run as its own environment has them."""

import os
import shutil
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from types import MappingProxyType

ROOT = Path(__file__).parents[2]


@dataclass(frozen=True)
class Checkout:
    """A folder with this repository's files, and the folder of its environment's programs."""

    folder: Path
    programs: Path

    @classmethod
    def at(cls, folder: Path) -> "Checkout":
        """Another checkout; raises RuntimeError where its environment is missing."""
        checkout = cls(folder.resolve(), folder.resolve() / ".venv" / "bin")
        if not (checkout.programs / "gear-api").exists():
            message = f"{checkout.programs} has no gear-api: run `make environment` in {checkout.folder}"
            raise RuntimeError(message)
        return checkout

    def program(self, name: str) -> str:
        """The path of one of its programs."""
        return str(self.programs / name)

    def environment(self, settings: Mapping[str, str]) -> dict[str, str]:
        """The environment of this process with these settings, in which its own packages are found first."""
        return {**os.environ, "PYTHONPATH": str(self.folder), **settings}

    def run(
        self, program: str, *arguments: str, settings: Mapping[str, str] = MappingProxyType({})
    ) -> subprocess.CompletedProcess[str]:
        """Runs one of its programs; raises RuntimeError where it fails."""
        command = [self.program(program), *arguments]
        environment = self.environment(settings)
        with TemporaryDirectory() as cwd:  # what it writes beside itself is not wanted
            done = subprocess.run(command, env=environment, cwd=cwd, capture_output=True, text=True, check=False)
        if done.returncode:
            message = f"{' '.join(command)}: {(done.stderr or done.stdout)[-1000:]}"
            raise RuntimeError(message)
        return done

    def commit(self) -> str:
        """The commit, `-dirty` where files differ from it; `unknown` without git."""
        git = shutil.which("git")
        if git is None:
            return "unknown"
        command = [git, "-C", str(self.folder), "describe", "--always", "--dirty"]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        return done.stdout.strip() or "unknown"


HERE = Checkout(ROOT, Path(sys.executable).parent)
