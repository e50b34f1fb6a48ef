"""The limits of a worker on the operations page are those of the code."""

from api.http import admission
from tests.docs.pages import DOCS


def test_the_page_has_each_limit_and_how_often_a_client_is_refused() -> None:
    page = (DOCS / "operations.md").read_text(encoding="utf-8").partition("\n## Overload\n")[2].partition("\n## ")[0]
    limits = [f"{minimum} to {maximum}, adaptive" for minimum, maximum in admission.ADAPTIVE.values()]
    fixed = map("{:,}".format, admission.FIXED.values())
    assert [limit for limit in [*limits, *fixed] if f" | {limit} | " not in page] == []
    assert f"waits for {admission.WAIT_SECONDS * 1000:.0f} ms at most" in page
    refusals = f"eyond {admission.REFUSALS_PER_REQUEST} refusals for each request that is served"
    assert refusals in page
    assert refusals in (DOCS / "resiliency.md").read_text(encoding="utf-8")
