"""Refusals: what a person reads of an item that cannot be loaded."""

from indexer.documents.refusal import ItemRefusedError, refused_by_engine


def test_what_the_engine_refuses_is_said_in_its_own_words() -> None:
    error = ItemRefusedError(refused_by_engine("mapper_parsing_exception"), item_id=7)
    assert (str(error), error.item_id) == ("None: the engine: mapper_parsing_exception", 7)
