"""Embedded files, records, light, textures, visibility."""

from datetime import datetime
from pathlib import Path

import bspkit
import numpy
import pytest
from bspkit._light import LightFace
from conftest import MAPS, own_maps
from hypothesis import given, settings
from hypothesis import strategies as st

SOURCE = MAPS / "source" / "room_v20.bsp"


@pytest.mark.parametrize("path", own_maps(), ids=lambda path: path.name)
def test_every_table_reads_and_writes(path: Path) -> None:
    try:
        map = bspkit.open(path)
    except bspkit.BspError as error:
        pytest.skip(str(error))
    for lump in map.lumps:
        if not lump.count:
            continue
        try:
            table = map.table(lump.name)
        except bspkit.ArgumentError as error:
            assert "several lists" in str(error)
            continue
        assert len(table) == lump.count and table.dtype.itemsize * lump.count <= (lump.decompressed_size or lump.size)
        assert all(field["meaning"] is None or field["meaning"] for field in table.describe())
        before = map.bytes(lump.name)
        assert table.tobytes() == before[: table.nbytes] or "BIG" in str(table.dtype)
        raw = table.view(numpy.ndarray).view(f"V{table.dtype.itemsize}")
        flipped = bytes(byte ^ 0xFF for byte in raw[0].tobytes())
        old = raw[0].tobytes()
        raw[0] = numpy.void(flipped)
        assert map.changed == [lump.name], lump
        raw[0] = numpy.void(old)
        assert map.changed == []


def test_a_table_is_the_map() -> None:
    with bspkit.open(MAPS / "q3" / "own_rooms.bsp") as map:
        planes = map.table("planes")
        assert planes["distance"][0] == map.get("PLANES[0].distance")[0]
        planes["distance"][0] = 5
        assert map.get("PLANES[0].distance") == {0: 5.0} and map.table("PLANES")["distance"][0] == 5
        map.set("PLANES[0].distance=6")
        assert map.table("planes")["distance"][0] == 6 and planes["distance"][0] == 6
        planes[:]["distance"] += 1
        assert map.get("PLANES[0].distance") == {0: 7.0}
        copy = planes.copy()
        copy["distance"][0] = 99
        assert map.get("PLANES[0].distance") == {0: 7.0}
        map.revert()
        assert map.changed == [] and map.table("planes")["distance"][0] != 7
        texinfo = [field for field in map.table("surfaces").describe() if field["name"] == "shader"]
        assert texinfo[0]["meaning"].startswith("index in SHADERS")


def test_light() -> None:
    for path in own_maps():
        try:
            map = bspkit.open(path)
            light = map.light
        except bspkit.BspError:
            continue
        for lights in light.sets:
            for face in lights[:3]:
                pixels, linear = face.pixels, face.linear
                assert pixels.shape[:2] == linear.shape[:2] == face.size[::-1]
                face.pixels = pixels
                face.linear = linear
                assert map.changed == [], path
                pixels[0, 0] = [9, 8, 7, 1][: pixels.shape[2]]
                face.pixels = pixels
                assert numpy.array_equal(face.pixels, pixels) and map.changed
                with pytest.raises(ValueError, match="expected"):
                    face.pixels = pixels[:, :0]
                map.revert()
                light = map.light
                break
        with pytest.raises(bspkit.NotFoundError) if light.sets else pytest.raises(LookupError):
            light.sets[0]._native.read((0, 1 << 30, 0, 0, 0, 0)) if light.sets else light.faces


def test_textures() -> None:
    with bspkit.open(MAPS / "goldsrc" / "own_rooms.bsp") as map:
        texture = next(texture for texture in map.textures if not texture.is_missing and texture.is_embedded)
        assert map.textures[texture.name].index == texture.index
        pixels, palette = texture.pixels, texture.palette
        assert pixels is not None and palette is not None and pixels.shape == texture.size[::-1]
        texture.set_image(pixels, palette)
        texture.pixels = numpy.zeros_like(pixels)
        assert map.changed and not numpy.any(texture.pixels) and not numpy.any(texture.level(3))
        texture.name = "other"
        assert map.textures["OTHER"].index == texture.index
        with pytest.raises(ValueError, match="uint8"):
            texture.pixels = [[1.5]]
        with pytest.raises(KeyError):
            map.textures["nothing"]


def test_visibility() -> None:
    for family in ("q2", "q3", "goldsrc", "source"):
        for path in sorted((MAPS / family).glob("*.bsp")):
            with bspkit.open(path) as map:
                try:
                    vis = map.visibility
                except bspkit.BspError:
                    continue
                matrix = vis.pvs
                assert matrix.shape == (len(vis), len(vis)) and matrix.dtype == bool
                vis.pvs = matrix
                assert map.changed == []
                if not len(vis) or map.lumps[0].size == 0 or matrix.all():
                    continue
                a, b = numpy.argwhere(~matrix)[-1]
                if family == "goldsrc":
                    # Leafs without visibility: the first one, and those of brush models.
                    with pytest.raises(bspkit.BspError):
                        vis.set(int(a), int(b), True)
                    continue
                matrix[a, b] = True
                vis.pvs = matrix
                assert vis.sees(int(a), int(b)) and numpy.array_equal(map.visibility.pvs, matrix)


NAMES = st.sampled_from(["a.txt", "A.TXT", "sound/b.wav", "sound\\b.wav", "materials/c.vmt", "d"])
STEPS = st.lists(st.tuples(st.sampled_from(["set", "delete", "compress", "store"]), NAMES, st.binary(max_size=200)))


def folded(name: str) -> str:
    return name.replace("\\", "/").lower()


@settings(max_examples=80, deadline=None)
@given(STEPS)
def test_embedded_files_are_a_dictionary(steps: list[tuple[str, str, bytes]]) -> None:
    map = bspkit.open(SOURCE)
    pak = map.pak
    model = {folded(name): data for name, data in pak.items()}
    for step, name, data in steps:
        match step:
            case "set":
                pak[name] = data
                model[folded(name)] = data
            case "delete":
                assert (name in pak) == (folded(name) in model)
                if name in pak:
                    del pak[name]
                    del model[folded(name)]
            case "compress":
                pak.compress()
            case "store":
                pak.store()
    assert {folded(name): data for name, data in pak.items()} == model
    saved = bspkit.open(map.to_bytes())
    assert {folded(name): data for name, data in saved.pak.items()} == model


def test_embedded_files_and_folders(tmp_path: Path) -> None:
    map = bspkit.open(SOURCE)
    pak = map.pak
    for name in list(pak):
        del pak[name]
    pak["Sound/Hit.wav"] = b"RIFF"
    pak.update({"a.vmt": b"x" * 500})
    assert len(pak) == 2 and pak.select("*.vmt") == ["a.vmt"] and pak.compress().changed == 1
    assert [(file.name, file.size) for file in pak.files()][1] == ("a.vmt", 500)
    written = pak.extract(tmp_path / "out")
    assert sorted(path.name for path in written) == ["Hit.wav", "a.vmt"]
    assert pak.sync(tmp_path / "out") == (0, 0, 0)
    (tmp_path / "out" / "new.txt").write_text("new")
    assert pak.sync(tmp_path / "out") == (1, 0, 0) and pak["NEW.txt"] == b"new"
    assert pak.add_folder(tmp_path / "out") == 3
    pak.rename("new.txt", "old.txt")
    assert "new.txt" not in pak and pak.pop("old.txt") == b"new"
    with pytest.raises(KeyError):
        pak["new.txt"]
    with pytest.raises(TypeError, match="bytes"):
        pak["x"] = "text"  # type: ignore[assignment]
    with pytest.raises(bspkit.RefusedError):
        pak["../x"] = b""
    (tmp_path / "link").symlink_to(tmp_path)
    (tmp_path / "out" / "sound").mkdir(exist_ok=True)
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "Sound").symlink_to(tmp_path)
    pak["Sound/Hit.wav"] = b"RIFF"
    with pytest.raises(bspkit.RefusedError, match="symbolic link"):
        pak.extract(tmp_path / "in")


def empty_pak() -> tuple[bspkit.Map, bspkit.Pak]:
    map = bspkit.open(SOURCE)
    for name in list(map.pak):
        del map.pak[name]
    return map, map.pak


def test_files_are_compressed_by_a_policy() -> None:
    map, pak = empty_pak()
    pak.update({name: b"x" * 1000 for name in ("a.vmt", "b.vtf", "c/d.vtf", "e.wav")})
    done = pak.compress({"**": "lzma", "*.vtf": "stored", "c/**": "keep"})
    methods = [(file.name, file.method) for file in pak.files()]
    assert methods == [("a.vmt", "lzma"), ("b.vtf", "stored"), ("c/d.vtf", "stored"), ("e.wav", "stored")]
    assert (done.changed, done.kept, done.before, done.failed) == (1, 2, 1000, []) and done.after < 100
    assert pak.compress(["*.vtf"]).changed == 2 and pak.store("c/**").changed == 1
    assert [file.method for file in pak.files()] == ["lzma", "lzma", "stored", "stored"]
    assert dict(bspkit.open(map.to_bytes()).pak) == dict(pak)
    with pytest.raises(bspkit.ArgumentError, match="not a way to store"):
        pak.compress({"**": "zip"})


def test_times_of_files() -> None:
    _, pak = empty_pak()
    pak["a.txt"] = pak["b.txt"] = b""
    assert [file.time for file in pak.files()] == [None, None]
    when = datetime(2013, 6, 20, 12, 34, 56)
    assert pak.set_time(when, "a.txt") == 1 and pak.set_time("1999-01-02", "b.txt") == 1
    assert [file.time for file in pak.files()] == [when, datetime(1999, 1, 2)]
    assert pak.set_time(None) == 2 and pak.files()[0].time is None
    with pytest.raises(bspkit.ArgumentError, match="not a time"):
        pak.set_time("yesterday")


def test_extracted_files_stay_in_their_folder(tmp_path: Path) -> None:
    _, pak = empty_pak()
    pak.update({"good.txt": b"1", "con.txt": b"2", "a?.txt": b"3"})
    with pytest.raises(bspkit.RefusedError, match="cannot extract") as caught:
        pak.extract(tmp_path)
    assert caught.value.hint is not None and "1 more" in caught.value.hint
    assert [path.name for path in tmp_path.iterdir()] == ["good.txt"]
    (tmp_path / "good.txt").write_bytes(b"other")
    with pytest.raises(bspkit.RefusedError, match="exists with other content"):
        pak.extract(tmp_path, "good.txt")
    assert pak.extract(tmp_path, "good.txt", force=True) == [tmp_path / "good.txt"]
    assert (tmp_path / "good.txt").read_bytes() == b"1"


def test_a_folder_that_cannot_be_added_adds_nothing(tmp_path: Path) -> None:
    _, pak = empty_pak()
    (tmp_path / "a.txt").write_bytes(b"")
    (tmp_path / "z").symlink_to(tmp_path)
    with pytest.raises(bspkit.RefusedError, match="symbolic link"):
        pak.add_folder(tmp_path)
    assert len(pak) == 0


def test_light_and_palettes_are_what_a_map_can_have() -> None:
    map = bspkit.open(MAPS / "goldsrc" / "own_rooms.bsp")
    face = map.light.faces[0]
    for wrong in (numpy.nan, numpy.inf, -1.0):
        with pytest.raises(ValueError, match="finite numbers from 0"):
            face.linear = face.linear * 0 + wrong
    texture = map.textures[1]
    pixels = numpy.full((32, 16), 200, numpy.uint8)
    for palette in (numpy.full((256, 3), 300.7), numpy.full((256, 3), -5)):
        with pytest.raises(ValueError, match="whole numbers from 0 to 255"):
            texture.set_image(pixels, palette)
    with pytest.raises(ValueError, match="shape of the palette"):
        texture.set_image(pixels, numpy.zeros((3, 256), numpy.uint8))
    assert map.changed == []


def test_pairs_of_new_entities_may_be_lists_and_errors_say_what_is_wrong() -> None:
    map = bspkit.open(SOURCE)
    map.entities.append([["classname", "light"], ("light", 5)])  # type: ignore[list-item]
    assert map.entities[-1]["light"] == "5"
    with pytest.raises(bspkit.ArgumentError, match="NaN"):
        map.entities.append({"classname": "light", "a": float("nan")})
    with pytest.raises(TypeError, match="pairs of a key and a value"):
        map.entities.append(["ab"])  # type: ignore[list-item]

def test_light_of_a_face_is_never_that_of_another_one() -> None:
    for name in ("q2/own_rooms.bsp", "source/room_v20.bsp"):
        game = bspkit.open(MAPS / name)
        held = list(game.light.faces)
        game.duplicate("FACES", 0)
        for face in held:
            try:
                now = game.light.faces.face(face.index)
            except KeyError:
                now = None
            try:
                pixels = face.pixels
            except bspkit.NotFoundError as error:
                assert "take the light of" in str(error)
            else:
                assert now is not None and numpy.array_equal(pixels, now.pixels)
        assert any(_is_stale(face) for face in held), name


def _is_stale(face: LightFace) -> bool:
    try:
        face.pixels = numpy.zeros_like(face.pixels)
    except bspkit.NotFoundError:
        return True
    return False


def test_a_texture_is_never_another_one() -> None:
    game = bspkit.open(MAPS / "q1/own_rooms.bsp")
    held = list(game.textures)
    game.prune()
    assert len(game.textures) < len(held)
    for texture in held:
        with pytest.raises(bspkit.NotFoundError, match="added or removed textures"):
            texture.name = "renamed"
        with pytest.raises(bspkit.NotFoundError):
            texture.set_image(numpy.zeros((16, 16), numpy.uint8))


def test_a_matrix_has_the_shape_of_the_map() -> None:
    seen = bspkit.open(MAPS / "q2/own_rooms.bsp").visibility
    count = len(seen)
    before = seen.pvs
    shapes = [numpy.zeros(shape, bool) for shape in ((count * count,), (count, count, 1))]
    for wrong in (*shapes, numpy.full((count, count), "x")):
        with pytest.raises(ValueError):
            seen.pvs = wrong
    with pytest.raises(ValueError):
        seen.pvs = numpy.full((count, count), 0.5)
    assert numpy.array_equal(seen.pvs, before)
    assert seen.set_matrix("pvs", before.astype(numpy.uint8)) == 0
    # A row that cannot be set leaves the others as they were.
    game = bspkit.open(MAPS / "q1/own_rooms.bsp")
    matrix = game.visibility.pvs
    matrix[3, 3], matrix[5, 0] = not matrix[3, 3], True
    with pytest.raises(bspkit.NotFoundError):
        game.visibility.pvs = matrix
    assert game.changed == []


def test_what_is_done_is_in_the_map(tmp_path: Path) -> None:
    """Edits that were lost, or of which something was."""
    map = bspkit.open(SOURCE)
    table = map.table("LIGHTING")
    face = map.light.faces[0]
    old = table[2].tolist()
    pixels = face.pixels
    pixels[:] = (10, 20, 30, 1)
    face.pixels = pixels
    assert table[2].tolist() == (10, 20, 30, 1)
    table[2] = old
    assert map.table("LIGHTING")[2].tolist() == old

    text = map.entities.text.rstrip(b"\0")
    map.entities.text = text + b'{\n"classname" "info_null"\n}\n'
    assert map.bytes("ENTITIES").endswith(b"}\n\0")

    numbers = numpy.arange(64, dtype="<u2")
    map = bspkit.open(MAPS / "q2" / "own_rooms.bsp")
    for buffer in (memoryview(numbers.tobytes()).cast("H"), numbers, numbers.tobytes(), bytearray(numbers.tobytes())):
        map.set_bytes("POP", buffer)
        assert map.bytes("POP") == numbers.tobytes()
    with pytest.raises(TypeError):
        map.set_bytes("POP", [1, 2])  # type: ignore[arg-type]


def test_a_folder_with_two_files_of_one_name_is_refused(tmp_path: Path) -> None:
    (tmp_path / "A.txt").write_text("1")
    (tmp_path / "a.txt").write_text("2")
    map = bspkit.open(SOURCE)
    before = list(map.pak)
    with pytest.raises(bspkit.RefusedError, match="the same name for engines"):
        map.pak.add_folder(tmp_path)
    assert list(map.pak) == before


def test_one_lump_is_not_reverted_after_others_follow_it() -> None:
    map = bspkit.open(MAPS / "q2" / "own_rooms.bsp")
    before = map.to_bytes()
    map.reorder("PLANES", [*range(2, len(map.table("PLANES"))), 0, 1])
    with pytest.raises(bspkit.RefusedError, match="one lump alone"):
        map.revert("PLANES")
    with pytest.raises(bspkit.RefusedError, match="one lump alone"):
        map.revert("ENTITIES")
    map.revert()
    assert map.to_bytes() == before
    map.set("FACES[0].side=0")
    map.revert("FACES")


def test_games_that_do_not_read_compressed_files_are_said() -> None:
    map = bspkit.open(MAPS / "source" / "room_l4d2.bsp")
    with pytest.warns(UserWarning, match="Left 4 Dead 2"):
        map.pak.compress()
    map.pak.store()


def test_a_texture_gets_no_empty_name() -> None:
    map = bspkit.open(MAPS / "q1" / "own_rooms.bsp")
    with pytest.raises(bspkit.RefusedError, match="empty"):
        map.textures["own_floor"].name = ""


def test_files_of_rules_need_the_name_of_the_map() -> None:
    rules = MAPS.parent.parent / "examples" / "rules" / "stripper"
    data = (MAPS / "q2" / "own_rooms.bsp").read_bytes()
    with pytest.raises(bspkit.RefusedError, match="no name"):
        bspkit.open(data).apply_rules(rules)
    bspkit.open(data).apply_rules(rules, name="own_rooms")


def test_a_source_has_no_number_that_is_none() -> None:
    source = bspkit.open(MAPS / "q1" / "own_rooms.bsp").decompile(format="quake")
    entities = bspkit.read_source(source.text, "quake")
    entities[0]["brushes"][0]["sides"][0]["points"][0][0] = float("nan")
    with pytest.raises(bspkit.ArgumentError, match="nan"):
        bspkit.write_source(entities, "quake")
