"""Folders of platform files, with more platforms than the one that ships."""

import shutil
from pathlib import Path

from mappings.platforms import PLATFORM_FILES

OTHER = 'id = {id}\nslug = "{slug}"\nname = "{slug}"\ncurrency = "{currency}"\nminor_digits = {digits}\n'


def platform_folder(folder: Path, *others: tuple[int, str, str, int]) -> Path:
    """A folder with the platform that ships and others."""
    files = folder / "platforms"
    shutil.copytree(PLATFORM_FILES, files)
    for number, slug, currency, digits in others:
        text = OTHER.format(id=number, slug=slug, currency=currency, digits=digits)
        (files / f"{number}.toml").write_text(text, encoding="utf-8")
    return files
