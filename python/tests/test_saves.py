"""Saves: a map is edited and saved again and again, and what other programs do to its file is neither lost nor taken for it."""

import os
import subprocess
import sys
from pathlib import Path

import bspkit
import pytest
from conftest import MAPS, own_maps


@pytest.fixture
def place(q3: Path, tmp_path: Path) -> Path:
    path = tmp_path / "rooms.bsp"
    path.write_bytes(q3.read_bytes())
    return path


def write_elsewhere(path: Path, message: str) -> None:
    """Another process edits the map."""
    code = "import bspkit, sys; m = bspkit.open(sys.argv[1]); m.entities[0]['elsewhere'] = sys.argv[2]; m.save()"
    subprocess.run([sys.executable, "-c", code, str(path), message], check=True, timeout=100)


@pytest.mark.parametrize("mapped", [False, True])
@pytest.mark.parametrize("path", own_maps(), ids=lambda path: path.name)
def test_an_edit_and_a_save_again_and_again(path: Path, mapped: bool, tmp_path: Path) -> None:
    target = tmp_path / "rooms.bsp"
    target.write_bytes(path.read_bytes() + (bytes(300_000) if mapped and path.parent.name == "q3" else b""))
    try:
        map = bspkit.open(target, map=mapped)
    except bspkit.BspError as error:
        pytest.skip(str(error))
    if not len(map.entities) or map.entities[0].classname is None:
        pytest.skip("no entities")
    world = map.entities[0]
    for step in range(4):
        world["step"] = step
        added = map.entities.append({"classname": "info_null", "step": step})
        report = map.save(force=True)
        assert not report.unchanged and map.changed == [] and map.path == target
        assert (world["step"], added["step"], added.index) == (str(step), str(step), len(map.entities) - 1)
        again = bspkit.open(target)
        assert again.to_bytes() == target.read_bytes() == map.to_bytes()
        assert again.entities[0]["step"] == again.entities[-1]["step"] == str(step)
    assert map.save(force=True).unchanged
    world["step"] = "lost"
    map.revert()
    assert map.entities[0]["step"] == "3"


def test_a_save_to_another_path_is_the_map_from_then_on(place: Path, tmp_path: Path) -> None:
    old, other = place.read_bytes(), tmp_path / "other.bsp"
    with bspkit.open(place) as map:
        map.entities[0]["message"] = "one"
        map.save(other)
        assert (map.path, map.changed) == (other, [])
        map.entities[0]["message"] = "two"
        map.save()
        map.save(other, backup=".bak")
        map.entities[0]["message"] = "three"
        assert map.save(backup=".bak").backup == tmp_path / "other.bsp.bak.1"
    assert place.read_bytes() == old
    assert bspkit.open(other).entities[0]["message"] == "three"
    assert bspkit.open(tmp_path / "other.bsp.bak.1").entities[0]["message"] == "two"
    with bspkit.open(old) as map:
        map.entities[0]["message"] = "of bytes"
        map.save(other)
        map.entities[0]["message"] = "of a file"
        map.save()
    assert bspkit.open(other).entities[0]["message"] == "of a file"


def test_the_working_folder_does_not_matter(place: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    map = bspkit.open("rooms.bsp")
    (tmp_path / "sub").mkdir()
    os.chdir("sub")
    map.entities[0]["message"] = "here"
    map.save()
    assert map.path == Path("rooms.bsp") and os.listdir(".") == []
    assert bspkit.open(place).entities[0]["message"] == "here"


@pytest.mark.parametrize("saved_before", [False, True])
def test_what_another_program_saved_is_not_lost(place: Path, tmp_path: Path, saved_before: bool) -> None:
    map = bspkit.open(place)
    if saved_before:
        map.entities[0]["message"] = "before"
        map.save()
    write_elsewhere(place, "theirs")
    theirs = place.read_bytes()
    map.entities[0]["message"] = "mine"
    for _ in range(2):
        with pytest.raises(bspkit.RefusedError, match="another program has changed") as caught:
            map.save()
        assert caught.value.hint is not None and place.read_bytes() == theirs
        # What was refused is still pending.
        assert map.changed == ["ENTITIES"] and map.entities[0]["message"] == "mine"
    map.save(tmp_path / "mine.bsp")
    map.entities[0]["message"] = "forced"
    report = map.save(place, force=True, backup=".bak")
    assert report.backup is not None and report.backup.read_bytes() == theirs
    assert "elsewhere" not in bspkit.open(place).entities[0]
    map.entities[0]["message"] = "goes on"
    map.save()
    assert bspkit.open(place).entities[0]["message"] == "goes on"


def test_force_saves_over_what_another_program_saved(place: Path) -> None:
    map = bspkit.open(place)
    write_elsewhere(place, "theirs")
    map.entities[0]["message"] = "mine"
    map.save(force=True)
    assert bspkit.open(place).entities[0]["message"] == "mine"
    map.entities[0]["message"] = "again"
    map.save()
    write_elsewhere(place, "theirs")
    with pytest.raises(bspkit.RefusedError):
        map.save()


def test_arrays_and_files_stay_part_of_a_map_that_was_saved(source: Path, tmp_path: Path) -> None:
    path = tmp_path / "room.bsp"
    path.write_bytes(source.read_bytes())
    map = bspkit.open(path)
    planes, pak, light = map.table("PLANES"), map.pak, map.light
    for step in range(3):
        planes["distance"][0] = step
        pak["own/step.txt"] = str(step).encode()
        page = light.faces[0]
        page.linear = page.linear * 0.5
        map.save()
        again = bspkit.open(path)
        assert again.table("PLANES")["distance"][0] == step and again.pak["own/step.txt"] == str(step).encode()
        assert map.changed == [] and (light.faces[0].pixels == again.light.faces[0].pixels).all()


def test_a_save_that_fails_leaves_the_edits_pending(place: Path, tmp_path: Path) -> None:
    map = bspkit.open(place)
    map.entities[0]["message"] = "kept"
    with pytest.raises(bspkit.FileError):
        map.save(tmp_path / "no" / "such" / "folder.bsp")
    assert map.changed == ["ENTITIES"] and map.path == place
    assert map.save(dry_run=True).edits and map.changed == ["ENTITIES"]
    map.save()
    assert bspkit.open(place).entities[0]["message"] == "kept"


def test_the_bytes_of_a_map_are_refused_as_a_save_is(tmp_path: Path) -> None:
    map = bspkit.open(MAPS / "q2" / "own_rooms.bsp")
    map.set("FACES[3].texinfo=500")
    with pytest.raises(bspkit.RefusedError, match="index-range") as one:
        map.to_bytes()
    with pytest.raises(bspkit.RefusedError) as other:
        map.save(tmp_path / "out.bsp")
    assert str(one.value) == str(other.value)
    data = map.to_bytes(force=True)
    map.save(tmp_path / "out.bsp", force=True)
    assert (tmp_path / "out.bsp").read_bytes() == data
    # A damaged map: its directory claims more than the file has.
    cut = bspkit.open((MAPS / "q2" / "own_rooms.bsp").read_bytes()[:-5000])
    assert len(cut.to_bytes()) > 0
    cut.set("PLANES[0].distance=7")
    for save in (cut.to_bytes, lambda: cut.save(tmp_path / "cut.bsp")):
        with pytest.raises(bspkit.DamagedError):
            save()
    assert cut.to_bytes(force=True) and not (tmp_path / "cut.bsp").exists()


#: A program that writes a map by itself, which empties the file before it is written.
WRITES = """
import bspkit, sys
map = bspkit.open(sys.argv[1])
map.entities[0]["message"] = "hi"
with open(sys.argv[1], "wb") as file:
    file.write(map.to_bytes())
assert bspkit.open(sys.argv[1]).entities[0]["message"] == "hi"
with open(sys.argv[1], "r+b") as file:
    file.write(b"nothing")
    file.truncate()
assert len(map.to_bytes()) > 300_000
print("done")
"""


def test_a_file_that_is_emptied_does_not_harm_an_open_map(q3: Path, tmp_path: Path) -> None:
    path = tmp_path / "rooms.bsp"
    path.write_bytes(q3.read_bytes() + bytes(range(256)) * 2000)
    done = subprocess.run([sys.executable, "-c", WRITES, str(path)], capture_output=True, text=True, timeout=100)
    assert (done.returncode, done.stdout) == (0, "done\n"), done.stderr


@pytest.mark.skipif(sys.platform == "win32", reason="Windows maps no files")
def test_a_mapped_file_that_is_written_into_is_refused(q3: Path, tmp_path: Path) -> None:
    path = tmp_path / "rooms.bsp"
    data = q3.read_bytes() + bytes(range(256)) * 2000
    path.write_bytes(data)
    map = bspkit.open(path, map=True)
    map.entities[0]["message"] = "mine"
    os.utime(path, (1, 1))
    with open(path, "r+b") as file:
        file.seek(-10, os.SEEK_END)
        file.write(b"other")
    for save in (
        map.to_bytes,
        lambda: map.save(tmp_path / "out.bsp"),
        lambda: map.save(tmp_path / "out.bsp", force=True),
        lambda: map.save(force=True),
    ):
        with pytest.raises(bspkit.FileError, match="another program wrote into"):
            save()
    with pytest.raises(bspkit.RefusedError):
        map.save()
    assert not (tmp_path / "out.bsp").exists()


def test_files_beside_the_map_that_the_edit_makes_stale_are_warnings(place: Path) -> None:
    place.with_suffix(".ent").write_bytes(b"{}")
    map = bspkit.open(place)
    assert map.save(dry_run=True).warnings == []
    map.entities[0]["message"] = "x"
    for report in map.save(dry_run=True), map.save():
        [warning] = report.warnings
        assert warning.startswith(f"{place.with_suffix('.ent')} replaces the entities of the map")


@pytest.mark.parametrize("end", ["gz", "bz2", "ZST"])
def test_a_name_of_a_compressed_file_is_refused(tmp_path: Path, end: str) -> None:
    map = bspkit.open(MAPS / "q2" / "own_rooms.bsp")
    for dry_run in (True, False):
        with pytest.raises(bspkit.ArgumentError, match="a compressed one"):
            map.save(tmp_path / f"own.bsp.{end}", dry_run=dry_run)
    assert not list(tmp_path.iterdir())


def test_a_closed_map_is_not_entered() -> None:
    map = bspkit.open(MAPS / "q2" / "own_rooms.bsp")
    with map:
        pass
    with pytest.raises(bspkit.ClosedError), map:
        raise AssertionError
