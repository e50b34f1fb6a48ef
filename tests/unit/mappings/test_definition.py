"""The index definition: strict, fingerprinted, and of one mind with the table of filters and sorts."""

import json
from dataclasses import replace
from importlib.resources import files

import pytest

from api.search.query.request import sort_clauses
from indexer.documents.product import FIELDS as PRODUCT_FIELDS
from mappings.definition import (
    FILES,
    FINGERPRINT_LENGTH,
    READ_BY,
    READS,
    Definition,
    read_definition,
    searchable_fields,
)
from mappings.fields import DETAILS, FACETS, FILTERS, SORTS, Kind
from mappings.folding import mark_mappings
from mappings.items.attachments import ENCODING
from mappings.items.item import Details
from mappings.money import NO_PRICE

BODY, PRODUCTS = (json.loads(files("mappings").joinpath(name).read_bytes()) for name in FILES)
# too long for the file, and the same as where the reader folds
BODY["settings"]["analysis"]["char_filter"]["without_marks"]["mappings"] = mark_mappings()
FIELDS = BODY["mappings"]["properties"]


def read_changed(monkeypatch: pytest.MonkeyPatch, body: object, products: object = PRODUCTS) -> Definition:
    bodies = {"gear.json": body, "products.json": products}
    with monkeypatch.context() as patch:
        patch.setattr("pathlib.Path.read_bytes", lambda path: json.dumps(bodies[path.name], indent=7).encode())
        return read_definition()


def test_the_body_is_sent_as_the_file_has_it_with_its_fingerprint() -> None:
    definition = read_definition()
    sent = definition.create_body()
    assert sent["mappings"].pop("_meta") == {"fingerprint": definition.fingerprint, "readBy": []}
    assert sent == BODY == definition.body
    assert len(definition.fingerprint) == FINGERPRINT_LENGTH == len(bytes.fromhex(definition.fingerprint)) * 2


def test_the_fingerprint_is_of_the_meaning_and_not_of_the_layout(monkeypatch: pytest.MonkeyPatch) -> None:
    assert read_changed(monkeypatch, BODY).fingerprint == read_definition().fingerprint
    backwards = [dict(reversed(body.items())) for body in (BODY, PRODUCTS)]
    assert read_changed(monkeypatch, *backwards).fingerprint == read_definition().fingerprint


def test_the_body_of_products_has_the_analysis_of_both_files() -> None:
    definition = read_definition()
    sent = definition.create_products_body()
    assert sent["mappings"].pop("_meta") == definition.meta()
    analysis = sent["settings"].pop("analysis")
    assert sent["mappings"] == PRODUCTS["mappings"]
    assert sent["settings"] == {"index": PRODUCTS["settings"]["index"]}
    ours, theirs = BODY["settings"]["analysis"], PRODUCTS["settings"]["analysis"]
    assert analysis == definition.analysis()
    assert analysis["normalizer"] == {**ours["normalizer"], **theirs["normalizer"]}
    assert analysis["char_filter"] == {**ours["char_filter"], **theirs["char_filter"]}
    assert {kind: analysis[kind] for kind in ("tokenizer", "filter", "analyzer")} == {
        kind: theirs[kind] for kind in ("tokenizer", "filter", "analyzer")
    }
    assert not any(ours[kind].keys() & theirs[kind].keys() for kind in ours), "one name, one meaning"


def test_what_only_one_of_the_files_analyses_is_part_of_the_analysis() -> None:
    settings = {**BODY["settings"], "analysis": {"filter": {"x": {"type": "trim"}}}}
    products = {**PRODUCTS, "settings": {"index": {}}}
    definition = replace(read_definition(), body={**BODY, "settings": settings}, products=products)
    assert definition.analysis() == {"filter": {"x": {"type": "trim"}}}


def test_an_entry_of_the_log_of_changes_has_the_fields_of_both() -> None:
    properties = read_definition().log_properties()
    product_fields = PRODUCTS["mappings"]["properties"]
    assert properties.keys() == FIELDS.keys() | product_fields.keys()
    for name, field in product_fields.items():
        assert properties[name] == field, "of a field of both, that of products is the one with texts"
        ours = FIELDS.get(name, {})
        assert ours.get("type", field["type"]) == field["type"]
        assert ours.get("fields", {}).keys() <= field.get("fields", {}).keys()


def test_the_fields_of_products_differ_from_those_of_listings() -> None:
    definition = read_definition()
    fields, only = definition.product_fields(), definition.products_only()
    assert {"product", "platform", "name", "name.folded", "name.letters", "rarity.folded", "stickers.typed"} <= fields
    assert {"text", "name.letters", "name.marks", "name.typed", "name.folded", "finish.folded"} <= only <= fields
    assert not only & {"product", "platform", "name", "rarity", "rarity.folded", "weapon.folded"}
    assert not fields & {"finish", "stickers", "price", "bound"}, "what cannot be matched there"


def test_fields_are_searchable_unless_they_say_otherwise() -> None:
    properties = {
        "a": {"type": "keyword", "index": False, "fields": {"b": {"type": "text"}}},
        "c": {"properties": {"d": {"type": "long"}, "e": {"type": "long", "index": False}}},
        "f": {"type": "object", "enabled": False},
    }
    assert searchable_fields(properties) == {"a.b", "c", "c.d"}


def test_a_product_has_the_fields_that_its_documents_have() -> None:
    assert {*PRODUCT_FIELDS, "product", "stickers", "part", "text"} == PRODUCTS["mappings"]["properties"].keys()
    assert PRODUCTS["mappings"]["dynamic"] == "strict"
    assert FIELDS["product"] == PRODUCTS["mappings"]["properties"]["product"] == {"type": "keyword"}


def test_versions_read_the_indices_that_either_of_them_declares() -> None:
    now = read_definition()
    new = replace(now, fingerprint="00000002", reads=frozenset(), read_by=())
    compatible = replace(new, reads=frozenset({now.fingerprint}), read_by=(now.fingerprint,))
    assert [definition.can_read(definition.meta()) for definition in (now, new)] == [True, True]
    assert [now.can_read(new.meta()), new.can_read(now.meta())] == [False, False]
    assert [now.can_read(compatible.meta()), compatible.can_read(now.meta())] == [True, True]
    assert now.can_read({}), "what says nothing was not made by us"


def test_the_declared_range_is_that_of_this_definition() -> None:
    """A change of a file asks: which older versions read its indices, and whose indices does this one read?"""
    assert (read_definition().fingerprint, READS, READ_BY) == ("a6c25023", frozenset(), ())


def test_any_change_of_the_body_changes_the_fingerprint(monkeypatch: pytest.MonkeyPatch) -> None:
    changed = json.loads(json.dumps(BODY))
    changed["mappings"]["properties"]["price"]["type"] = "integer"
    assert read_changed(monkeypatch, changed).fingerprint != read_definition().fingerprint
    products = json.loads(json.dumps(PRODUCTS))
    products["settings"]["index"]["refresh_interval"] = "5s"
    assert read_changed(monkeypatch, BODY, products).fingerprint != read_definition().fingerprint


def test_unknown_fields_are_refused_by_the_index() -> None:
    assert BODY["mappings"]["dynamic"] == "strict"


@pytest.mark.parametrize("row", FILTERS, ids=lambda row: row.name)
def test_every_filter_has_its_index_field_of_the_right_type(row: object) -> None:
    row = next(candidate for candidate in FILTERS if candidate is row)
    mapping = FIELDS[row.field]
    if row.kind is Kind.FOLDED:
        assert mapping["type"] == "keyword"
        assert mapping["fields"]["folded"]["normalizer"] == "word"
    elif row.kind is Kind.EXACT:
        assert mapping["type"] == "keyword"
    elif row.kind is Kind.INTEGER:
        assert mapping["type"] in ("keyword", "long")
    elif row.kind is Kind.ATTACHMENTS:
        assert mapping == {"type": "keyword", "doc_values": False, "meta": {"encoding": ENCODING}}
    elif row.kind is Kind.MONEY:
        assert mapping["type"] == "long"  # minor units; scaled or binary numbers would not compare exactly
    else:
        assert mapping["type"] == "double"


def test_every_facet_counts_words_or_the_buckets_of_its_field() -> None:
    assert [row.name for row in FACETS if row.kind is not Kind.FOLDED and f"{row.field}Bucket" not in FIELDS] == []


@pytest.mark.parametrize("sort", SORTS, ids=lambda sort: sort.name)
def test_every_sort_has_an_index_field_that_can_be_sorted_by(sort: object) -> None:
    field = next(candidate.field for candidate in SORTS if candidate is sort)
    if field == "_score":
        return
    name, _, part = field.partition(".")
    mapping = FIELDS[name]["fields"][part] if part else FIELDS[name]
    assert mapping["type"] in ("long", "double", "date_nanos", "keyword")
    assert mapping.get("doc_values", True)


def test_the_index_lies_in_the_order_of_a_search_without_words() -> None:
    index = BODY["settings"]["index"]
    (by_price, *ties) = sort_clauses(next(sort for sort in SORTS if sort.name == "price_asc"))
    assert by_price == {index["sort.field"][0]: {"order": "asc", "missing": "_last"}}
    assert [{name: "asc"} for name in index["sort.field"][1:]] == ties
    assert set(index["sort.order"]) == {"asc"}
    assert set(index["sort.missing"]) == {"_last"}


def test_every_item_has_a_place_in_the_order_of_prices() -> None:
    assert FIELDS["price"]["fields"]["ascending"] == {"type": "long", "null_value": NO_PRICE}


def test_names_are_preserved_byte_for_byte() -> None:
    # 13 pairs of real names differ only by case and a double blank: a normalizer would merge them
    assert FIELDS["name"]["type"] == "keyword"
    assert "normalizer" not in FIELDS["name"]


def test_the_details_of_an_item_are_those_that_can_be_filtered_by() -> None:
    assert tuple(Details.model_fields) == DETAILS
    assert {f"details.{name}" for name in DETAILS} <= {row.path for row in FILTERS if row.kind is Kind.FOLDED}


def test_no_name_stands_twice_in_the_table() -> None:
    for rows in (FILTERS, SORTS):
        names = [row.name for row in rows]
        assert len(set(names)) == len(names)
