"""What Python expects of things: exceptions of built-in kinds, sequences, indices from the end, copies, many maps."""

import copy
import errno
import io
import os
import pickle
import subprocess
import sys
import threading
import warnings
import zipfile
from collections.abc import Callable, MutableMapping, Sequence
from pathlib import Path

import bspkit
import pytest
from conftest import MAPS


def caught(work: Callable[[], object]) -> bspkit.BspError:
    with pytest.raises(bspkit.BspError) as found:
        work()
    return found.value


def test_exceptions_are_of_built_in_kinds(q3: Path, tmp_path: Path) -> None:
    map = bspkit.open(q3)
    closed = bspkit.open(q3)
    closed.close()
    cases: list[tuple[Callable[[], object], type[bspkit.BspError], tuple[type[Exception], ...]]] = [
        (lambda: bspkit.open(tmp_path / "nothing.bsp"), bspkit.FileError, (FileNotFoundError, OSError)),
        (lambda: bspkit.open(tmp_path), bspkit.FileError, (OSError,)),
        (lambda: map.save(tmp_path / "no" / "folder.bsp"), bspkit.FileError, (FileNotFoundError,)),
        (lambda: bspkit.open(b"no map"), bspkit.NotABspError, (ValueError,)),
        (lambda: map.bytes("NOTHING"), bspkit.NotFoundError, (KeyError, LookupError)),
        (lambda: map.references("PLANES", 10**6), bspkit.NotFoundError, (IndexError,)),
        (lambda: map.table("ENTITIES"), bspkit.UnsupportedError, (ValueError,)),
        (lambda: map.save(layout="tight"), bspkit.ArgumentError, (ValueError,)),  # type: ignore[arg-type]
        (lambda: map.entities[0].append("a", '"'), bspkit.RefusedError, (ValueError,)),
        (lambda: closed.lumps, bspkit.ClosedError, (ValueError,)),
    ]
    for work, kind, kinds in cases:
        error = caught(work)
        assert isinstance(error, kind) and type(error).__module__.startswith("bspkit")
        assert all(isinstance(error, builtin) for builtin in kinds), error
        # Some built-in kinds put quotes around their message, or a number before it.
        assert str(error) == error.args[0] and not str(error).startswith(("'", "[Errno"))
        assert error.kind == kind.kind != "other"
        assert error.hint is None or error.__notes__ == [f"hint: {error.hint}"]
    error = caught(lambda: bspkit.open(tmp_path / "nothing.bsp"))
    assert isinstance(error, OSError) and error.errno == 2
    if os.name == "posix" and os.geteuid() != 0:
        locked = tmp_path / "locked.bsp"
        locked.write_bytes(b"")
        locked.chmod(0)
        assert isinstance(caught(lambda: bspkit.open(locked)), PermissionError)


def test_a_map_without_light_is_a_lookup_error(q3: Path) -> None:
    light = bspkit.open(q3).light
    light.sets = []
    with pytest.raises(LookupError, match="never lit") as found:
        light.faces
    assert isinstance(found.value, bspkit.NotFoundError) and found.value.kind == "not-found"


def test_entities_are_a_sequence(q3: Path) -> None:
    entities = bspkit.open(q3).entities
    assert isinstance(entities, Sequence)
    last = entities[-1]
    assert list(reversed(entities)) == list(entities)[::-1] and next(reversed(entities)) == last
    assert (entities.count(last), entities.count("light"), entities.index(last)) == (1, 0, len(entities) - 1)
    assert entities.index(last, -1) == entities.index(last, 2, len(entities)) == len(entities) - 1
    for bounds in ((0, -1), (len(entities), None), (0, 2)):
        with pytest.raises(ValueError):
            entities.index(last, *bounds)
    before = len(entities)
    entities += [{"classname": "light"}]
    assert len(entities) == before + 1
    map = bspkit.open(q3)
    map.entities += [{"classname": "light"}]
    assert map.entities[-1].classname == "light"
    with pytest.raises(TypeError, match="map.entities"):
        map.entities = bspkit.open(q3).entities


def test_negative_numbers_count_from_the_end() -> None:
    path = MAPS / "q2" / "own_rooms.bsp"
    count = len(bspkit.open(path).table("BRUSHES"))

    def edited(work: Callable[[bspkit.Map], object]) -> bytes:
        map = bspkit.open(path)
        work(map)
        return map.to_bytes(force=True)

    pairs: list[tuple[Callable[[bspkit.Map], object], Callable[[bspkit.Map], object]]] = [
        (lambda map: map.remove("BRUSHES", -1), lambda map: map.remove("BRUSHES", count - 1)),
        (lambda map: map.remove("BRUSHES", [-1, -2]), lambda map: map.remove("BRUSHES", [count - 2, count - 1])),
        (lambda map: map.duplicate("BRUSHES", -1), lambda map: map.duplicate("BRUSHES", count - 1)),
        (lambda map: map.duplicate("BRUSHES", -3, -1), lambda map: map.duplicate("BRUSHES", count - 3, count - 1)),
        (lambda map: map.models.remove(-1), lambda map: map.models.remove(len(map.models) - 1)),
    ]
    for one, other in pairs:
        assert edited(one) == edited(other)
    map = bspkit.open(path)
    assert map.references("MODELS", -1) == map.references("MODELS", len(map.models) - 1)
    for work in (
        lambda: map.remove("BRUSHES", -count - 1),
        lambda: map.remove("BRUSHES", count),
        lambda: map.references("MODELS", -99),
        lambda: map.models.remove(-99),
        lambda: map.visibility.sees(-9999, 0),
        lambda: map.entities[0].set_nth("classname", -2, "x"),
        lambda: map.entities[0].remove_nth("classname", 1),
    ):
        with pytest.raises(IndexError):
            work()
    assert map.changed == []
    world = map.entities[0]
    world.append("same", "one")
    world.append("same", "two")
    world.set_nth("same", -1, "last")
    world.remove_nth("same", -2)
    assert world.all("same") == ["last"]


def test_a_name_of_a_file_means_its_spelling(source: Path) -> None:
    map = bspkit.open(source)
    pak = map.pak
    assert isinstance(pak, MutableMapping)
    names = list(pak)
    pak["own/other.txt"] = b"lower"
    pak["own/x.txt"] = b"upper"
    # Two files of one name to engines, as other tools make them: renaming does not look at case.
    pak.rename("own/x.txt", "own/y.txt")
    pak["OWN/Y.TXT"] = b"same file"
    assert pak["own/y.txt"] == b"same file" and list(pak) == [*names, "own/other.txt", "own/y.txt"]
    del pak["own/y.txt"]
    with pytest.raises(KeyError):
        del pak["own/y.txt"]
    assert list(pak) == [*names, "own/other.txt"]


def test_one_of_two_files_of_one_name_is_removed(source: Path) -> None:
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w") as two, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for name in ("own/x.txt", "own/x.txt", "OWN/X.TXT"):
            two.writestr(name, b"same bytes")
    with bspkit.open(source) as map:
        map.set_bytes("PAKFILE", content.getvalue())
        del map.pak["own/x.txt"]
        assert list(map.pak) == ["own/x.txt", "OWN/X.TXT"]
        del map.pak["own/x.txt"]
        assert list(map.pak) == ["OWN/X.TXT"]


def test_the_name_that_the_paths_have_counts(source: Path, tmp_path: Path) -> None:
    path = tmp_path / "copy.bsp"
    path.write_bytes(source.read_bytes())
    (tmp_path / "game.txt").write_text("materials/own/floor.vmt\n")
    (tmp_path / "own").mkdir()
    (tmp_path / "own" / "gameinfo.txt").write_text("GameInfo { FileSystem { SearchPaths { game . } } }")
    with bspkit.open(source) as map:
        folder, file = (map.pak.missing(game=tmp_path / "own" / name) for name in ("", "gameinfo.txt"))
        assert folder == file
    with bspkit.open(path) as map, pytest.warns(UserWarning, match="room_v20"):
        sure = {file.name: file.sure for file in map.pak.unused(game=tmp_path / "game.txt")}
        assert "likely" not in sure.values(), sure
    with bspkit.open(path) as map, pytest.warns(UserWarning, match="room_v20 is the old name"):
        assert map.rename("zoo").changes


def test_files_that_are_missing_or_not_used(source: Path, tmp_path: Path) -> None:
    stock = tmp_path / "stock.txt"
    stock.write_text("materials/own/floor.vmt\n")
    content = tmp_path / "content"
    (content / "materials" / "own").mkdir(parents=True)
    with bspkit.open(source) as map:
        needs = map.needs()
        wanted = next(need for need in needs if need.kind == "material")
        data = map.pak.get(wanted.name, b'"LightmappedGeneric" { }')
        if wanted.name in map.pak:
            del map.pak[wanted.name]
        missing = map.pak.missing(tmp_path)
        assert wanted.name in [need.name for need in missing] and {need.found for need in missing} == {"nowhere"}
        assert any(need.found == "game" for need in map.needs(game=[stock])) or wanted.name != "materials/own/floor.vmt"
        with pytest.raises(bspkit.ArgumentError, match="game"):
            map.pak.missing([])
        target = content / wanted.name
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(data)
        filled = map.pak.fill(content, exclude=["*.wav"])
        assert filled.added == [wanted.name] and wanted.name not in [need.name for need in filled.missing]
        assert map.pak[wanted.name] == data
        map.pak["materials/own/nobody.vmt"] = b'"LightmappedGeneric" { }'
        unused = {file.name: file for file in map.pak.unused(game=tmp_path)}
        assert unused["materials/own/nobody.vmt"].size == 24 and wanted.name not in unused


def test_a_warning_that_is_an_error_embeds_nothing(source: Path, tmp_path: Path) -> None:
    other = tmp_path / "another_name.bsp"
    other.write_bytes(source.read_bytes())
    with bspkit.open(other) as map:
        wanted = next(need for need in map.needs(name="another_name") if need.kind == "material")
        file = tmp_path / "content" / wanted.name
        file.parent.mkdir(parents=True)
        file.write_bytes(b'"LightmappedGeneric" { }')
        if wanted.name in map.pak:
            del map.pak[wanted.name]
        before = len(map.pak)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            with pytest.raises(UserWarning, match="most paths in the map"):
                map.pak.fill(tmp_path / "content")
        assert len(map.pak) == before


def test_copies_are_refused_in_words(q3: Path, source: Path) -> None:
    map, room = bspkit.open(q3), bspkit.open(source)
    things = [map, map.entities, map.entities[0], map.models, room.pak, map.light, iter(map.entities), map.lumps[0]]
    for thing in things:
        for work in (pickle.dumps, copy.deepcopy):
            with pytest.raises(TypeError, match="pickle"):
                work(thing)
    for thing in (map, map.entities, map.entities[0], map.entities[0].raw):
        with pytest.raises(TypeError, match="cannot be pickled"):
            copy.copy(thing)
    assert pickle.loads(pickle.dumps(map.table("PLANES").tobytes()))
    for error in (caught(lambda: map.bytes("NOTHING")), caught(lambda: bspkit.open("no/such/file.bsp"))):
        again = pickle.loads(pickle.dumps(error))
        assert str(again) == str(error) and again.hint == error.hint and type(again) is type(error)


#: Opens many maps, in turn and in threads, and prints the memory before and after.
MANY = """
import sys, threading
import bspkit

def memory():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * 4096

def work(count):
    for number in range(count):
        map = bspkit.open(sys.argv[1], map=number % 2 == 0)
        map.entities[0]["number"] = number
        if number % 10 == 0:
            map.to_bytes()
        if number % 3 == 0:
            map.close()

work(500)
before = memory()
work(5000)
threads = [threading.Thread(target=work, args=(1250,)) for _ in range(4)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
print(memory() - before)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="the memory is read from /proc")
def test_ten_thousand_maps_leave_no_memory_behind(q3: Path) -> None:
    program = [sys.executable, "-c", MANY, str(q3)]
    done = subprocess.run(program, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    # A map has 80 KB.
    assert int(done.stdout) < 8 << 20, done.stdout


#: A child process has the map as it was.
FORKED = """
import os, sys
import bspkit

map = bspkit.open(sys.argv[1])
map.entities[0]["message"] = "both"
child = os.fork()
if child == 0:
    map.entities[0]["message"] = "child"
    map.save(sys.argv[1])
    os._exit(0)
assert os.waitpid(child, 0)[1] == 0
assert map.entities[0]["message"] == "both"
try:
    map.save()
except bspkit.RefusedError:
    print("refused")
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
def test_a_forked_process_has_a_map_of_its_own(q3: Path, tmp_path: Path) -> None:
    path = tmp_path / "rooms.bsp"
    path.write_bytes(q3.read_bytes())
    program = [sys.executable, "-c", FORKED, str(path)]
    done = subprocess.run(program, capture_output=True, text=True, timeout=100)
    assert done.stdout == "refused\n", done.stderr
    assert bspkit.open(path).entities[0]["message"] == "child"


def test_threads_that_edit_lose_nothing_in_a_save(q3: Path, tmp_path: Path) -> None:
    path = tmp_path / "rooms.bsp"
    path.write_bytes(q3.read_bytes())
    map = bspkit.open(path)
    failures: list[Exception] = []

    def work(number: int) -> None:
        try:
            for step in range(20):
                map.entities[0][f"key{number}"] = step
                map.save()
        except Exception as error:
            failures.append(error)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures
    map.save()
    world = bspkit.open(path).entities[0]
    assert [world[f"key{number}"] for number in range(4)] == ["19"] * 4


def test_things_show_themselves(q3: Path, source: Path) -> None:
    map, room = bspkit.open(q3), bspkit.open(source)
    world = map.entities[0]
    shown = [map, map.entities, world, map.models, map.light, room.pak, room.pak.files()[0], map.lumps[0]]
    for thing in [*shown, world.raw, iter(map.entities), map.models[0]]:
        assert len(repr(thing)) < 600 and "object at 0x" not in repr(thing)
    map.close()
    for thing in shown[:3]:
        assert "closed" in repr(thing) or "removed" in repr(thing)
    pak, visibility = room.pak, room.visibility
    room.close()
    assert [repr(pak), repr(visibility)] == ["<bspkit.Pak, closed>", "<bspkit.Visibility, closed>"]


def test_errors_of_files_are_whole_in_other_processes() -> None:
    with pytest.raises(FileNotFoundError) as caught:
        bspkit.open("nothing.bsp")
    again = pickle.loads(pickle.dumps(caught.value))
    assert type(again) is type(caught.value)
    assert (again.errno, again.strerror, str(again)) == (caught.value.errno, caught.value.strerror, str(caught.value))
    assert again.errno == errno.ENOENT and isinstance(again, bspkit.FileError)


def test_a_file_is_no_folder_to_add(tmp_path: Path) -> None:
    file = tmp_path / "a.txt"
    file.write_bytes(b"a")
    map = bspkit.open(MAPS / "source" / "room_v20.bsp")
    with pytest.raises(bspkit.ArgumentError, match="is not a folder"):
        map.pak.add_folder(file)


def test_vectors_and_plain_tuples_are_added_as_vectors() -> None:
    vector = bspkit.Vector(48, 0.5, 40)
    assert (0, 0, 8) + vector == vector + (0, 0, 8) == bspkit.Vector(48, 0.5, 48)
    assert (50, 1, 40) - vector == bspkit.Vector(2, 0.5, 0)
    for wrong in (vector, "2", None):
        with pytest.raises(TypeError):
            vector * wrong  # type: ignore[operator]
    assert str(bspkit.Vector(0.1, 2, float("nan"))) == "0.1 2 nan"


def test_a_number_of_32_bits_is_as_short_as_in_the_array() -> None:
    import numpy

    entity = bspkit.open(MAPS / "q2" / "own_rooms.bsp").entities[0]
    for number, text in ((numpy.float32(0.1), "0.1"), (0.1, "0.1"), (numpy.float32(16777217), "16777216"), (0.5, "0.5"), (100 / 3, "33.333333333333336")):
        entity["own"] = number
        assert entity["own"] == text
    entity["own"] = numpy.array([0.1, 2], numpy.float32)
    assert entity["own"] == "0.1 2"


def test_textures_are_found_among_themselves() -> None:
    textures = bspkit.open(MAPS / "q1" / "own_rooms.bsp").textures
    one = textures[1]
    assert one in textures and one.name in textures and one.name.upper() in textures
    assert "none" not in textures and textures.index(one) == 1 and textures[0] != one
    assert len({one, textures[1]}) == 1


def test_a_subinterpreter_is_refused() -> None:
    interpreters = pytest.importorskip("_xxsubinterpreters")
    number = interpreters.create()
    try:
        interpreters.run_string(
            number,
            "try:\n import bspkit\nexcept ImportError as error:\n assert 'main interpreter' in str(error), error\nelse:\n raise SystemError",
        )
    finally:
        interpreters.destroy(number)


def test_a_field_of_an_output_has_no_separator_of_any_game() -> None:
    for text in ("a,b", "a\x1bb"):
        with pytest.raises(bspkit.ArgumentError):
            bspkit.Output("relay", "Trigger", text)


def test_arguments_have_the_names_of_the_types(q3: Path) -> None:
    with bspkit.open(q3) as map:
        assert map.entities.first(class_="worldspawn") == map.entities[0]
