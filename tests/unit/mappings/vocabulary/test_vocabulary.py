"""A platform's words: values by their names and spellings, words for words, and what cannot be one is refused."""

from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from mappings.fields import DETAILS
from mappings.platforms import PlatformFileError, read_platforms
from mappings.vocabulary.entries import Meaning
from mappings.vocabulary.schema import VocabularyTerm
from mappings.vocabulary.vocabulary import Vocabulary
from mappings.vocabulary.words import letters_of, words_of
from tests.support.platforms import shared_platforms

CS2 = next(iter(shared_platforms()))


def test_words_are_letters_and_digits_without_marks() -> None:
    assert words_of("★ StatTrak™ Five-SeveN | Saibā_Oni 2.0") == ["StatTrak", "Five", "SeveN", "Saibā", "Oni", "2", "0"]
    assert letters_of(["Five", "SeveN", "Saibā"]) == "fivesevensaiba"
    assert letters_of(["KIZIL", "kızıl", "Złoty", "Đ"]) == "kizilkizilzlotyd"


def test_values_that_share_a_spelling_are_one_meaning_and_other_meanings_stand_beside_it() -> None:
    vocabulary = Vocabulary(
        fields={"weapon": {"M4A1-S": ("m4",), "M4A4": ("m4",)}, "type": {"Case": ("m4",)}},
        words={"four": ("m4",)},
        term=(VocabularyTerm(spellings=("m 4",), filters={"type": ("Key",)}, words="key"),),
    )
    entry = vocabulary.entries["m4"]
    assert entry.meanings == (
        Meaning((("weapon", ("M4A1-S", "M4A4")),)),
        Meaning((("type", ("Case",)),)),
        Meaning(words="four"),
        Meaning((("type", ("Key",)),), "key"),
    )
    assert (entry.max_words, vocabulary.entries["m4a1s"].max_words, vocabulary.longest) == (2, 2, 2)
    assert Vocabulary().entries == {}


@pytest.mark.parametrize(
    "wrong",
    [
        {"fields": {"wear": {"new": []}}},
        {"fields": {"type": {"★": []}}},
        {"fields": {"type": {"Knife": ["-"]}}},
        {"words": {"katowice": [" "]}},
        {"term": [{"spellings": ["x"]}]},
        {"term": [{"spellings": [], "words": "x"}]},
        {"term": [{"spellings": ["x"], "filters": {"wear": ["y"]}}]},
        {"slang": {}},
        {"sorts": {"wear": ["cleanest"]}},
        {"term": [{"spellings": ["x"], "excludes": {"wear": ["y"]}}]},
    ],
)
def test_what_cannot_be_parsed_is_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        Vocabulary.model_validate(wrong)


def test_exteriors_are_parsed_by_their_codes_and_more_spellings() -> None:
    for spelling in ("fn", "factorynew", "facnew"):
        assert CS2.merged_vocabulary.entries[spelling].meanings == (Meaning((("exterior", ("Factory New",)),)),)


def test_a_game_has_its_own_words_by_a_file_alone(tmp_path: Path) -> None:
    text = 'id = 570\nslug = "dota2"\nname = "Dota 2"\ncurrency = "USD"\nminor_digits = 2\n'
    (tmp_path / "570.toml").write_text(text + '[vocabulary.fields.rarity]\nArcana = ["arc"]\n', encoding="utf-8")
    (platform,) = read_platforms(tmp_path)
    assert platform.merged_vocabulary.entries["arc"].meanings == (Meaning((("rarity", ("Arcana",)),)),)
    (tmp_path / "570.toml").write_text(text + "[vocabulary.fields.wear]\nx = []\n", encoding="utf-8")
    with pytest.raises(PlatformFileError, match=f"(?s)570.toml.*is no string field.*{DETAILS[0]}"):
        read_platforms(tmp_path)


def test_what_is_not_wanted_may_be_written_together_with_what_says_so() -> None:
    vocabulary = Vocabulary(
        fields={"type": {"Sticker": (), "Key": ()}, "quality": {"Souvenir": ()}, "weapon": {"AWP": ()}},
        exclusions=("non",),
        exclusion_endings=("sız",),
        attached=frozenset({"Sticker"}),
    )
    words = ("nonsouvenir", "stickersiz", "keysiz", "awpsiz", "awp", "sız")
    read = [vocabulary.joined_exclusions.excluded_by(word) for word in words]
    excluded = [entry and entry.meanings[0].names for entry in read]
    assert excluded == [("Souvenir",), ("Sticker",), None, None, None, None]


def test_second_meanings_are_by_the_letters_of_their_spellings() -> None:
    vocabulary = Vocabulary(otherwise={"weapon": {"M4A4": ("m4 a1",)}})
    assert vocabulary.second_meanings["m4a1"] == (Meaning((("weapon", ("M4A4",)),)),)
    case = VocabularyTerm(spellings=("ca se",), words="case", otherwise={"type": ("Container",)})
    assert Vocabulary(term=(case,)).second_meanings == {"case": (Meaning((("type", ("Container",)),)),)}


def test_a_payment_is_nothing_else() -> None:
    vocabulary = Vocabulary(payments=("tf2 keys", "paypal"), fillers=("for",))
    texts = {"20 paypal": True, "for PayPal": True, "tf2keys": True, "awp": False, "paypal awp": False}
    assert {text: vocabulary.is_payment(text) for text in texts} == texts


def test_added_terms_extend_the_vocabulary_and_replace_no_meaning() -> None:
    platform = next(iter(shared_platforms()))
    platform.use_vocabulary(
        platform.vocabulary_with([VocabularyTerm(spellings=("dlore", "zweihorn"), words="the other")])
    )
    assert platform.merged_vocabulary.entries["zweihorn"].meanings == (Meaning(words="the other"),)
    before, added = platform.merged_vocabulary.entries["dlore"].meanings
    assert before == CS2.merged_vocabulary.entries["dlore"].meanings[0]
    assert added.words == "the other"
    platform.use_vocabulary(platform.vocabulary_with([]))
    assert platform.merged_vocabulary.entries == CS2.merged_vocabulary.entries, "and none is left where all are removed"


def test_tables_that_are_made_are_not_made_again() -> None:
    vocabulary = Vocabulary(fields={"weapon": {"AK-47": ("ak",)}})
    vocabulary.make_tables()
    entries, phrases = vocabulary.entries, vocabulary.phrases
    vocabulary.make_tables()
    assert "lexicon" in vars(vocabulary)
    assert vocabulary.entries is entries
    assert vocabulary.phrases is phrases
