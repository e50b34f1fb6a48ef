"""The differences between an index and its definition, as they are shown."""

from indexer.engine.drift import Differences


def test_a_load_would_undo_what_differs() -> None:
    differences = Differences(added=("x",), removed=("y",), changed=("z",))
    assert differences.of_a_load() == {"added": ["y"], "removed": ["x"], "changed": ["z"]}
    assert differences.sentence() == "added x; removed y; changed z"
    assert bool(differences)
    assert not Differences((), (), ())
