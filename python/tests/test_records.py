"""Arrays of records, and records whose order and number change."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import bspkit
import numpy
import pytest
from conftest import MAPS
from hypothesis import given, settings
from hypothesis import strategies as st

Q2 = MAPS / "q2" / "own_rooms.bsp"


def add(array: Any, field: str) -> None:
    array[field] += 1


def add_to_a_column(array: Any) -> None:
    column = array["distance"]
    column += 1


WRITES: list[Callable[[Any], Any]] = [
    lambda array: array.__setitem__(0, array[1]),
    lambda array: array["distance"].__setitem__(0, 5),
    lambda array: add(array, "distance"),
    add_to_a_column,
    lambda array: numpy.add(array["distance"], 1, out=array["distance"]),
    lambda array: numpy.add.at(array["distance"], [0], 1),
    lambda array: numpy.copyto(array["distance"], 1),
    lambda array: numpy.clip(array["distance"], 0, 1, out=array["distance"]),
    lambda array: array["distance"].fill(0),
    lambda array: array["distance"].sort(),
    lambda array: array["distance"].put(0, 0),
    lambda array: numpy.put(array["distance"], 0, 0),
    lambda array: array[:4]["distance"].fill(0),
]


@pytest.mark.parametrize("write", WRITES)
def test_what_is_written_into_an_array_that_is_not_the_map_is_refused(write: Callable[[Any], Any]) -> None:
    map = bspkit.open(Q2)
    planes = map.table("PLANES")
    planes["distance"] = numpy.arange(len(planes), 0, -1)
    before = map.bytes("PLANES")
    write(planes)
    assert map.bytes("PLANES") == planes.tobytes() != before
    map.revert()
    map.remove("PLANES", [len(planes) - 2, len(planes) - 1], cascade=True, force=True)
    with pytest.raises(bspkit.ClosedError, match=r"map\.table"):
        write(planes)
    planes = map.table("PLANES")
    before = planes.tobytes()
    map.close()
    with pytest.raises(bspkit.ClosedError, match="closed"):
        write(planes)
    assert planes.tobytes() == before
    # It can be read, and copies of it are arrays like others.
    copy = planes.copy()
    write(copy)
    record = planes[0]
    with pytest.raises(ValueError, match="read-only"):
        record["distance"] += 1
    assert planes.tobytes() == before and len(planes["distance"].tolist()) == len(planes)


def test_results_of_calculations_are_plain_arrays() -> None:
    with bspkit.open(Q2) as map:
        planes = map.table("PLANES")
        doubled = planes["distance"] * 2
        assert type(doubled) is numpy.ndarray and numpy.array_equal(doubled / 2, planes["distance"])
        assert type(planes["distance"] > 0) is numpy.ndarray and planes[planes["distance"] > 0].shape[0] > 0
        assert numpy.concatenate([planes, planes]).shape == (2 * len(planes),)


EDITS = st.lists(
    st.tuples(st.sampled_from(["array", "query", "bytes", "revert"]), st.integers(0, 9), st.integers(-500, 500))
)


@settings(max_examples=60, deadline=None)
@given(EDITS)
def test_edits_by_an_array_and_in_other_ways_join(steps: list[tuple[str, int, int]]) -> None:
    """The array is never asked for again: it shows what is edited in other ways, and loses nothing of it."""
    map = bspkit.open(Q2)
    planes = map.table("PLANES")
    original = map.bytes("PLANES")
    model = planes["distance"].tolist()
    for step, index, value in steps:
        match step:
            case "array":
                planes["distance"][index] = value
                model[index] = float(value)
            case "query":
                map.set(f"PLANES[{index}].distance={value}")
                model[index] = float(value)
            case "bytes":
                array = numpy.frombuffer(map.bytes("PLANES"), planes.dtype).copy()
                array["distance"][index] = value
                map.set_bytes("PLANES", array.tobytes())
                model[index] = float(value)
            case "revert":
                map.revert()
                model = numpy.frombuffer(original, planes.dtype)["distance"].tolist()
        assert planes["distance"].tolist() == model
    saved = bspkit.open(map.to_bytes())
    assert saved.table("PLANES")["distance"].tolist() == model


def test_references() -> None:
    with bspkit.open(Q2) as map:
        found = map.references("MODELS", 1)
        assert any(by.lump == "ENTITIES" and by.field == "model" for by in found.by)
        faces = next(to for to in found.to if to.lump == "FACES")
        model = map.table("models")[1]
        assert (faces.record, faces.count) == (model["first_face"], model["face_count"])
        assert str(faces) == f"FACES[{faces.record}..{faces.record + faces.count}]" or faces.count == 1
        with pytest.raises(bspkit.NotFoundError, match="no record 9999"):
            map.references("FACES", 9999)
        with pytest.raises(bspkit.NotFoundError):
            map.references("NOTHING", 0)


def test_models_and_unused_records() -> None:
    with bspkit.open(Q2) as map:
        world, door = map.models[0], map.models[1]
        assert world.number == 0 and world.faces > door.faces > 0
        assert [map.entities[index]["model"] for index in door.entities] == ["*1"]
        assert door.records["FACES"] == door.faces and door.size > door.light
        unused = map.unused().get("TEXINFO", [])
        map.duplicate("TEXINFO", len(map.table("TEXINFO")) - 1)
        assert map.unused()["TEXINFO"] == [*unused, len(map.table("TEXINFO")) - 1]
        map.remove("TEXINFO", map.unused()["TEXINFO"])
        assert "TEXINFO" not in map.unused()


def test_models_are_removed() -> None:
    map = bspkit.open(MAPS / "goldsrc" / "own_rooms.bsp")
    before, faces = len(map.models), len(map.table("FACES"))
    own = map.models[2]
    removed = map.models.remove(2, keep_entity=True)
    assert removed.entities == own.entities and removed.light > 0
    assert dict(removed.followed.removed)["FACES"] == own.faces == faces - len(map.table("FACES"))
    assert len(map.models) == before - 1 and "model" not in map.entities[own.entities[0]]
    entity = map.entities[0]
    removed = map.models.remove([1])
    assert len(map.models) == before - 2
    # The entity that was kept has no model, and the door that it moves is gone.
    assert {found.code for found in bspkit.open(map.to_bytes()).check()} == {"entity-no-extent", "entity-target"}
    with pytest.raises(bspkit.NotFoundError, match="replaced"):
        entity["classname"]
    with pytest.raises(bspkit.BspError):
        map.models.remove(0)


def test_models_of_before_are_refused() -> None:
    map = bspkit.open(MAPS / "q2" / "own_rooms.bsp")
    models = map.models
    map.entities[0]["message"] = "entities may change"
    models.remove(1)
    after = map.to_bytes()
    # Its model 2 is the model 1 of now.
    with pytest.raises(bspkit.RefusedError, match="have changed since"):
        models.remove(2)
    assert map.to_bytes() == after
    map.models.remove(1)


@pytest.mark.parametrize("name", ["q1/own_rooms", "goldsrc/own_rooms", "q2/own_rooms", "q3/own_rooms", "source/room_v20"])
def test_models_go_whole_as_records_too(name: str) -> None:
    path = MAPS / f"{name}.bsp"
    one, other = bspkit.open(path), bspkit.open(path)
    models = next(lump.name for lump in one.lumps if lump.role == "models")
    with pytest.raises(bspkit.RefusedError, match="still needed"):
        one.remove(models, 1)
    one.remove(models, 1, cascade=True)
    other.models.remove(1)
    assert one.to_bytes() == other.to_bytes()
    with pytest.raises(bspkit.RefusedError, match="leaves its faces"):
        bspkit.open(path).splice(models, 1, 2, b"", cascade=True)


@pytest.mark.parametrize("family", ["q1", "goldsrc", "q2", "q3"])
def test_models_are_copied(family: str) -> None:
    map = bspkit.open(MAPS / family / "own_rooms.bsp")
    other = bspkit.open(MAPS / family / "own_rooms.bsp")
    theirs, before, entities = other.models[1], map.to_bytes(), len(map.entities)
    copied = map.models.copy_from(other, 1)
    new = map.models[copied.number]
    assert (copied.number, len(copied.entities), new.faces) == (len(other.models), len(theirs.entities), theirs.faces)
    assert (new.mins, new.maxs) == (theirs.mins, theirs.maxs) and new.entities == copied.entities
    assert copied.records["MODELS"] == 1 and map.entities[copied.entities[0]]["model"] == f"*{copied.number}"
    notes = [finding.code for finding in other.check()]
    assert [finding.code for finding in bspkit.open(map.to_bytes()).check()] == notes
    map.models.remove(copied.number)
    assert map.to_bytes() == before and len(map.entities) == entities
    # Of the map itself, with an entity of another class, and without one.
    copied = map.models.copy_from(map, 1, entity="func_wall")
    assert map.entities[copied.entities[0]]["classname"] == "func_wall"
    assert map.models.copy_from(map, 1, entity=False).entities == []
    for number, kind in [(99, "not-found"), (0, "refused")]:
        with pytest.raises(bspkit.BspError) as caught:
            map.models.copy_from(other, number)
        assert caught.value.kind == kind
    with pytest.raises(bspkit.RefusedError, match="the other one is of"):
        map.models.copy_from(bspkit.open(MAPS / ("goldsrc" if family == "q3" else "q3") / "own_rooms.bsp"), 1)


def test_what_nothing_needs_is_removed(q3: Path) -> None:
    map = bspkit.open(q3)
    before = map.to_bytes()
    pruned = map.prune(only=["drawindexes"])
    assert pruned.lumps == [bspkit.PrunedLump("DRAWINDEXES", "records", 84, pruned.lumps[0].after, 24)]
    assert map.changed and map.prune(only=["drawindexes"]).lumps == []
    map.revert()
    assert map.to_bytes() == before
    pruned = map.prune(keep=["LEAFS"])
    assert pruned.lumps and all(lump.lump != "LEAFS" and lump.after < lump.before for lump in pruned.lumps)
    saved = bspkit.open(map.to_bytes())
    assert "DRAWINDEXES" not in saved.unused() and {finding.severity for finding in saved.check()} <= {"note"}
    with pytest.raises(bspkit.NotFoundError):
        map.prune(only=["NOTHING"])


def names_of_faces(map: bspkit.Map) -> list[bytes]:
    texinfo = map.table("TEXINFO")
    return [bytes(texinfo["texture"][face]) for face in map.table("FACES")["texinfo"]]


def test_records_move_and_what_refers_to_them_follows() -> None:
    map = bspkit.open(Q2)
    names, before = names_of_faces(map), map.to_bytes()
    count = len(map.table("TEXINFO"))
    backwards = list(range(count))[::-1]
    followed = map.reorder("texinfo", backwards)
    assert any(field.lump == "FACES" and field.field == "texinfo" for field in followed.fields)
    assert map.to_bytes() != before and names_of_faces(map) == names
    map.reorder("texinfo", numpy.array(backwards).tolist())
    assert map.to_bytes() == before
    with pytest.raises(bspkit.ArgumentError):
        map.reorder("texinfo", [0, 0])


def test_records_are_inserted_removed_and_duplicated() -> None:
    map = bspkit.open(Q2)
    names, before = names_of_faces(map), map.to_bytes()
    texinfo = map.table("TEXINFO")
    map.insert("TEXINFO", 0, texinfo[2:4])
    assert len(map.table("TEXINFO")) == len(texinfo) + 2 and names_of_faces(map) == names
    assert map.table("TEXINFO")[0].tobytes() == texinfo[2].tobytes()
    map.remove("TEXINFO", range(2))
    assert map.to_bytes() == before
    map.insert("TEXINFO", 1, texinfo[2].tobytes())
    map.remove("TEXINFO", 1)
    map.duplicate("TEXINFO", 1)
    assert map.table("TEXINFO")[1].tobytes() == map.table("TEXINFO")[2].tobytes() and names_of_faces(map) == names
    map.splice("TEXINFO", 2, 3, b"")
    assert map.to_bytes() == before
    with pytest.raises(bspkit.RefusedError, match="TEXINFO"):
        map.remove("TEXINFO", 0)
    assert map.to_bytes() == before
    removed = dict(map.remove("TEXINFO", 0, cascade=True, force=True).removed)
    assert removed["TEXINFO"] == 1 and removed["FACES"] > 0
    with pytest.raises(TypeError, match="records are an array"):
        map.insert("TEXINFO", 0, [1, 2])  # type: ignore[arg-type]
    with pytest.raises(bspkit.ArgumentError):
        map.insert("TEXINFO", 0, b"x")
    with pytest.raises(bspkit.NotFoundError):
        map.insert("TEXINFO", 10**6, texinfo[:1])


@pytest.mark.parametrize("lump", ["PLANES", "TEXINFO"])
def test_records_of_big_endian_maps(lump: str) -> None:
    consoles = [path for path in MAPS.glob("*/*.bsp") if ">" in str(table_type(path, lump))]
    for path in consoles:
        with bspkit.open(path) as map:
            first = map.table(lump)[:2].copy()
            map.insert(lump, 2, first, force=True)
            assert map.table(lump)[2:4].tobytes() == first.tobytes()


def table_type(path: Any, lump: str) -> Any:
    try:
        return bspkit.open(path).table(lump).dtype.fields
    except bspkit.BspError:
        return None


def test_handles_of_entities_stay_or_end_with_an_edit_of_records() -> None:
    map = bspkit.open(Q2)
    world = map.entities[0]
    map.duplicate("TEXINFO", 0)
    assert world.classname == "worldspawn"


def test_new_records_are_taken_by_the_names_of_their_fields() -> None:
    map = bspkit.open(Q2)
    plane = map.table("PLANES")[4:5]
    fields = ["kind", "distance", "normal"]
    other = numpy.array([(3, 7.5, (0.0, 0.6, 0.8))], dtype=[("kind", "<i8"), ("distance", "<f8"), ("normal", "<f8", 3)])
    assert sorted(fields) == sorted(plane.dtype.names)
    followed = map.splice("PLANES", 4, 5, other)
    assert followed is not None
    assert map.table("PLANES")[4].tolist() == (pytest.approx((0.0, 0.6, 0.8)), 7.5, 3)
    before = map.bytes("PLANES")
    # What is not there would be any bytes of memory.
    with pytest.raises(TypeError, match="the fields are kind"):
        map.splice("PLANES", 4, 5, plane[["kind"]])
    with pytest.raises(TypeError, match="the fields are"):
        map.insert("PLANES", 0, map.table("FACES")[:1])
    with pytest.raises(TypeError, match="normal has the shape"):
        map.insert("PLANES", 0, numpy.zeros(1, [("kind", "<i4"), ("distance", "<f4"), ("normal", "<f4", 2)]))
    with pytest.raises(ValueError, match="a number of kind does not fit"):
        wide = other.copy()
        wide["kind"] = 1 << 40
        map.insert("PLANES", 0, wide)
    assert map.bytes("PLANES") == before


def test_queries_are_those_of_the_program() -> None:
    map = bspkit.open(Q2)
    assert map.set("PLANES[3].normal=0 0 1") == 1 and map.get("PLANES[3].normal") == {3: [0.0, 0.0, 1.0]}
    assert map.set("PLANES[3].normal=[1,2,3]") == 1 and map.get("PLANES[3].normal") == {3: [1.0, 2.0, 3.0]}
    assert map.set("FACES[0].styles=1 2 3 4") == 1 and map.get("FACES[0].styles") == {0: [1, 2, 3, 4]}
    assert map.set("TEXINFO[0].flags|=SKY") == 1
    assert "SKY" in map.get("TEXINFO[0].flags")[0]
    assert 0 in map.get("TEXINFO[flags&SKY].flags")


def test_a_record_of_a_closed_map_cannot_be_written() -> None:
    map = bspkit.open(Q2)
    planes = map.table("PLANES")
    map.close()
    with pytest.raises(ValueError, match="read-only"):
        planes[0]["distance"] = 5
    for record in planes:
        with pytest.raises(ValueError, match="read-only"):
            record["distance"] = 5
        break


def test_a_copy_of_a_node_alone_is_refused() -> None:
    map = bspkit.open(Q2)
    with pytest.raises(bspkit.RefusedError, match="in no tree"):
        map.duplicate("NODES", 1)
    map.duplicate("NODES", 1, force=True)


def test_numbers_and_names_of_new_records_fit() -> None:
    room = bspkit.open(MAPS / "source" / "room_v20.bsp")
    lump = "LEAF_AMBIENT_LIGHTING"
    own = room.table(lump)
    rest = [(name, own.dtype[name]) for name in own.dtype.names or () if name != "cube"]

    def records(*parts: tuple[str, str]) -> Any:
        found = numpy.zeros(1, numpy.dtype([("cube", list(parts), (6,)), *rest]))
        found["cube"]["red"] = 200
        return found

    # The fields within a field go by their names too.
    room.splice(lump, 0, 1, records(("blue", "u1"), ("green", "u1"), ("red", "u1"), ("exponent", "i1")))
    assert room.table(lump)[0]["cube"]["red"].tolist() == [200] * 6
    assert room.table(lump)[0]["cube"]["blue"].tolist() == [0] * 6
    wide = records(("red", "i4"), ("green", "i4"), ("blue", "i4"), ("exponent", "i4"))
    wide["cube"]["red"] = 300
    with pytest.raises(ValueError, match="cube.red does not fit"):
        room.splice(lump, 0, 1, wide)
    with pytest.raises(TypeError, match="of cube are"):
        room.splice(lump, 0, 1, records(("red", "u1"), ("green", "u1")))

    q3 = bspkit.open(MAPS / "q3" / "own_rooms.bsp")
    shaders = q3.table("SHADERS")
    for kind in ("S89", "U89"):
        named = numpy.zeros(1, numpy.dtype([(name, kind if name == "name" else shaders.dtype[name]) for name in shaders.dtype.names or ()]))
        named["name"] = "n" * 64
        q3.insert("SHADERS", 0, named)
        assert q3.table("SHADERS")[0]["name"] == b"n" * 64
        named["name"] = "n" * 89
        with pytest.raises(ValueError, match="a text of name does not fit"):
            q3.insert("SHADERS", 0, named)

    q2 = bspkit.open(Q2)
    planes = q2.table("PLANES")
    for number, kind in ((1e300, "f8"), (1j, "c16")):
        one = numpy.zeros(2, numpy.dtype([(name, kind if name == "distance" else planes.dtype[name]) for name in planes.dtype.names or ()]))
        one["distance"] = number
        with pytest.raises((ValueError, TypeError), match="distance"):
            q2.insert("PLANES", 0, one)
    assert not q2.changed


def test_copies_of_records_are_no_part_of_the_map() -> None:
    room = bspkit.open(Q2)
    planes = room.table("PLANES")
    copies = [planes[[3, 4]], planes["distance"][planes["distance"] > 0]]
    views = [planes[3:5], planes["distance"][1:]]
    room.close()
    for copy in copies:
        copy[0] = copy[1]
    for view in views:
        with pytest.raises(bspkit.ClosedError):
            view[0] = view[1]


def test_a_leaf_that_is_replaced_by_itself_is_as_visible_as_before() -> None:
    for name in ("q1/own_rooms.bsp", "goldsrc/own_rooms.bsp", "bsp2/own_rooms.bsp"):
        room = bspkit.open(MAPS / name)
        visible, leafs = room.visibility.pvs, room.table("LEAFS").copy()
        for first, last in ((3, 4), (0, len(leafs))):
            room.splice("LEAFS", first, last, leafs[first:last])
            assert (room.visibility.pvs == visible).all()
            assert room.table("LEAFS").tobytes() == leafs.tobytes()
