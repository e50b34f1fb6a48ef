"""Every request that "Show the request" shows works as it stands, in each language."""

import asyncio
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from playwright.async_api import expect

from tests.support.browser.window import HOSTILE_ID, ShopWindow

SUFFIXES = {"curl": "sh", "Python": "py", "TypeScript": "mts"}


def command_for(language: str, file: Path) -> list[str]:
    """How a program in this language is run."""
    if language == "TypeScript":
        node = shutil.which("node")
        if node is None:
            pytest.skip("there is no node: install the system's package nodejs")
        return [node, "--input-type=module", "-e", file.read_text(encoding="utf-8")]
    return ["sh", str(file)] if language == "curl" else [sys.executable, str(file)]


async def test_what_is_shown_runs(window: ShopWindow, tmp_path: Path) -> None:
    shown: set[str] = set()
    address = "/explore?q=it%27s+%22ak%22+%C3%BC&weapon=AK-47&price=1-900&sticker=It%27s"
    async with window.opened(address) as page:
        await expect(page.get_by_text("Nothing found")).to_be_visible()
        await page.goto(f"{window.base}/explore?item={HOSTILE_ID}")
        await page.get_by_label("How it ends").select_option("Stays open until you cancel")
        await page.get_by_role("button", name="Place the sandbox order").click()
        await expect(page.locator(".steps")).to_be_visible()
        for path in (None, address, "/explore?q=ak&view=names&sort=price_asc"):
            if path is not None:
                await page.goto(window.base + path)
                await expect(page.locator(".plot:not(.waiting)")).to_have_count(2)
            await page.get_by_role("button", name="Show the request").first.click()
            which = page.get_by_role("combobox", name="Request", exact=True)
            await expect(which).to_be_visible()
            options = await which.locator("option").evaluate_all("all => all.map(one => [one.text, one.value])")
            for text, value in options:
                step = text.split(" ·")[0]
                if step in shown and path is None:
                    continue
                shown.add(step)
                await which.select_option(value)
                for language, suffix in SUFFIXES.items():
                    await page.get_by_role("tab", name=language).click()
                    file = tmp_path / f"request.{suffix}"
                    file.write_text(await page.locator("#code pre").inner_text(), encoding="utf-8")
                    ran = await asyncio.to_thread(
                        subprocess.run,
                        command_for(language, file),
                        capture_output=True,
                        text=True,
                        check=False,
                        env={"PATH": os.environ["PATH"]},
                    )
                    assert ran.returncode == 0, f"{step} in {language}: {ran.stderr}"
                    assert json.loads(ran.stdout)["status"] == "success", f"{step} in {language}"
    assert {"Search", "Counts", "One item", "Place an order", "Order", "Callbacks"} <= shown
    assert window.complaints == []
