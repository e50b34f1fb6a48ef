"""Values of search bodies: strings, ranges, and what their descriptions have in common."""

from decimal import Decimal
from typing import Annotated, Self

from pydantic import Field, model_validator

from api.http.fields import Strict

MAX_VALUE_CHARACTERS = 100

AT_LEAST = "at least this much, inclusive"
AT_MOST = "at most this much, inclusive; not less than `min`"
ANY_OF = "any of these"
FOLDING = "compared whole, but case, accents, ★, ™ and outer or double blanks do not count"

Value = Annotated[str, Field(strict=True, min_length=1, max_length=MAX_VALUE_CHARACTERS)]


class Range(Strict):
    """Inclusive bounds, either of which may be absent."""

    min: Decimal | int | None = None
    max: Decimal | int | None = None

    @model_validator(mode="after")
    def _min_before_max(self) -> Self:
        if self.min is not None and self.max is not None and self.min > self.max:
            raise ValueError(f"min {self.min} is more than max {self.max}")
        return self
