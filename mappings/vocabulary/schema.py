"""The schema of vocabulary files: what each key of their TOML holds. Pure."""

from collections.abc import Iterable, Mapping
from typing import Annotated

from pydantic import BeforeValidator, Field, field_validator, model_validator

from mappings.fields import DETAILS, SORTS
from mappings.strict_model import StrictModel
from mappings.vocabulary.words import spelt

KEYS = "qwertyuiop[]asdfghjkl;'zxcvbnm,."

Letters = Annotated[frozenset[str], BeforeValidator(spelt)]  # of spellings


class VocabularyTerm(StrictModel):
    """Spellings of something that is more than one value of one field."""

    spellings: tuple[str, ...] = Field(min_length=1)
    # {field: values} that an item has: one of the values in every field
    filters: Mapping[str, tuple[str, ...]] = Field(default_factory=dict)
    words: str = ""  # a name has all of them
    any_words: tuple[str, ...] = ()  # and one of these, where there are some
    excludes: Mapping[str, tuple[str, ...]] = Field(default_factory=dict)  # what the spellings say is not wanted
    # what the spellings mean where the rest finds nothing
    otherwise: Mapping[str, tuple[str, ...]] = Field(default_factory=dict)

    @model_validator(mode="after")
    def _means_something(self) -> "VocabularyTerm":
        if not (self.filters or self.words or self.any_words or self.excludes):
            raise ValueError(f"{self.spellings[0]!r} means nothing: give it filters, words, any_words or excludes")
        _check_fields((*self.filters, *self.excludes, *self.otherwise))
        return self


class VocabularyFile(StrictModel):
    """A platform's vocabulary as its TOML files write it. A value's own name is a spelling too."""

    # Values, names and orders.
    fields: Mapping[str, Mapping[str, tuple[str, ...]]] = Field(default_factory=dict)  # {field: {value: spellings}}
    # the same: what spellings mean where their first meaning finds nothing
    otherwise: Mapping[str, Mapping[str, tuple[str, ...]]] = Field(default_factory=dict)
    words: Mapping[str, tuple[str, ...]] = Field(default_factory=dict)  # {words of names: spellings}
    # the same, of words that names are made of, read where the text as it stands finds nothing
    glossary: Mapping[str, tuple[str, ...]] = Field(default_factory=dict)
    term: tuple[VocabularyTerm, ...] = ()  # what is more than one value of one field
    bracketed: Mapping[str, str] = Field(default_factory=dict)  # {word in brackets: English}: `(or)`, gold in French
    finish_names: tuple[str, ...] = ()  # their words belong together
    sorts: Mapping[str, tuple[str, ...]] = Field(default_factory=dict)  # {sort: spellings} that ask for an order

    # Kinds of fields and types.
    narrowing: frozenset[str] = frozenset()  # fields whose words narrow a text that has other words too
    # {type: types that its things open}: in `key of the Chroma case` a key is meant
    opens: Mapping[str, frozenset[str]] = Field(default_factory=dict)
    without_float: frozenset[str] = frozenset()  # types whose items have none: `sticker under 0.5` is a price
    skins: Letters = frozenset()  # words for things of the other types, where a text says no type: `cheapest skins`

    # Words that say nothing of an item; they are left out only where nothing has all words of a text.
    fillers: tuple[str, ...] = ()
    measures: tuple[str, ...] = ()  # and those behind a number, which says nothing either (`7 days`, `3 pieces`)
    counters: tuple[str, ...] = ()  # and those before one: `kills: 1204`, `lvl 10`
    purposes: tuple[str, ...] = ()  # between a thing and the one that it is for: `crown foil sticker for my awp`
    requests: Letters = frozenset()  # with these, what is counted is wanted itself: `need 4x crown foil`
    bearers: Letters = frozenset()  # but beside these on an item: `need a gun 4x crown foil`
    patterns: Letters = frozenset()  # nicknames of a finish for its pattern: `blue gem` says nothing beside another one
    foreign_goods: Letters = frozenset()  # sold elsewhere: never corrected, left out beside a weapon alone (`robux`)

    # Exclusion, alternatives and conjunction: how the words beside these are meant.
    exclusions: tuple[str, ...] = ()  # `without`: what follows is not wanted
    exclusions_after: tuple[str, ...] = ()  # `hariç`: what stands before is not wanted
    exceptions: Letters = frozenset()  # `but`: an exclusion behind one of `universals` (`any gloves but hydra`)
    universals: Letters = frozenset()
    exclusion_endings: tuple[str, ...] = ()  # `sız` of `stickersız`: what it is written together with is not wanted
    grammar: Letters = frozenset()  # may stand between an exclusion and what it excludes (`do not want any`)
    modifiers: Letters = frozenset()  # said of a thing right behind an exclusion: `nice` of `no nice knife`
    alternatives: tuple[str, ...] = ()  # `or`
    conjunctions: tuple[str, ...] = ()  # `and`
    names: tuple[str, ...] = ()  # in these, such words are words of the name (`no scope`)

    # Attachments: what is on an item.
    attached: frozenset[str] = frozenset()  # types whose things are put on other items
    carriers: Letters = frozenset()  # `with`: what follows is on the item
    carried_by: Letters = frozenset()  # `on`: what stands before is on what follows (`navi on ak redline`)
    attached_after: tuple[str, ...] = ()  # `付き`: what stands before is on the item
    has_attached: tuple[str, ...] = ()  # `stickered`: something is on the item

    # Trade posts.
    selling: Letters = frozenset()  # `wts`: what is beside it is for sale
    buying: Letters = frozenset()  # `wtb`: what is beside it is wanted
    seeking: Letters = frozenset()  # `looking`: what is wanted follows
    exchanging: Letters = frozenset()  # `swap`: it is an exchange
    returns: Letters = frozenset()  # `for`: in an exchange what is wanted follows
    own: Letters = frozenset()  # `my`: begins what is given for something, as `swap` does
    payments: Letters = frozenset()  # `paypal`: what an item is paid with

    # Inflection.
    endings: tuple[str, ...] = ()  # may follow a spelling
    linking: tuple[str, ...] = ()  # `de`: stand between the words of a name, or not

    # Scripts: other ways to write the same.
    keyboard: tuple[str, ...] = ()  # for each layout the letters on its keys, in the order of KEYS
    look_alikes: Mapping[str, str] = Field(default_factory=dict)  # {letter: the Latin one that looks like it}
    sounds: Mapping[str, str] = Field(default_factory=dict)  # {letter of an alphabet: its sound}
    syllables: Mapping[str, str] = Field(default_factory=dict)  # {letters of a script of syllables: their sound}
    homophones: Mapping[str, str] = Field(default_factory=dict)  # {syllable: the characters that are typed so}

    # Amounts. A spelling with accents is meant without them, too.
    # {English word beside one: spellings}; `unit max` stands behind a unit alone (`dolardan fazla olmasın`)
    amounts: Mapping[str, tuple[str, ...]] = Field(default_factory=dict)
    # {amount: spellings with its unit}: `0.5 usd`, and of one alone (`дешевле доллара`)
    prices: Mapping[str, tuple[str, ...]] = Field(default_factory=dict)
    ranges: tuple[str, ...] = ()  # words beside two, each of which stands at `…` or at the end (`zwischen … und`)
    numerals: Mapping[int, tuple[str, ...]] = Field(default_factory=dict)  # {value: spellings}; those of 0 only join

    @field_validator("fields", "otherwise", "narrowing")
    @classmethod
    def _known_fields(cls, value: Iterable[str]) -> Iterable[str]:
        _check_fields(value)
        return value

    @field_validator("sorts")
    @classmethod
    def _known_sorts(cls, value: Iterable[str]) -> Iterable[str]:
        names = [sort.name for sort in SORTS]
        for name in value:
            if name not in names:
                raise ValueError(f"{name!r} is no sort; those are {', '.join(names)}")
        return value


def _check_fields(fields: Iterable[str]) -> None:
    for name in fields:
        if name not in DETAILS:
            raise ValueError(f"{name!r} is no string field of an item; those are {', '.join(DETAILS)}")
