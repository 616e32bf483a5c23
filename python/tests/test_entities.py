"""Entities against a plain model in Python."""

import pickle
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import bspkit
import pytest
from conftest import MAPS, all_maps
from hypothesis import given, settings
from hypothesis import strategies as st

Q3 = MAPS / "q3" / "own_rooms.bsp"


@pytest.fixture
def map() -> bspkit.Map:
    return bspkit.open(Q3)


def test_an_entity_is_a_mapping(map: bspkit.Map) -> None:
    world = map.entities[0]
    assert world["CLASSNAME"] == world.classname == "worldspawn"
    assert "message" in world and "nothing" not in world and 7 not in world
    assert world.get("nothing") is None and world.get("nothing", "x") == "x"
    with pytest.raises(KeyError, match="nothing"):
        world["nothing"]
    with pytest.raises(KeyError):
        del world["nothing"]
    assert list(world) == world.keys() and len(world) == len(world.items()) == len(world.values())
    assert dict(world)["classname"] == "worldspawn"
    world["angle"] = 90
    world["origin"] = (1, 2.5, -0.25)
    world["flag"] = True
    assert (world["angle"], world["origin"], world["flag"]) == ("90", "1 2.5 -0.25", "1")
    assert world.vector("origin") == bspkit.Vector(1, 2.5, -0.25) and world.number("angle") == 90
    assert world.vector("angle") is None and world.number("nothing") is None
    origin = world.vector("origin")
    assert origin is not None
    world["origin"] = origin + (0, 0, 8)
    assert world["origin"] == "1 2.5 7.75"
    assert world.pop("angle") == "90" and world.pop("angle", None) is None
    with pytest.raises(KeyError):
        world.pop("angle")
    assert world.setdefault("angle", 45) == "45" and world.setdefault("angle", 50) == "45"
    world.update({"a": 1, "b": "two"})
    assert (world["a"], world["b"]) == ("1", "two")
    for bad in (None, object(), ["x"], float("nan"), float("inf")):
        with pytest.raises((TypeError, bspkit.ArgumentError)):
            world["a"] = bad  # type: ignore[assignment]
    assert world["a"] == "1"


def test_equal_keys_keep_their_order(map: bspkit.Map) -> None:
    world = map.entities[0]
    for value in "abc":
        world.append("key", value)
    assert world["key"] == "a" and world.all("key") == ["a", "b", "c"]
    world.set_nth("key", 1, "B")
    world.remove_nth("key", 0)
    assert world.all("key") == ["B", "c"]
    assert world.rename_key("key", "other") == 2
    del world["other"]
    assert "other" not in world


def test_bytes_that_are_not_utf8(map: bspkit.Map) -> None:
    world = map.entities[0]
    world["message"] = b"caf\xe9"
    assert world["message"] == "caf\udce9" and world.raw["message"] == b"caf\xe9"
    world["copy"] = world["message"]
    assert world.raw["copy"] == b"caf\xe9"
    assert b"caf\xe9" in map.to_bytes()
    assert map.entities.select("*[message]")[0] == world


def test_the_list(map: bspkit.Map) -> None:
    entities = map.entities
    count = len(entities)
    light = entities.append({"classname": "light", "light": 300})
    assert entities[-1] == light and light.index == count and light in entities
    copy = entities.duplicate(light)
    assert copy != light and copy.items() == light.items() and hash(copy) != hash(light)
    first = entities.insert(1, [("classname", "info_null"), ("origin", (0, 0, 0))])
    assert entities[1] == first and light.index == count + 1
    entities.move(light, before=first)
    assert [light.index, first.index] == [1, 2]
    entities.move(light, after=copy)
    assert entities[-1] == light
    assert entities[-2:] == [copy, light]
    del entities[-2:]
    entities.remove(first)
    assert len(entities) == count and map.changed == []
    for gone in (light, copy, first):
        assert gone not in entities
        with pytest.raises(bspkit.NotFoundError, match="removed"):
            gone["classname"]
    with pytest.raises(IndexError):
        entities[count]
    with pytest.raises(TypeError):
        entities.append(7)  # type: ignore[arg-type]
    other = bspkit.open(Q3)
    with pytest.raises(ValueError, match="another map"):
        entities.remove(other.entities[0])
    entities.extend([{"classname": "a"}, other.entities[1]])
    assert entities.pop()[0][0] == "classname" and entities.pop() == [("classname", "a")]


def test_slices_are_replaced(map: bspkit.Map) -> None:
    entities = map.entities
    model = [entity.items() for entity in entities]
    third, new = entities[3], [[("classname", name)] for name in "abc"]
    entities[3] = {"classname": "info_null"}
    model[3] = [("classname", "info_null")]
    assert third.items() == model[3] and third.index == 3
    for slice_ in (slice(1, 3), slice(4, 4), slice(-2, None), slice(100, 200)):
        entities[slice_] = new
        model[slice_] = new
        assert [entity.items() for entity in entities] == model
    assert third.items() == model[third.index]
    with pytest.raises(ValueError, match="step"):
        entities[1:9:2] = new
    with pytest.raises(bspkit.RefusedError):
        entities[1:3] = [*new, {"classname": 'a "b"'}]
    with pytest.raises(bspkit.RefusedError):
        entities[0] = {"message": 'a "b"'}
    assert [entity.items() for entity in entities] == model
    assert [entity.items() for entity in bspkit.open(map.to_bytes()).entities] == model


def test_entities_are_sorted(map: bspkit.Map) -> None:
    entities, light = map.entities, map.entities[-1]
    for reverse in (False, True):
        model = [entities[0].items(), *sorted((e.items() for e in entities[1:]), key=lambda e: dict(e)["classname"], reverse=reverse)]
        entities.sort(key=lambda entity: entity.classname, reverse=reverse)
        assert [entity.items() for entity in entities] == model and light.items() == model[light.index]
    with pytest.raises(ZeroDivisionError):
        entities.sort(key=lambda entity: 1 / 0)


def moved_one_by_one(entities: bspkit.Entities, key: Callable[[bspkit.Entity], Any], reverse: bool) -> None:
    ordered = [*entities[:1], *sorted(entities[1:], key=key, reverse=reverse)]
    for last, entity in zip(ordered, ordered[1:]):
        if entity.index != last.index + 1:
            entities.move(entity, after=last)


@pytest.mark.parametrize("path", all_maps(), ids=lambda path: path.name)
def test_a_sort_is_the_same_as_moves_one_by_one(path: Path) -> None:
    for reverse in (False, True):
        try:
            sorted_, moved = bspkit.open(path), bspkit.open(path)
        except bspkit.BspError as error:
            pytest.skip(str(error))
        sorted_.entities.sort(key=lambda entity: entity.classname or "", reverse=reverse)
        moved_one_by_one(moved.entities, lambda entity: entity.classname or "", reverse)
        texts = [sorted_.entities.text, moved.entities.text]
        # Where braces touch, a space is put between entities that meet, if only on the way.
        if b"}{" in bspkit.open(path).entities.text:
            texts = [text.translate(None, b" \n") for text in texts]
        assert texts[0] == texts[1]


def seconds_to_sort(count: int) -> float:
    map = bspkit.open(Q3)
    map.entities.text = b'{\n"classname" "worldspawn"\n}\n' + b"".join(
        b'// %d\n{\n"classname" "light"\n"n" "%d"\n}\n' % (number, number) for number in range(count)
    )
    start = time.process_time()
    map.entities.sort(key=lambda entity: int(entity["n"]), reverse=True)
    taken = time.process_time() - start
    assert [entity["n"] for entity in map.entities[1:3]] == [str(count - 1), str(count - 2)]
    return taken


def test_the_time_of_a_sort_grows_with_the_number_of_entities() -> None:
    """Eight times as many take some eight times as long; 64 times would be quadratic. A busy machine is forgiven."""
    assert any(seconds_to_sort(4_000) < 24 * seconds_to_sort(500) for _ in range(3))


def seconds_to_edit(count: int) -> float:
    """Single edits at the end, one after the other."""
    map = bspkit.open(Q3)
    start = time.process_time()
    for number in range(count):
        map.entities.append({"classname": "light", "n": number})
    for _ in range(count):
        del map.entities[-1]
    assert map.changed == []
    return time.process_time() - start


def test_the_time_of_single_edits_grows_with_their_number() -> None:
    """Eight times as many take some eight times as long. A busy machine is forgiven."""
    assert any(seconds_to_edit(4_000) < 24 * seconds_to_edit(500) for _ in range(3))


def seconds_to_remove(count: int) -> float:
    """Single entities in the middle, one after the other."""
    map = bspkit.open(Q3)
    before = len(map.entities)
    map.entities.extend([{"classname": "light", "n": str(number)} for number in range(count)])
    added = map.entities[before:]
    start = time.process_time()
    for first in added[::2]:
        map.entities.remove(first)
    taken = time.process_time() - start
    assert [int(entity["n"]) for entity in map.entities[before:]] == list(range(1, count, 2))
    return taken


def test_the_time_of_single_removals_grows_with_their_number() -> None:
    """Sixteen times as many take some sixteen times as long. A busy machine is forgiven."""
    assert any(seconds_to_remove(16_000) < 48 * seconds_to_remove(1_000) for _ in range(3))


def test_a_sort_that_fails_changes_nothing(map: bspkit.Map) -> None:
    entities, text = map.entities, map.entities.text

    def key(entity: bspkit.Entity) -> str:
        if entity.index == 3:
            entities.remove(entities[2])
        return entity.classname or ""

    with pytest.raises(bspkit.NotFoundError, match="removed"):
        entities.sort(key=key)
    assert len(text) > len(entities.text) and [e.index for e in entities] == list(range(len(entities)))
    map.revert()
    with pytest.raises(TypeError):
        map.entities.sort(key=lambda entity: entity.index if entity.index % 2 else "text")
    assert map.entities.text == text


def test_iteration_while_editing(map: bspkit.Map) -> None:
    seen = []
    for entity in map.entities:
        seen.append(entity.classname)
        if entity.classname == "light":
            map.entities.remove(entity)
            map.entities.append({"classname": "new"})
        elif len(map.entities) > 2 and entity.index == 0:
            map.entities.remove(map.entities[1])
    assert "new" not in seen and "light" not in [entity.classname for entity in map.entities]


def test_outputs() -> None:
    with bspkit.open(MAPS / "source" / "room_v20.bsp") as map:
        world = map.entities[0]
        world.append("OnTrigger", bspkit.Output("door", "Open", delay=0.5))
        assert world.all("OnTrigger")[-1] == "door,Open,,0.5,-1"
        key, output = world.outputs[-1]
        assert (key, output.target, output.delay, output.times) == ("OnTrigger", "door", 0.5, -1)
        output.target, output.parameter = "gate", "now"
        world["OnTrigger"] = output
        assert world["OnTrigger"] == str(output) == "gate,Open,now,0.5,-1"
        with pytest.raises(bspkit.ArgumentError, match="separator"):
            bspkit.Output("a,b", "Open")
        with pytest.raises(bspkit.ArgumentError, match="not a number"):
            output.delay = "soon"  # type: ignore[assignment]
        assert bspkit.Output.parse("1,2,3") is None
        new = bspkit.Output("a,b", "Open", separator="\x1b", times=1)
        assert str(new) == "a,b\x1bOpen\x1b\x1b0\x1b1" and bspkit.Output.parse(str(new)) == new
        # The text of a value stays as it is.
        assert str(bspkit.Output.parse("door,Open,,0.50,-1")) == "door,Open,,0.50,-1"
        assert pickle.loads(pickle.dumps(new)) == new


def test_the_text(map: bspkit.Map) -> None:
    text = map.entities.text
    world = map.entities[0]
    map.entities.text = text[:-1] + b'{\n"classname" "light"\n}\n'
    with pytest.raises(bspkit.NotFoundError):
        world["classname"]
    assert map.entities[-1].classname == "light"
    map.entities.text = text
    assert map.changed == []


KEYS = st.sampled_from(["classname", "a", "B", "key", "Key"])
VALUES = st.text(st.characters(codec="ascii", exclude_characters='"\\{}', min_codepoint=32), max_size=8)
STEPS = st.lists(
    st.tuples(st.sampled_from(["set", "append", "delete", "add", "remove", "move"]), st.integers(0, 30), KEYS, VALUES)
)


def find(pairs: list[tuple[str, str]], key: str) -> list[int]:
    return [place for place, pair in enumerate(pairs) if pair[0].lower() == key.lower()]


@settings(max_examples=150, deadline=None)
@given(STEPS)
def test_entities_are_a_list_of_lists(steps: list[tuple[str, int, str, str]]) -> None:
    map = bspkit.open(Q3)
    entities = map.entities
    model = [entity.items() for entity in entities]
    for step, at, key, value in steps:
        # The first entity stays worldspawn: anything else is refused.
        at = 1 + at % (len(model) - 1)
        pairs = model[at]
        entity = entities[at]
        match step:
            case "set":
                entity[key] = value
                found = find(pairs, key)
                if found:
                    pairs[found[0]] = (pairs[found[0]][0], value)
                else:
                    pairs.append((key, value))
            case "append":
                entity.append(key, value)
                pairs.append((key, value))
            case "delete":
                found = find(pairs, key)
                if found:
                    del entity[key]
                    model[at] = [pair for place, pair in enumerate(pairs) if place not in found]
            case "add":
                entities.append([(key, value)])
                model.append([(key, value)])
            case "remove" if len(model) > 2:
                del entities[at]
                del model[at]
            case "move":
                target = 1 + (at * 7 + len(value)) % (len(model) - 1)
                if target != at:
                    other = entities[target]
                    entities.move(entity, before=other)
                    moved = model.pop(at)
                    model.insert(target - (at < target), moved)
    assert [entity.items() for entity in entities] == model
    saved = bspkit.open(map.to_bytes())
    assert [entity.items() for entity in saved.entities] == model


def test_an_iteration_over_replaced_entities_says_so(map: bspkit.Map) -> None:
    seen = 0
    with pytest.raises(bspkit.NotFoundError, match="replaced the text of all entities"):
        for _ in map.entities:
            seen += 1
            map.entities.text = map.entities.text
    assert seen == 1
    # Edits of other lumps, and of values, replace nothing.
    world = map.entities[0]
    map.revert("PLANES")
    map.rename("other", old="own_rooms")
    assert world.classname == "worldspawn"


def test_bytes_of_any_kind_are_text(map: bspkit.Map) -> None:
    world = map.entities[0]
    for value in (b"hello", bytearray(b"hello"), memoryview(b"hello")):
        world["a"] = value
        assert world["a"] == "hello"
    for wrong in ({1: 2}, {1, 2}, frozenset({1})):
        with pytest.raises(TypeError):
            world["a"] = wrong


def test_an_entity_is_at_one_place(map: bspkit.Map) -> None:
    """An exchange of two would give both places the same pairs."""
    entities, before = map.entities, [entity.items() for entity in map.entities]
    with pytest.raises(bspkit.RefusedError, match="another place"):
        entities[2], entities[3] = entities[3], entities[2]
    entities[2] = entities[2]
    assert [entity.items() for entity in entities] == before
    entities[2:4] = [entities[3], entities[2]]
    assert [entity.items() for entity in entities] == [*before[:2], before[3], before[2], *before[4:]]
    entities[2] = entities[5].items()
    assert entities[2].items() == before[5]


def test_what_is_refused_is_not_half_done(map: bspkit.Map) -> None:
    count, text = len(map.entities), map.entities.text
    with pytest.raises(bspkit.BspError):
        map.entities.extend([{"classname": "light"}, {"classname": 'a"b'}])
    assert (len(map.entities), map.entities.text) == (count, text)
    with pytest.raises(bspkit.TooLargeError):
        map.entities.text = b"{ } " * 140_000
    assert map.entities.text == text


def test_raw_pairs_know_their_keys(map: bspkit.Map) -> None:
    raw = map.entities[0].raw
    assert "classname" in raw and b"CLASSNAME" in raw and "nothing" not in raw and 7 not in raw


def test_values_that_are_not_utf_8_are_found(map: bspkit.Map) -> None:
    new = map.entities.append([(b"classname", b"caf\xe9"), (b"targetname", b"\xe9t\xe9")])
    assert map.entities.first(new["classname"]) == new and map.entities.first(b"caf\xe9") == new
    assert map.entities.select(f"*[targetname={new['targetname']}]") == [new]
    assert map.entities.select(b"*[targetname=\xe9t\xe9]") == [new]
