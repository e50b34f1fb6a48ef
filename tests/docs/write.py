"""`make docs`: writes the generated pages."""

from tests.docs.pages import DOCS, PAGES

if __name__ == "__main__":
    for name, page in PAGES.items():
        (DOCS / name).write_text(page(), encoding="utf-8")
