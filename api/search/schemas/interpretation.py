"""Interpretation schemas: the shape in which `explain` answers how a text was understood."""

from typing import Any

from pydantic import BaseModel, Field

from api.search.parsing.relaxations import How


class ReadTerm(BaseModel):
    """A part of the text with what it means."""

    typed: str = Field(description="as it was typed")
    means: list[dict[str, Any]] = Field(
        description="what it means, each as `filters` of a request would say it: any of these; none: it is a mere word"
    )
    begins: list[str] | None = Field(
        default=None, description="words of items may begin with one of these; only for a word that may be unfinished"
    )


class Relaxed(BaseModel):
    """What was typed, and what it was taken for because nothing was found otherwise."""

    typed: str
    to: str = Field(description="for people")


class Interpretation(BaseModel):
    """How the text was understood: an item meets every term by its typed words or by one of its meanings."""

    platform: int = Field(description="numeric id of the platform whose vocabulary this is")
    reading: How = Field(
        description="the reading in force for page, `total`, facets and groups; `strict` unless that finds nothing"
    )
    words: list[str] = Field(description="the mere words, which an item must have")
    filters: dict[str, Any] = Field(description="all that the text means, as `filters` of a request would say it")
    terms: list[ReadTerm] = Field(description="prices, floats and seeds are the last")
    relaxed: list[Relaxed] = Field(description="what is read more loosely than it was typed; empty where nothing is")
    others: list["Interpretation"] | None = Field(
        default=None, description="the same for the other platforms, where several are searched"
    )
