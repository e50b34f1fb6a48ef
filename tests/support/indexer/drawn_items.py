"""Items as a source may write them: a strategy that draws what is valid, and a little of what is not."""

import string
from datetime import datetime
from typing import Any

from hypothesis import strategies as st

from mappings.fields import DETAILS
from mappings.items.item import MAX_INTEGER, MIN_INTEGER

ODD = "\u0001\t\n\r\x7f\x85\xa0\u200b\u202e\u2028\ufeff\ufffd\uffff\U0001f600\U0010fffe★™ \u0301ßİǅ\ufdfa龍"
TEXTS = st.text(st.characters(codec="utf-8") | st.sampled_from(ODD), min_size=1, max_size=40) | st.sampled_from(
    ["★", "™ ", "a" * 256, "\ufdfa" * 256, "龍" * 256, " ".join(string.ascii_letters), "\u0301" * 9, "-" * 256]
)
INTEGERS = st.integers(MIN_INTEGER, MAX_INTEGER)
SHARES = st.floats(0, 1) | st.sampled_from([5e-324, -0.0, 1])


def _or_none(values: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return st.none() | values


TIMES = st.one_of(
    st.datetimes(datetime(1970, 1, 2), datetime(2261, 12, 31)).map(lambda time: time.isoformat() + "Z"),  # noqa: DTZ001  # Z is added
    st.from_regex(r"2\d\d\d-0[1-9]-[0-2]\dT[01]\d:[0-5]\d:[0-5]\d(\.\d{1,9})?(Z|[+-][01]\d:\d\d)", fullmatch=True),
)
ITEMS = st.fixed_dictionaries(
    {"id": INTEGERS, "name": TEXTS | st.just("龍" * 512)},
    optional={
        "price": _or_none(st.integers(0, 10**14).map(lambda cents: cents / 100) | st.floats(0, 10**12)),
        "image": _or_none(TEXTS),
        "inspectLink": _or_none(TEXTS | st.just("\ufdfa" * 2048)),
        "description": _or_none(TEXTS | st.text(min_size=99, max_size=101) | st.just("\u0001" * 10_000)),
        "details": _or_none(st.fixed_dictionaries({}, optional=dict.fromkeys(DETAILS, _or_none(TEXTS)))),
        "paint": _or_none(
            st.fixed_dictionaries(
                {},
                optional={
                    "float": _or_none(SHARES),
                    **dict.fromkeys(("seed", "index", "pattern"), _or_none(INTEGERS)),
                },
            )
        ),
        "attachments": _or_none(
            st.lists(
                st.fixed_dictionaries(
                    {"name": TEXTS},
                    optional={"id": INTEGERS, "wear": SHARES, "type": TEXTS, "image": _or_none(TEXTS)},
                ),
                max_size=3,
            )
        ),
        "listedAt": _or_none(TIMES),
    },
)
