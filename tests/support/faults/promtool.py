"""Prometheus' own tool, which says which alerts fire between two scrapes."""

import json
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.support.api.exposition import Sample, samples

ROOT = Path(__file__).parents[3]
RULES = ROOT / "deploy" / "prometheus" / "alerts.yml"
FAULT_MINUTE = 59
EVALUATION_MINUTE = 62  # later than every alert that waits for two minutes, earlier than those that wait for five
ALERTS = 'count by (alertname) (ALERTS{alertstate="firing"})'


def promtool() -> str:
    """The program; the test is skipped where it is not installed."""
    program = shutil.which("promtool")
    if program is None:
        pytest.skip("promtool is not installed: Debian has it in the package prometheus")
    return program


def alerts() -> dict[str, str]:
    """The alerts of the rule file: their text by their name."""
    rules = RULES.read_text(encoding="utf-8").split("      - alert: ")[1:]
    return {name: text for name, _, text in (rule.partition("\n") for rule in rules)}


def firing(folder: Path, before: str, during: str, scraped_at: float) -> set[str]:
    """The alerts that fire when a service that was scraped as `before` for an hour is scraped as `during`."""
    first, second = samples(before), samples(during)
    series = [
        {
            "series": _series(sample),
            "values": f"{_value(sample, first, scraped_at)}x{FAULT_MINUTE - 1} {_value(sample, second, scraped_at)}x10",
        }
        for sample in sorted(first | second, key=str)
    ]
    test = {
        "interval": "1m",
        "input_series": series,
        "promql_expr_test": [{"expr": ALERTS, "eval_time": f"{EVALUATION_MINUTE}m", "exp_samples": []}],
    }
    file = folder / "alerts_test.yml"
    file.write_text(json.dumps({"rule_files": [str(RULES)], "tests": [test]}), encoding="utf-8")
    result = subprocess.run([promtool(), "test", "rules", str(file)], capture_output=True, text=True, check=False)
    output = result.stdout + result.stderr
    assert result.returncode == 0 or "got:" in output, output
    return set(re.findall(r'alertname=\\?"(\w+)', output))


def _series(sample: Sample) -> str:
    name, labels = sample
    pairs = ",".join(f'{label}="{value}"' for label, value in sorted(labels))
    return f"{name}{{{pairs}}}"


def _value(sample: Sample, scrape: dict[Sample, float], scraped_at: float) -> str:
    if sample not in scrape:
        return "_"
    value = scrape[sample]
    if sample[0].endswith("_timestamp_seconds"):  # the tool's clock begins at 0
        value += FAULT_MINUTE * 60 - scraped_at
    return format(value, ".15g")
