"""What the metrics of the API say, and whether Prometheus takes them."""

import shutil
import subprocess

from prometheus_client.openmetrics.parser import text_string_to_metric_families as strictly_parsed

from tests.support.api.exposition import samples

BACKLOGS = (
    *("gear_index_sync_pending", "gear_index_sync_oldest_seconds"),
    *("gear_callbacks_overdue", "gear_callbacks_overdue_seconds"),
)


def requests_of(text: str, route: str, status: int) -> float:
    """How many requests of a route were answered with this status."""
    return total(text, "gear_http_requests_total", route=route, code=str(status))


def total(text: str, name: str, **labels: str) -> float:
    """The sum of the samples of this name that have these labels."""
    wanted = set(labels.items())
    return sum(value for (other, its), value in samples(text).items() if other == name and wanted <= its)


def check_exposition(plain: str, strict: str) -> None:
    """What Prometheus would refuse or complain about: a metric told twice, samples that clash, units."""
    assert strict.endswith("# EOF\n")
    names = [family.name for family in strictly_parsed(strict)]  # type: ignore[no-untyped-call]  # it is untyped
    assert len(names) == len(set(names))
    if promtool := shutil.which("promtool"):
        command = [promtool, "check", "metrics"]
        checked = subprocess.run(command, input=plain, capture_output=True, text=True, check=False)
        assert (checked.returncode, checked.stdout + checked.stderr) == (0, "")
