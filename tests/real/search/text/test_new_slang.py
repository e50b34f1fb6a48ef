"""A word of slang is added by a line in one platform file: no code, and no load of the items."""

import secrets
import shutil
from pathlib import Path

from mappings.platforms import PLATFORM_FILES, read_platforms
from tests.support.api.catalogue import put_index, simple_item
from tests.support.app import RunningApp, running, settings_for
from tests.support.indices import drop_indices

ITEM = {**simple_item(1, 900.0, "★ Butterfly Knife | Fade (Factory New)"), "details": {"weapon": "Butterfly Knife"}}
LINE, LONGER = '"Butterfly Knife" = ["butterfly", ', '"Butterfly Knife" = ["flutterby", "butterfly", '


async def total(app: RunningApp, query: str) -> int:
    response = await app.search({"query": query})
    assert response.status_code == 200, response.text
    count: int = response.json()["total"]
    return count


async def test_a_word_in_the_platforms_file_is_used_after_a_restart(opensearch_url: str, tmp_path: Path) -> None:
    files, prefix = tmp_path / "platforms", f"t{secrets.token_hex(5)}"
    shutil.copytree(PLATFORM_FILES, files)
    settings = settings_for(opensearch_url, prefix, tmp_path, platform_files=files)
    try:
        async with running(settings) as app:
            put_index(settings, next(iter(read_platforms(files))), [ITEM])
            assert await total(app, "flutterby") == 0
        file = files / "730.toml"
        content = file.read_text(encoding="utf-8")
        assert LINE in content
        file.write_text(content.replace(LINE, LONGER), encoding="utf-8")
        async with running(settings) as app:
            assert await total(app, "flutterby") == 1
    finally:
        drop_indices(opensearch_url, prefix)
