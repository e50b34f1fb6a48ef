"""Our folding and the engine's are the same, so that names of attachments compare as other values do."""

import unicodedata
from collections.abc import Iterator

import pytest
from opensearchpy import OpenSearch

from mappings.connection import SearchSettings, connect
from mappings.definition import read_definition
from mappings.folding import fold
from mappings.folding_tables import ASCII_FOLDING

# Capitals that the engine's table lacks while it has their small letters: ours writes both in ASCII.
LACKING = "\u01a6\u212b\u2183\u2c7e\u2c7f\ua78d\ua7aa\ua7ab\ua7ac\ua7ad\ua7ae\ua7b0\ua7b1\ua7b2\ua7c5\ua7c6"
TEXTS_AT_ONCE = 5000


@pytest.fixture
def probe(opensearch_url: str, index_prefix: str) -> Iterator[tuple[OpenSearch, str]]:
    """An empty index of the definition."""
    client = connect(SearchSettings(_env_file=None, opensearch_url=opensearch_url, index_prefix=index_prefix))
    index = f"{index_prefix}-folding"
    client.indices.create(index=index, body=read_definition().create_body())
    try:
        yield client, index
    finally:
        client.indices.delete(index=index)
        client.close()


def letters() -> list[str]:
    """All letters that a table may turn into others: those assigned for so long that every Unicode knows them."""
    old = (chr(code) for code in range(1, 0x10000) if not 0x3400 <= code <= 0x9FFF and not 0xAC00 <= code <= 0xD7FF)
    assigned = [character for character in old if unicodedata.ucd_3_2_0.category(character) not in ("Cn", "Cs", "Co")]
    capitals = (letter.upper() for letter in ASCII_FOLDING)
    return sorted({*assigned, *ASCII_FOLDING, *(letter for letter in capitals if len(letter) == 1)} - set(LACKING))


def test_every_letter_folds_as_in_the_engine(probe: tuple[OpenSearch, str]) -> None:
    client, index = probe
    characters = letters()
    differ = []
    for start in range(0, len(characters), TEXTS_AT_ONCE):
        texts = [f"a{letter}b" for letter in characters[start : start + TEXTS_AT_ONCE]]
        response = client.indices.analyze(index=index, body={"normalizer": "folded", "text": texts})
        tokens = [token["token"] for token in response["tokens"]]
        differ += [(text, token) for text, token in zip(texts, tokens, strict=True) if fold(text) != token]
    assert not differ
