"""A moment is the same whichever way it is written, and no text that is none becomes one."""

import re
from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from indexer.documents.timestamps import END_SECONDS, EPOCH, iso_without_offset, nanoseconds


def _written(second: int) -> str:
    return (EPOCH + timedelta(seconds=second)).strftime("%Y-%m-%dT%H:%M:%S")


# A character of a moment, before and after all that can be kept too, is left out or is another one.
NEARLY = st.builds(
    lambda text, at, other: text[:at] + other + text[at + 1 :],
    st.integers(-(10**7), END_SECONDS + 10**7).map(_written),
    st.integers(0, 19),
    st.sampled_from(("", "0", "2", "6", "9", ":", "-", "T", "t", " ", "+", "_", "٢", "\n")),
)


@given(st.integers(0, END_SECONDS - 1))
def test_every_second_becomes_its_nanoseconds(second: int) -> None:
    written = _written(second)
    assert nanoseconds(f"{written}Z") == nanoseconds(f"{written}.000+00:00") == second * 10**9


@given(st.integers(0, END_SECONDS * 10**9 - 1))
def test_timestamps_come_back_to_the_nanosecond(at: int) -> None:
    assert nanoseconds(f"{iso_without_offset(at)}Z") == at


@given(NEARLY | st.text(max_size=24))
def test_z_is_read_as_the_offset_that_it_stands_for(text: str) -> None:
    try:
        expected = nanoseconds(f"{text}+00:00")
    except ValueError as error:
        with pytest.raises(ValueError, match=f"^{re.escape(str(error))}$"):
            nanoseconds(f"{text}Z")
    else:
        assert nanoseconds(f"{text}Z") == expected
