"""Histograms: which filters have one."""

from typing import Any

import pytest

from api.search.facets.histograms import counts_by_bucket
from mappings.fields import FILTERS, Kind


@pytest.mark.parametrize("kind", [kind for kind in Kind if kind not in (Kind.MONEY, Kind.RANGE)])
def test_a_kind_without_buckets_is_refused(kind: Kind) -> None:
    row = next(row for row in FILTERS if row.kind is kind)
    response: Any = {"aggregations": {row.name: {"buckets": []}}}
    with pytest.raises(ValueError, match=f"no buckets for filters of the kind {kind}"):
        counts_by_bucket(row, 2, response)
