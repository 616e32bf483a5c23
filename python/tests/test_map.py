"""Maps: opening, saving, errors, and what happens after a map is closed."""

import io
import json
import pickle
import subprocess
import sys
import threading
from pathlib import Path

import bspkit
import pytest
from conftest import MAPS, all_maps, own_maps


def opened(path: Path) -> bspkit.Map:
    try:
        return bspkit.open(path)
    except bspkit.BspError as error:
        pytest.skip(str(error))


@pytest.mark.parametrize("path", all_maps(), ids=lambda path: path.name)
def test_a_map_without_edits_is_the_same_bytes(path: Path) -> None:
    with opened(path) as map:
        assert map.to_bytes() == path.read_bytes()
        assert map.changed == []


@pytest.mark.parametrize("path", own_maps(), ids=lambda path: path.name)
def test_laws(path: Path) -> None:
    with opened(path) as map:
        laws = map.verify()
        assert laws and set(laws.values()) <= {"pass", "skipped"}


@pytest.mark.parametrize("path", own_maps(), ids=lambda path: path.name)
def test_an_edit_taken_back_is_the_same_bytes(path: Path) -> None:
    with opened(path) as map:
        if not len(map.entities):
            pytest.skip("no entities")
        world = map.entities[0]
        world.append("bspkit_test", "1")
        assert map.to_bytes() != path.read_bytes()
        del world["bspkit_test"]
        assert map.to_bytes() == path.read_bytes()


def test_sources_of_a_map(q3: Path) -> None:
    data = q3.read_bytes()
    for source in (str(q3), q3, data, bytearray(data), io.BytesIO(data)):
        assert bspkit.open(source).dialect == "quake3"
    with q3.open("rb") as file:
        assert bspkit.open(file).version == 46
    with q3.open(encoding="latin-1") as file, pytest.raises(TypeError, match="mode"):
        bspkit.open(file)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="path, bytes or a file"):
        bspkit.open(7)  # type: ignore[arg-type]


def test_save(q3: Path, tmp_path: Path) -> None:
    out = tmp_path / "out.bsp"
    with bspkit.open(q3) as map:
        map.entities[0]["message"] = "The Place"
        report = map.save(out, dry_run=True)
        assert not out.exists() and report.ranges
        report = map.save(out)
        assert str(report) == "1 entity, 1 value; ENTITIES 1757 -> 1743 bytes, in place"
        assert (report.edits, report.unchanged) == ([("ENTITIES", 1757, 1743)], False)
        assert map.entities[0]["message"] == "The Place"
    with bspkit.open(out) as map:
        map.entities[0]["message"] = "Another"
        report = map.save(backup=".bak")
        assert report.backup == tmp_path / "out.bsp.bak"
    assert bspkit.open(out).entities[0]["message"] == "Another"
    with pytest.raises(bspkit.ArgumentError, match="path"):
        bspkit.open(q3.read_bytes()).save()
    with pytest.raises(bspkit.ArgumentError, match="layout"):
        bspkit.open(q3).save(out, layout="tight")  # type: ignore[arg-type]


def test_a_save_by_patch_writes_only_the_changes(tmp_path: Path) -> None:
    out = tmp_path / "out.bsp"
    # Large enough to be mapped.
    with bspkit.open(MAPS / "q2" / "own_rooms.bsp") as map:
        map.set_bytes("LIGHTING", map.bytes("LIGHTING") * 20)
        map.save(out)
    before, number = out.read_bytes(), out.stat().st_ino
    with bspkit.open(out) as map:
        for message in ["One", "Two, which is longer", "3"]:
            map.entities[0]["message"] = message
            report = map.save(layout="patch")
            assert 0 < report.written < 8000 and report.warnings == []
        vertexes = map.bytes("VERTEXES")
    after = out.read_bytes()
    assert out.stat().st_ino == number and after != before and len(after) < len(before) + 8000
    with bspkit.open(after) as map:
        assert map.entities[0]["message"] == "3" and map.bytes("VERTEXES") == vertexes
        assert set(map.verify().values()) == {"pass"}
    with bspkit.open(out) as map:
        map.entities[0]["message"] = "4"
        report = map.save(layout="patch", backup=".bak")
        assert report.warnings == ["the file was written as a whole: a backup keeps the old file"]
        assert report.written == len(out.read_bytes())


def test_a_save_that_adds_errors_is_refused(tmp_path: Path) -> None:
    with bspkit.open(MAPS / "q2" / "own_rooms.bsp") as map:
        map.set("FACES[3].texinfo=500")
        with pytest.raises(bspkit.RefusedError, match="index-range"):
            map.save(tmp_path / "out.bsp")
        report = map.save(tmp_path / "out.bsp", force=True)
        assert [finding.code for finding in report.findings] == ["index-range"]


def test_errors_have_kind_place_and_hint(q3: Path) -> None:
    with pytest.raises(bspkit.FileError) as caught:
        bspkit.open("no/such/map.bsp")
    assert caught.value.kind == "io"
    with pytest.raises(bspkit.NotABspError):
        bspkit.open(b"no map")
    with bspkit.open(q3) as map:
        with pytest.raises(bspkit.NotFoundError) as missing:
            map.bytes("ENTITES")
        assert missing.value.hint is not None and "ENTITIES" in missing.value.hint
        with pytest.raises(bspkit.UnsupportedError):
            map.table("ENTITIES")
        with pytest.raises(bspkit.RefusedError) as refused:
            map.entities[0]["message"] = 'a "quote"'
        assert refused.value.record == 0
        assert isinstance(refused.value, bspkit.BspError)


def test_a_closed_map(q3: Path) -> None:
    map = bspkit.open(q3)
    world, entities, planes = map.entities[0], map.entities, map.table("planes")
    map.close()
    map.close()
    for use in (
        lambda: map.entities,
        lambda: world["message"],
        lambda: len(entities),
        lambda: map.save("out.bsp"),
        lambda: map.references("PLANES", 0),
        lambda: map.remove("PLANES", 0),
    ):
        with pytest.raises(bspkit.ClosedError, match="closed") as caught:
            use()
        assert caught.value.kind == "closed"
    assert isinstance(caught.value, bspkit.BspError) and len(planes) == 90
    assert "closed" in repr(map)


def test_pickling_is_refused(q3: Path) -> None:
    map = bspkit.open(q3)
    for thing in (map, map.entities, map.entities[0]):
        with pytest.raises(TypeError, match="cannot be pickled"):
            pickle.dumps(thing)


def test_threads_share_a_map(q3: Path) -> None:
    map = bspkit.open(q3)
    failures = []

    def work(number: int) -> None:
        try:
            for step in range(50):
                map.entities[0][f"key{number}"] = step
                map.check()
                map.to_bytes()
        except Exception as error:
            failures.append(error)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures
    assert [map.entities[0][f"key{number}"] for number in range(4)] == ["49"] * 4


def test_a_dry_run_is_refused_as_the_save_is(q3: Path, tmp_path: Path) -> None:
    path = tmp_path / "q3.bsp"
    path.write_bytes(q3.read_bytes())
    map = bspkit.open(path)
    map.entities[0]["message"] = "The Place"
    for dry_run in (True, False):
        with pytest.raises(FileNotFoundError):
            map.save(tmp_path / "none" / "out.bsp", dry_run=dry_run)
    path.chmod(0o444)
    for dry_run in (True, False):
        with pytest.raises(bspkit.RefusedError, match="read-only"):
            map.save(dry_run=dry_run)
    map.save(dry_run=True, force=True)


def test_queries_patches_and_differences(q3: Path) -> None:
    old, new = bspkit.open(q3), bspkit.open(q3)
    new.entities[0]["message"] = "The Place"
    found = old.diff(new)
    assert found["touched"]["entities"] == 1
    assert not any(old.diff(old)["touched"].values()) and old.diff(old)["equal"] and not found["equal"]
    # Bytes around lumps count too.
    other = bspkit.open(old.to_bytes() + b"TRAILER")
    assert not old.diff(other)["equal"] and old.diff(other)["lumps"]
    old.patch(old.patch_to(new))
    assert old.to_bytes() == new.to_bytes()
    assert new.set("PLANES[0].distance=5") == 1
    assert new.get("PLANES[0].distance") == {0: 5.0}


def test_patches_find_entities_by_name(q3: Path) -> None:
    old, new, other = bspkit.open(q3), bspkit.open(q3), bspkit.open(q3)
    at = next(index for index, entity in enumerate(old.entities) if entity.classname == "info_player_deathmatch")
    new.entities[at]["light"] = "77"
    patch = old.patch_to(new)
    other.entities.insert(1, {"classname": "info_null"})
    said = other.patch(patch)
    assert len(said) == 1 and said[0].endswith(f"was #{at} and is #{at + 1}")
    assert other.entities[at + 1]["light"] == "77"
    assert new.patch(patch) == ["not applied again: the entities are already what the patch leads to"]

    moved = bspkit.open(q3)
    moved.entities[at]["origin"] = "9 9 9"
    with pytest.raises(bspkit.RefusedError, match="does not fit"):
        moved.patch(patch)
    assert moved.patch(patch, base=old) == []
    assert (moved.entities[at]["light"], moved.entities[at]["origin"]) == ("77", "9 9 9")
    moved.entities[at]["light"] = "1"
    with pytest.raises(bspkit.RefusedError, match="has changed since its base"):
        moved.patch(patch, base=old)
    moved = bspkit.open(q3)
    moved.entities[at]["origin"] = "9 9 9"
    assert "taken: " in moved.patch(patch, fuzzy=True)[0]
    with pytest.raises(bspkit.ArgumentError, match="not both"):
        moved.patch(patch, fuzzy=True, base=old)


def test_rules(q3: Path, tmp_path: Path) -> None:
    rules = tmp_path / "clean.cfg"
    rules.write_text('filter:\n{\n"classname" "light"\n}\n')
    with bspkit.open(q3) as map:
        map.entities.extend([{"classname": "light"}] * 2)
        assert map.apply_rules(rules) == [bspkit.AppliedRule(str(rules), 2, 2)]
        assert map.changed == []
        world = map.entities[0]
        with pytest.warns(UserWarning, match="is not applied again"):
            assert map.apply_rules(rules)[0].count == 0 and world.classname == "worldspawn"
        with pytest.raises(bspkit.ArgumentError, match="mode"):
            map.apply_rules(rules, mode="loose")  # type: ignore[arg-type]


def test_rules_that_match_nothing_do_not_lose_the_record(q3: Path, tmp_path: Path) -> None:
    path = tmp_path / "rooms.bsp"
    path.write_bytes(q3.read_bytes())
    (tmp_path / "add.cfg").write_text('add:\n{\n"classname" "info_null"\n}\n')
    (tmp_path / "none.cfg").write_text('{\n"classname" "nothing"\n}\n')
    with bspkit.open(path) as map:
        map.apply_rules(tmp_path / "add.cfg")
        map.apply_rules(tmp_path / "none.cfg")
        map.save()
    assert "add.cfg" in (tmp_path / "rooms.bsp.rules.json").read_text()


def test_rules_are_applied_once(q3: Path, tmp_path: Path) -> None:
    path, rules = tmp_path / "rooms.bsp", tmp_path / "rules.cfg"
    record = tmp_path / "rooms.bsp.rules.json"
    path.write_bytes(q3.read_bytes())
    rules.write_text('add:\n{\n"classname" "info_null"\n}\n')

    def apply(map: bspkit.Map, again: bool = False) -> list[int]:
        return [rule.count for rule in map.apply_rules(rules, again=again)]

    with bspkit.open(path) as map:
        count = len(map.entities)
        assert apply(map) == [1] and not record.exists()
        with pytest.warns(UserWarning, match="is not applied again"):
            assert apply(map) == [0]
        map.revert()
        assert apply(map) == [1]
        map.entities[0]["message"] = "x"
        map.save()
        assert record.exists() and len(map.entities) == count + 1
        with pytest.warns(UserWarning, match="is not applied again"):
            assert apply(map) == [0]
    with bspkit.open(path) as map:
        with pytest.warns(UserWarning, match="recorded as applied"):
            assert apply(map) == [0]
        assert map.changed == []
        assert apply(map, again=True) == [1]
        map.save()
        assert len(map.entities) == count + 2
    # The record is that of `ent apply`.
    applied = json.loads(record.read_text())["applied"]
    assert [rule["file"] for one in applied for rule in one["rules"]] == ["rules.cfg", "rules.cfg"]


def test_a_folder_of_rules(q3: Path, tmp_path: Path) -> None:
    with bspkit.open(q3) as map, pytest.raises(bspkit.ArgumentError, match="global_filters.cfg"):
        map.apply_rules(tmp_path)
    (tmp_path / "maps").mkdir()
    for name in ("global_filters.cfg", "maps/own.cfg", "maps/own_rooms.cfg", "maps/other.cfg"):
        (tmp_path / name).write_text(f'add:\n{{\n"classname" "info_null"\n"from" "{Path(name).stem}"\n}}\n')
    with bspkit.open(q3) as map:
        assert [Path(rule.file).stem for rule in map.apply_rules(tmp_path)] == ["global_filters", "own", "own_rooms"]
        assert [entity["from"] for entity in map.entities[-3:]] == ["global_filters", "own", "own_rooms"]
        map.revert()
        assert [Path(rule.file).stem for rule in map.apply_rules(tmp_path, name="other")] == ["global_filters", "other"]


def test_a_panic_is_an_exception(q3: Path) -> None:
    panic = getattr(bspkit._native, "_panic", None)
    if panic is None:
        pytest.skip("only development builds have a planted panic")
    with pytest.raises(bspkit.FaultError, match="planted beside") as caught:
        panic()
    assert isinstance(caught.value, bspkit.BspError) and caught.value.kind == "fault" and caught.value.hint is None
    map, other = bspkit.open(q3), bspkit.open(q3)
    world = map.entities[0]
    with pytest.raises(bspkit.FaultError, match="please report it with the map: planted in a map"):
        panic(map)
    # An edit may be half done, so that map is closed. All else goes on.
    with pytest.raises(bspkit.ClosedError, match="closed"):
        world["message"]
    assert map.closed and other.entities[0].classname == "worldspawn" and bspkit.open(q3).check() is not None


#: What a finalizer may do with a map. It is a program of its own, since a call that waits for itself never ends.
INTERRUPTED = """
import gc, sys, threading
import bspkit

map, other = bspkit.open(sys.argv[1]), bspkit.open(sys.argv[1])
world, rest = map.entities[0], iter(map.entities)
seen = []

class Garbage:
    def __init__(self):
        self.itself = self

    def __del__(self):
        try:
            seen.append(world.classname)
        except bspkit.BspError as error:
            seen.append(error.kind)

# Python 3.11 looks for garbage where an exception is made, later ones between two instructions.
for _ in range(100):
    gc.disable()
    Garbage()
    gc.set_threshold(1)
    gc.enable()
    try:
        map.bytes("NOTHING")
    except bspkit.NotFoundError:
        pass
gc.set_threshold(700)
gc.collect()
assert set(seen) <= {"worldspawn", "busy"} and len(seen) == 100, seen
assert "busy" in seen or sys.version_info >= (3, 12), seen

call = getattr(bspkit._native, "_call", None)
if call is not None:
    uses = [
        lambda: world["classname"],
        lambda: map.entities.append({"classname": "light"}),
        lambda: map.entities.sort(key=str),
        lambda: map.save(dry_run=True),
        lambda: map.get("PLANES[0].distance"),
        lambda: map.reorder("PLANES", []),
        lambda: next(rest),
        lambda: map.check(),
        lambda: map.closed,
        lambda: map.close(),
    ]
    for use in uses:
        try:
            call(map, use)
        except bspkit.BusyError as error:
            assert error.kind == "busy" and "finalizer" in str(error)
        else:
            raise AssertionError("the map was used twice at once")
    assert call(map, lambda: repr(map)).endswith("in use>")
    assert call(map, lambda: other.entities[0].classname) == "worldspawn"
    # Another thread waits, and goes on then.
    thread = threading.Thread(target=lambda: seen.append(len(map.lumps)))
    call(map, lambda: (thread.start(), thread.join(0.2)))
    thread.join()
    assert seen[-1] == len(map.lumps) and next(rest) == world
assert not map.closed and map.changed == []
print("done")
"""


def test_code_that_interrupts_the_work_on_a_map(q3: Path) -> None:
    program = [sys.executable, "-c", INTERRUPTED, str(q3)]
    done = subprocess.run(program, capture_output=True, text=True, timeout=100)
    assert done.stdout == "done\n", done.stderr


@pytest.mark.parametrize("path", own_maps(), ids=lambda path: path.name)
def test_a_map_becomes_its_source(path: Path) -> None:
    with opened(path) as map:
        found = map.decompile()
        assert found.format == found.report["format"] and b"worldspawn" in found.text
        assert found.report["brush_count"] > 5 and found.report["proof"]["point_share"] == 1.0
        assert map.decompile(proof=False).report["proof"] is None and map.changed == []
        with pytest.raises(bspkit.ArgumentError, match="not a format"):
            map.decompile(format="dxf")  # type: ignore[arg-type]
        assert "findings" not in found.report


def test_a_source_says_what_of_its_map_cannot_be_read() -> None:
    with bspkit.open(MAPS / "q2" / "own_rooms.bsp") as map:
        map.set("models[1].face_count=9999")
        findings = map.decompile(proof=False).report["findings"]
        assert [finding["code"] for finding in findings] == ["run-range"]


@pytest.mark.parametrize("path", own_maps(), ids=lambda path: path.name)
def test_a_source_is_read_changed_and_written(path: Path) -> None:
    with opened(path) as map:
        found = map.decompile(proof=False)
        entities = bspkit.read_source(found.text, found.format)
        assert bspkit.write_source(entities, found.format) == found.text
        assert map.prove(found.text, found.format)["point_share"] == 1.0
        world = entities[0]
        assert ["classname", "worldspawn"] in world["pairs"]
        sides = [side for brush in world["brushes"] for side in brush["sides"]]
        assert all(len(side["points"]) == 3 and side["texture"] for side in sides)
        # A brush less is another map; a text is as it was written.
        del world["brushes"][0]
        world["pairs"].append(["note", "caf\udce9"])
        less = bspkit.write_source(entities, found.format)
        assert b'"note" "caf\xe9"' in less
        proof = map.prove(less, found.format)
        assert proof["points"]["agreeing"] < proof["points"]["judged"]
        with pytest.raises(bspkit.ArgumentError, match="texture"):
            bspkit.write_source([{"brushes": [{"sides": [{"points": [[0, 0, 0]] * 3}]}]}], "quake")
        with pytest.raises(bspkit.MalformedError, match="line 1"):
            bspkit.read_source(b"{ (", "quake")


def test_rename_and_needs(source: Path) -> None:
    with bspkit.open(source) as map:
        needs = {need.name: need for need in map.needs()}
        assert needs["materials/own/floor.vmt"].kind == "material"
        done = map.rename("own_arena")
        assert ("embedded file 2: maps/room_v20.txt" not in map.pak) and "maps/own_arena.txt" in map.pak
        assert done.changes and done.left
        map.rename("room_v20", old="own_arena")
        assert map.changed == []
