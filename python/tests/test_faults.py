"""The laws of the other tests fail where they should: each is tried on a map with a planted fault."""

from collections.abc import Callable
from typing import Any

import bspkit
import pytest
import test_content
import test_entities
import test_map
import test_records
from conftest import MAPS

Q3 = MAPS / "q3" / "own_rooms.bsp"


class Wrapped:
    """A map, or a part of one, that is as it should be."""

    def __init__(self, inner: Any) -> None:
        self.inner = inner

    def __getattr__(self, name: str) -> Any:
        return getattr(self.inner, name)

    def __enter__(self) -> Any:
        return self

    def __exit__(self, *error: object) -> None:
        self.inner.close()

    def __len__(self) -> int:
        return len(self.inner)

    def __iter__(self) -> Any:
        return iter(self.inner)

    def __getitem__(self, key: Any) -> Any:
        return self.inner[key]

    def __setitem__(self, key: Any, value: Any) -> None:
        self.inner[key] = value

    def __delitem__(self, key: Any) -> None:
        del self.inner[key]

    def __contains__(self, key: object) -> bool:
        return key in self.inner


class OneBitOff(Wrapped):
    def to_bytes(self) -> bytes:
        data = self.inner.to_bytes()
        return bytes([*data[:-1], data[-1] ^ 1])


class EditsAreNotSaved(Wrapped):
    def to_bytes(self) -> bytes:
        return Q3.read_bytes()


class EqualKeysAreLost(Wrapped):
    class Entities(Wrapped):
        def __getitem__(self, key: Any) -> Any:
            return EqualKeysAreLost.Entity(self.inner[key])

    class Entity(Wrapped):
        def append(self, key: str, value: str) -> None:
            self.inner[key] = value

    @property
    def entities(self) -> Any:
        return self.Entities(self.inner.entities)


class RemovedEntitiesStay(Wrapped):
    class Entities(Wrapped):
        def __delitem__(self, key: Any) -> None:
            pass

    @property
    def entities(self) -> Any:
        return self.Entities(self.inner.entities)


class SortLooksAtAllForEach(Wrapped):
    class Entities(Wrapped):
        def __setattr__(self, key: str, value: Any) -> None:
            object.__setattr__(self if key == "inner" else self.inner, key, value)

        def sort(self, *, key: Any, reverse: bool = False) -> None:
            for _ in self.inner:
                sum(range(10 * len(self.inner)))
            self.inner.sort(key=key, reverse=reverse)

    @property
    def entities(self) -> Any:
        return self.Entities(self.inner.entities)


class SortForgetsTheOrder(SortLooksAtAllForEach):
    class Entities(SortLooksAtAllForEach.Entities):
        def sort(self, *, key: Any, reverse: bool = False) -> None:
            self.inner.sort(key=key)

    @property
    def entities(self) -> Any:
        return self.Entities(self.inner.entities)


class CaseMatters(Wrapped):
    class Pak(Wrapped):
        def __contains__(self, key: object) -> bool:
            return key in list(self.inner)

    @property
    def pak(self) -> Any:
        return self.Pak(self.inner.pak)


class ArraysAreCopies(Wrapped):
    def table(self, lump: str) -> Any:
        return self.inner.table(lump).copy()


class QueriesAreForgotten(Wrapped):
    def set(self, change: str) -> int:
        return 0


class RevertLeavesArrays(Wrapped):
    def revert(self) -> None:
        data = self.inner.bytes("PLANES")
        self.inner.revert()
        self.inner.set_bytes("PLANES", data)


def with_example(law: Any, *values: Any) -> Callable[[], None]:
    """A law of hypothesis, for one example."""
    return lambda: law.hypothesis.inner_test(*values)


#: Each law, and a map that breaks it.
FAULTS: list[tuple[type, Callable[[], None]]] = [
    (OneBitOff, lambda: test_map.test_a_map_without_edits_is_the_same_bytes(Q3)),
    (EditsAreNotSaved, lambda: test_map.test_an_edit_taken_back_is_the_same_bytes(Q3)),
    (
        EqualKeysAreLost,
        with_example(test_entities.test_entities_are_a_list_of_lists, [("append", 1, "key", text) for text in "ab"]),
    ),
    (RemovedEntitiesStay, with_example(test_entities.test_entities_are_a_list_of_lists, [("remove", 1, "", "")])),
    (SortForgetsTheOrder, lambda: test_entities.test_a_sort_is_the_same_as_moves_one_by_one(Q3)),
    (SortLooksAtAllForEach, test_entities.test_the_time_of_a_sort_grows_with_the_number_of_entities),
    (
        CaseMatters,
        with_example(test_content.test_embedded_files_are_a_dictionary, [("set", "a.txt", b""), ("delete", "A.TXT", b"")]),
    ),
    (ArraysAreCopies, with_example(test_records.test_edits_by_an_array_and_in_other_ways_join, [("array", 0, 5)])),
    (QueriesAreForgotten, with_example(test_records.test_edits_by_an_array_and_in_other_ways_join, [("query", 0, 5)])),
    (
        RevertLeavesArrays,
        with_example(test_records.test_edits_by_an_array_and_in_other_ways_join, [("array", 0, 5), ("revert", 0, 0)]),
    ),
]


@pytest.mark.parametrize(("fault", "law"), FAULTS)
def test_a_fault_is_seen(fault: type, law: Callable[[], None], monkeypatch: pytest.MonkeyPatch) -> None:
    law()
    real = bspkit.open
    monkeypatch.setattr(bspkit, "open", lambda source: fault(real(source)))
    with pytest.raises(AssertionError):
        law()
