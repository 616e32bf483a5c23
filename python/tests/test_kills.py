"""A kill and an error at the calls of the system in a save of the module: the file is the old one or the new one."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import bspkit
import pytest

MAP = Path(__file__).parents[2] / "tests/maps/q3/own_rooms.bsp"
# The module is loaded before the mark: an error while Python starts says nothing about a save.
SAVE = """
import os, sys, bspkit
bsp = bspkit.open("map.bsp")
bsp.entities[0]["message"] = "a longer text"
os.path.exists("begins")
bsp.save("map.bsp", layout=sys.argv[1])
"""
CALLS = ["openat", "write", "lseek", "fdatasync", "fsync", "flock", "ftruncate", "rename", "renameat2", "linkat", "unlink"]


def traced(folder: Path, layout: str, call: str, fault: str = "") -> tuple[int, str, list[str]]:
    """The exit status, the messages, and the calls after the mark."""
    log = folder.parent / "log"
    words = ["strace", "-f", "-qq", "-o", str(log), "-e", f"trace={call},stat,newfstatat,access,faccessat2"]
    words += ["-e", f"inject={call}:{fault}"] if fault else []
    run = subprocess.run([*words, sys.executable, "-c", SAVE, layout], cwd=folder, capture_output=True, text=True)
    return run.returncode, run.stderr, log.read_text(errors="replace").splitlines()


def places(folder: Path, layout: str, call: str) -> range:
    """Which calls of a kind belong to the save."""
    status, err, lines = traced(folder, layout, call)
    assert status == 0, err
    mark = next(at for at, line in enumerate(lines) if '"begins"' in line)
    own = [at for at, line in enumerate(lines) if re.match(rf"\d+ +{call}\(", line)]
    before = sum(at < mark for at in own)
    return range(before + 1, len(own) + 1)


@pytest.mark.skipif(shutil.which("strace") is None, reason="strace is not installed")
@pytest.mark.parametrize("layout", ["keep", "patch"])
def test_a_fault_in_a_save_leaves_the_old_or_the_new_file(tmp_path: Path, layout: str) -> None:
    old = MAP.read_bytes()
    folder = tmp_path / "folder"
    faults = 0

    def room() -> Path:
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir()
        (folder / "map.bsp").write_bytes(old)
        return folder

    for call in CALLS:
        for nth in places(room(), layout, call):
            for fault in ("error=EIO", "error=ENOSPC", "signal=SIGKILL"):
                status, err, _ = traced(room(), layout, call, f"{fault}:when={nth}")
                faults += 1
                what = f"{layout}: {fault} at {call} {nth}: {status}, {err}"
                bsp = bspkit.open(folder / "map.bsp")
                assert bsp.entities[0].get("message") in ("rooms (q3), own fixture", "a longer text"), what
                left = [name for name in os.listdir(folder) if name != "map.bsp"]
                if fault != "signal=SIGKILL":
                    assert not left, what
                    assert status == 0 or "bspkit.FileError: " in err, what
                    assert status == 0 or layout != "patch" or (folder / "map.bsp").read_bytes() == old, what
    assert faults > 15
