"""Folders of platform files: the platform that ships, in English alone as a rule, and others."""

import shutil
from pathlib import Path

from mappings.platforms import PLATFORM_FILES

OTHER = 'id = {id}\nslug = "{slug}"\nname = "{slug}"\ncurrency = "{currency}"\nminor_digits = {digits}\n'


def platform_folder(folder: Path, *others: tuple[int, str, str, int], languages: str = "en") -> Path:
    """A folder with the platform that ships and others; `languages` is a pattern of those that it is read in.

    To read all of them (`*`) takes each process two seconds of a core.
    """
    files = folder / "platforms"
    for file in (*PLATFORM_FILES.glob("*.toml"), *PLATFORM_FILES.glob(f"*/{languages}.toml")):
        copied = files / file.relative_to(PLATFORM_FILES)
        copied.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(file, copied)
    for number, slug, currency, digits in others:
        text = OTHER.format(id=number, slug=slug, currency=currency, digits=digits)
        (files / f"{number}.toml").write_text(text, encoding="utf-8")
    return files
