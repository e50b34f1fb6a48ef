"""The bodies and responses of the vocabulary and of unanswered searches, with their limits."""

from typing import Annotated, Self

from pydantic import AfterValidator, Field, ValidationError, create_model, model_validator

from api.http.fields import Int64, NullDefault, Strict, StrictCamelCase, success
from api.search.schemas.search import MAX_QUERY_CHARACTERS, ItemName
from api.search.schemas.values import Value
from mappings.fields import DETAILS
from mappings.strict_model import plain_reason
from mappings.vocabulary.rules import with_words
from mappings.vocabulary.schema import VocabularyTerm
from mappings.vocabulary.vocabulary import Vocabulary

MAX_SPELLINGS = 20
MAX_SPELLING_CHARACTERS = 60
MAX_NAMES = 20
MAX_WORDS_CHARACTERS = 100
MAX_UNANSWERED = 1000

Spelling = Annotated[str, Field(strict=True, min_length=1, max_length=MAX_SPELLING_CHARACTERS)]
Text = Annotated[Spelling, AfterValidator(with_words)]
RuleTexts = Annotated[list[Text], Field(max_length=MAX_SPELLINGS)]
Names = Annotated[list[ItemName], Field(min_length=1, max_length=MAX_NAMES)]
Query = Annotated[str, Field(strict=True, max_length=MAX_QUERY_CHARACTERS)]

TermFilters = create_model(  # type: ignore[call-overload]  # fields from the table
    "TermFilters",
    __base__=Strict,
    __doc__="Values of fields, as `filters` of a search has them: any value of a field, and all of the fields.",
    **{name: (Annotated[list[Value], Field(min_length=1, max_length=MAX_NAMES)] | None, None) for name in DETAILS},
)


class TermFields(Strict):
    """Spellings of something, and what they stand for: words of names, values of fields, or both."""

    spellings: Annotated[list[Spelling], Field(min_length=1, max_length=MAX_SPELLINGS)] = Field(
        description="what buyers write; each has a letter or a digit"
    )
    words: Annotated[str, Field(strict=True, max_length=MAX_WORDS_CHARACTERS), NullDefault("")] = Field(
        default="", description="the words of names that the spellings stand for"
    )
    filters: TermFilters | None = Field(default=None, description="the values that the spellings stand for")

    def term(self) -> VocabularyTerm:
        """The term as the vocabulary has it."""
        values = {} if self.filters is None else self.filters.model_dump(exclude_none=True)
        return VocabularyTerm(spellings=tuple(self.spellings), words=self.words.strip(), filters=values)

    @model_validator(mode="after")
    def _is_a_term(self) -> Self:
        if not self.words.strip() and (self.filters is None or not self.filters.model_dump(exclude_none=True)):
            raise ValueError(f"{self.spellings[0]!r} means nothing: give it filters or words")
        try:
            Vocabulary(term=(self.term(),))
        except ValidationError as error:
            raise ValueError("; ".join(plain_reason(each["msg"]) for each in error.errors())) from None
        return self


class PinFields(Strict):
    """Items with one of the names come first for the texts, under the sort `relevance`; they are found by any sort."""

    texts: Annotated[RuleTexts, Field(min_length=1)] = Field(
        description="whole texts of searches; case, accents, blanks and signs do not matter"
    )
    names: Names = Field(description="names of items, byte for byte; the first comes first")


class HideFields(Strict):
    """Items with one of the names are found by none of the texts; without texts by no search."""

    texts: Annotated[RuleTexts, NullDefault([])] = Field(
        default=[], description="whole texts of searches; none: every search, and suggestions of names"
    )
    names: Names = Field(description="names of items, byte for byte")


class VocabularyBody(Strict):
    """`POST /v1/vocabulary`: exactly one of `term`, `pin` and `hide`."""

    platform: Int64 | None = Field(
        default=None, description="numeric id of the platform; may be left out while there is only one"
    )
    term: TermFields | None = None
    pin: PinFields | None = None
    hide: HideFields | None = None

    @model_validator(mode="after")
    def _is_one_entry(self) -> Self:
        if sum(each is not None for each in (self.term, self.pin, self.hide)) != 1:
            raise ValueError("give exactly one of term, pin and hide")
        return self


class VocabularyTestBody(VocabularyBody):
    """`POST /v1/vocabulary/test`: an entry as `POST /v1/vocabulary` takes it, and a text to search for."""

    query: Query = Field(description="the text to search for, before and after")


class TermEntry(StrictCamelCase):
    """Spellings of something, and what they stand for."""

    spellings: list[str]
    words: str
    filters: dict[str, list[str]]


class RuleEntry(StrictCamelCase):
    """Texts of searches, and names of items."""

    texts: list[str]
    names: list[str]


class VocabularyEntry(StrictCamelCase):
    """A term, a pin or a hide; the others are null. All are where a newer version added it."""

    id: str
    platform: int = Field(description="numeric id")
    term: TermEntry | None
    pin: RuleEntry | None
    hide: RuleEntry | None
    author: str | None = Field(description="the name of the token, or the user of the command, that added it")
    created_at: str = Field(description="RFC 3339")
    removed_at: str | None = Field(description="RFC 3339; null while it applies")


VocabularyEntryResponse = success("VocabularyEntryResponse", "One entry.", entry=VocabularyEntry)
VocabularyResponse = success(
    "VocabularyResponse", "The entries, those added first before.", entries=list[VocabularyEntry]
)
RemovedResponse = success("RemovedResponse", "The id of the entry that was removed.", removed=str)


class Trial(StrictCamelCase):
    """How many items a text finds, and the names of the first."""

    total: int
    names: list[str]


VocabularyTestResponse = success(
    "VocabularyTestResponse", "What the text finds as it is, and with the entry.", before=Trial, after=Trial
)


class UnansweredEntry(StrictCamelCase):
    """A text of searches without results."""

    platform: int = Field(description="numeric id")
    text: str = Field(description="folded: without case and accents")
    reading: str = Field(description="`none`: nothing was found; else the relaxation that found something")
    count: int = Field(description="how many searches")
    first_day: str = Field(description="a date, UTC")
    last_day: str = Field(description="a date, UTC")


UnansweredResponse = success(
    "UnansweredResponse", "The texts, the most frequent first.", searches=list[UnansweredEntry]
)
