"""The differences between an index and its definition, as they are shown."""

from indexer.engine.drift import Differences, defined_listings, defined_products
from mappings.definition import read_definition


def test_a_load_would_undo_what_differs() -> None:
    differences = Differences(unexpected=("x",), missing=("y",), changed=("z",))
    assert differences.of_a_load() == {"added": ["y"], "removed": ["x"], "changed": ["z"]}
    assert differences.sentence() == "unexpected x; missing y; changed z"
    assert bool(differences)
    assert not Differences((), (), ())


def test_a_field_of_products_is_named_as_one() -> None:
    both = Differences(("x",), ("y",), ()).with_products(Differences(("x",), (), ("z (type long)",)))
    assert both == Differences(("x", "products.x"), ("y",), ("products.z (type long)",))


def test_each_index_of_a_generation_is_defined_by_its_file() -> None:
    definition = read_definition().with_shards(3)
    listings, products = defined_listings(definition), defined_products(definition)
    assert (listings.file, products.file) == ("gear.json", "products.json")
    assert (listings.settings["number_of_shards"], products.settings["number_of_shards"]) == (3, 1)
    assert products.analysis == definition.analysis()
    assert "text" in products.mappings["properties"].keys() - listings.mappings["properties"].keys()
