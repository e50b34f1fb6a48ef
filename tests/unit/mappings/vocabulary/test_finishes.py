"""The names of finishes in the vocabulary are those of the real catalogue."""

import gzip
from pathlib import Path

import orjson

from indexer.documents.document import finish_of
from mappings.folding import fold
from mappings.vocabulary.words import letters_of, words_of
from tests.support.platforms import shared_platforms

CATALOGUE = Path("data/catalogue.ndjson.gz")
CS2 = next(platform.merged_vocabulary for platform in shared_platforms() if platform.id == 730)


def test_each_finish_is_known_as_the_index_has_it() -> None:
    with gzip.open(CATALOGUE) as lines:
        rows = [orjson.loads(line) for line in lines]
    finishes = {finish_of(row["name"], row["weapon"], row["exterior"]) or "" for row in rows} - {""}
    assert len(finishes) > 1_000
    assert {
        each for each in finishes if fold(each) not in CS2.folded_finishes.get(letters_of(words_of(each)), ())
    } == set()
