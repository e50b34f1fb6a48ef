"""Reads and checks the platform files, one a game; platforms are looked up by id or slug."""

import re
import tomllib
from collections.abc import Iterator, Sequence
from decimal import Decimal
from functools import cached_property
from pathlib import Path
from typing import Annotated, TypeVar

from pydantic import AfterValidator, BaseModel, Field, ValidationError, model_validator

from mappings.collector import gc_paused
from mappings.money import to_minor
from mappings.strict_model import StrictModel
from mappings.vocabulary.rules import Rules
from mappings.vocabulary.schema import VocabularyTerm
from mappings.vocabulary.vocabulary import Vocabulary, merged

PLATFORM_FILES = Path(__file__).parent / "platforms"


class PlatformFileError(ValueError):
    """A platform file that cannot be used; the message names the file and what is wrong in it."""


def _compiles(pattern: str) -> str:
    try:
        re.compile(pattern)
    except re.error as error:
        raise ValueError(f"is no regular expression: {error}") from error
    return pattern


Pattern = Annotated[str, AfterValidator(_compiles)]


class PlatformIdRule(StrictModel):
    """What `additionalFields.platformId` must be: a decimal number of this form within these bounds."""

    name: str
    pattern: Pattern
    minimum: int
    maximum: int


class TradeLinkRule(StrictModel):
    """What `additionalFields.tradeLink` must be: an https URL of this host and path with these parameters."""

    host: str
    path: str
    parameters: dict[str, Pattern]
    account_parameter: str | None = None
    account_base: int = 0

    @model_validator(mode="after")
    def _account_is_a_parameter(self) -> "TradeLinkRule":
        if self.account_parameter is not None and self.account_parameter not in self.parameters:
            raise ValueError(f"account_parameter {self.account_parameter!r} is none of the parameters")
        return self


class OrderRules(StrictModel):
    """The checks of an order's `additionalFields`; a rule left out accepts any text up to the general limit."""

    platform_id: PlatformIdRule | None = None
    trade_link: TradeLinkRule | None = None


class Exterior(StrictModel):
    """A wear band: its name, its codes, and the part of `paint.float` from 0 to 1 that it covers."""

    name: str
    codes: tuple[str, ...]
    low: float = Field(alias="from", ge=0, le=1)
    high: float = Field(alias="to", ge=0, le=1)

    @model_validator(mode="after")
    def _begins_before_it_ends(self) -> "Exterior":
        if self.low >= self.high:
            raise ValueError(f"begins at {self.low} but ends at {self.high}")
        return self


class Relevance(StrictModel):
    """What comes first where the text does not decide.

    `quality` in groups, then weapons and types as in `popular`, then what is of no tournament, then `tournaments`.
    """

    quality: tuple[tuple[str, ...], ...] = ()
    popular: tuple[str, ...] = ()
    tournaments: tuple[str, ...] = ()

    @cached_property
    def groups(self) -> dict[str | None, int]:
        """The group of each quality, from 0."""
        return {name: group for group, names in enumerate(self.quality) for name in names}

    @cached_property
    def places(self) -> dict[str | None, int]:
        """The place of each popular weapon or type, from 0."""
        return {name: place for place, name in enumerate(self.popular)}

    @cached_property
    def events(self) -> dict[str | None, int]:
        """The place of each popular tournament, from 1; 0 is none."""
        return {None: 0} | {name: place for place, name in enumerate(self.tournaments, 1)}


class Platform(StrictModel):
    """One game or market whose gear is indexed."""

    id: int = Field(ge=0, lt=2**31)
    slug: str = Field(pattern=r"^[a-z][a-z0-9-]{0,31}$")
    name: str = Field(min_length=1)
    currency: str = Field(pattern=r"^[A-Z]{3}$")
    minor_digits: int = Field(ge=0, le=2)
    min_price: Decimal = Field(default=Decimal(0), ge=0, description="what costs less is refused by a load")
    shards: int = Field(default=1, ge=1, le=1024, description="primary shards of the platform's next index")
    order: OrderRules = OrderRules()
    exterior: tuple[Exterior, ...] = ()
    own_vocabulary: Vocabulary = Field(default=Vocabulary(), alias="vocabulary")  # of its file alone
    relevance: Relevance = Relevance()
    _language_files: tuple[Path, ...] = ()
    _extended: Vocabulary | None = None
    _rules: Rules = Rules()

    @model_validator(mode="after")
    def _one_name_a_band(self) -> "Platform":
        names = [band.name for band in self.exterior]
        if len(set(names)) != len(names):
            raise ValueError("two exteriors have the same name")
        return self

    @model_validator(mode="after")
    def _has_a_least_price_in_its_currency(self) -> "Platform":
        to_minor(self.min_price, self.minor_digits)
        return self

    @cached_property
    def min_minor(self) -> int:
        return to_minor(self.min_price, self.minor_digits)

    @property
    def merged_vocabulary(self) -> Vocabulary:
        """The vocabulary of the files, and the terms that were added to it since; raises PlatformFileError."""
        return self._extended or self.vocabulary_of_files

    def vocabulary_with(self, terms: Sequence[VocabularyTerm]) -> Vocabulary | None:
        """The vocabulary of the files with these terms, its tables made, which takes a second; None without terms."""
        if not terms:
            return None
        self.vocabulary_of_files.make_tables()  # once; those that no term changes are shared
        vocabulary = self.vocabulary_of_files.with_terms(terms)
        vocabulary.make_tables()
        return vocabulary

    def use_vocabulary(self, vocabulary: Vocabulary | None) -> None:
        """Makes this the vocabulary of all searches from now on; None: that of the files."""
        self._extended = vocabulary

    @property
    def rules(self) -> Rules:
        """The pins and hides."""
        return self._rules

    def use_rules(self, rules: Rules) -> None:
        """Makes these the pins and hides of all searches from now on."""
        self._rules = rules

    @cached_property
    def vocabulary_of_files(self) -> Vocabulary:
        """The vocabulary with the exteriors and their codes, and those of all languages, a file each.

        It is read at first use, because only searches need it. Raises PlatformFileError.
        """
        fields = self.own_vocabulary.fields
        exteriors = dict(fields.get("exterior", {}))
        for band in self.exterior:
            exteriors[band.name] = (*band.codes, *exteriors.get(band.name, ()))
        own_fields = {name: getattr(self.own_vocabulary, name) for name in Vocabulary.model_fields}
        own = Vocabulary(**{**own_fields, "fields": {**fields, "exterior": exteriors}})
        with gc_paused():
            return merged([own, *(_read(file, Vocabulary) for file in self._language_files)])


class Platforms:
    """All platforms, ordered by id."""

    def __init__(self, platforms: Sequence[Platform]) -> None:
        self._by_id = {platform.id: platform for platform in sorted(platforms, key=lambda platform: platform.id)}
        self._by_slug = {platform.slug: platform for platform in platforms}
        if len(self._by_id) != len(platforms) or len(self._by_slug) != len(platforms):
            raise PlatformFileError("two platform files have the same id or the same slug")
        digits = {(platform.currency, platform.minor_digits) for platform in platforms}
        if len(digits) != len({currency for currency, _ in digits}):
            raise PlatformFileError("two platform files give the same currency another number of minor digits")

    def __iter__(self) -> Iterator[Platform]:
        return iter(self._by_id.values())

    def __len__(self) -> int:
        return len(self._by_id)

    def by_id(self, number: int) -> Platform | None:
        return self._by_id.get(number)

    def by_reference(self, reference: str) -> Platform | None:
        """The platform with this slug, or with this decimal id written as a string."""
        if reference in self._by_slug:
            return self._by_slug[reference]
        decimal = reference.isascii() and reference.isdigit() and len(reference) <= len(str(2**31))
        return self._by_id.get(int(reference)) if decimal and str(int(reference)) == reference else None

    def make_tables(self) -> None:
        """Reads the vocabularies of all languages and makes their tables, or the first searches would wait for them.

        Raises PlatformFileError.
        """
        for platform in self:
            platform.merged_vocabulary.make_tables()

    def describe(self) -> str:
        """The known platforms for a message: `730 (cs2)`, separated by commas."""
        return ", ".join(f"{platform.id} ({platform.slug})" for platform in self)


def read_platforms(folder: Path = PLATFORM_FILES) -> Platforms:
    """Reads every `<id>.toml` in a folder; the vocabularies of its languages are in `<id>/<language>.toml`.

    Raises PlatformFileError where a file is not valid TOML, breaks a rule, or is not named after its id, and where
    the folder has none.
    """
    platforms = []
    for file in sorted(folder.glob("*.toml")):
        platform = _read(file, Platform)
        platform._language_files = tuple(sorted((folder / file.stem).glob("*.toml")))  # built here
        if file.stem != str(platform.id):
            raise PlatformFileError(f"{file}: its id is {platform.id}, so its name must be {platform.id}.toml")
        platforms.append(platform)
    if not platforms:
        raise PlatformFileError(f"{folder}: no platform file; at least one <id>.toml is needed")
    return Platforms(platforms)


Part = TypeVar("Part", bound=BaseModel)


def _read(file: Path, part: type[Part]) -> Part:
    try:
        return part.model_validate(tomllib.loads(file.read_text(encoding="utf-8")))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError, ValidationError) as error:
        raise PlatformFileError(f"{file}: {error}") from error
