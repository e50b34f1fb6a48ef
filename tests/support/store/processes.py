"""Worker processes that order items of a database."""

import asyncio
import subprocess
import sys
from asyncio.subprocess import Process
from pathlib import Path

from store.auth.tokens import CreatedToken


async def buyer(url: str, token: CreatedToken, *arguments: str) -> Process:
    """Starts `tests/support/store/buyer.py` with a token and these arguments."""
    command = (sys.executable, "-W", "error", "-m", "tests.support.store.buyer", url, token.token.id, *arguments)
    root = Path(__file__).parents[3]
    return await asyncio.create_subprocess_exec(*command, cwd=root, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
