"""Runs the program, and keeps the maps and files that the runs need."""

import collections
import importlib.util
import json
import re
import shutil
import subprocess
from pathlib import Path

import commands
import maps

HERE = Path(__file__).resolve().parent


def sibling(path):
    spec = importlib.util.spec_from_file_location("peers", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


# Its small process starts the programs, so that their peak of memory is their own.
peers = sibling(HERE.parent / "peers/measure.py")

# What the maps may take on the disk before the oldest go.
SPACE = 4 << 30

Run = collections.namedtuple("Run", "code seconds cpu memory out err path n")


class Failure(RuntimeError):
    pass


class Program:
    """Runs the program and makes the files of the rows."""

    def __init__(self, program, folder):
        self.program, self.folder = program.absolute(), folder.absolute()
        shutil.rmtree(self.folder, ignore_errors=True)
        self.folder.mkdir(parents=True)
        self.made, self.used, self.clock = {}, {}, 0
        self.counter = self.find_counter()

    def find_counter(self):
        """Words before a command that count its instructions, and where the number is: perf, or valgrind."""
        counters = [
            (["perf", "stat", "-x,", "-e", "instructions:u"], r"^(\d+),.*instructions"),
            (
                ["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null", "--trace-children=yes"],
                r"Collected : (\d+)",
            ),
        ]
        for words, pattern in counters:
            if shutil.which(words[0]):
                done = subprocess.run([*words, "true"], capture_output=True, text=True)
                if re.search(pattern, done.stderr, re.M):
                    return words, pattern
        return None

    def run(self, words, n=0, path=None, out=None, counter=()):
        """Runs the program once. `path` is the file or folder that it writes."""
        to, err = out or self.folder / "stdout", self.folder / "stderr"
        # `env` becomes the program, so the time is that of the program.
        command = [
            "env",
            f"VISUAL={HERE / 'editor'}",
            f"TMPDIR={self.folder}",
            *counter,
            str(self.program),
            *map(str, words),
        ]
        peers.STARTED.stdin.write(json.dumps([command, str(to), str(err)]) + "\n")
        peers.STARTED.stdin.flush()
        code, seconds, cpu, memory, _ = json.loads(peers.STARTED.stdout.readline())
        return Run(code, seconds, cpu, memory, b"" if out else to.read_bytes(), err.read_bytes(), path, n)

    def make(self, *words, out=None, code=0):
        done = self.run(words, out=out)
        if done.code != code:
            raise Failure(
                f"`{' '.join(map(str, words[:2]))}` for a file of the row: status {done.code}: {done.err[:300]!r}"
            )

    def at(self, name, n):
        """The path of a map or file of this size; it is made at first."""
        self.clock += 1
        self.used[name, n] = self.clock
        if (name, n) not in self.made:
            path = self.folder / "files" / f"{name}_{n}"
            path.parent.mkdir(exist_ok=True)
            if hasattr(maps, name):
                path = path if name in FOLDERS else path.with_suffix(EXTENSIONS.get(name, ".bsp"))
                getattr(maps, name)(path, n)
            else:
                # A file of the program: what it makes has the file system's limits and no others.
                make = lambda *words, **options: self.make(*words, **options)
                make.program = self.program
                path = getattr(commands, name)(make, path, lambda other: str(self.at(other, n)))
            self.made[name, n] = path
        return self.made[name, n]

    def make_room(self):
        """Removes the files that were not used for the longest time."""
        sizes = {key: taken(path) for key, path in self.made.items()}
        for key in sorted(self.made, key=lambda key: self.used[key]):
            if sum(sizes.values()) > SPACE:
                remove(self.made.pop(key))
                sizes.pop(key)


FOLDERS = {"folder", "damaged", "loose_files", "loose_materials"}
EXTENSIONS = {"wad": ".wad", "rules": ".cfg", "few_rules": ".cfg", "script": ".rhai"}


def taken(path):
    """What a file or folder takes on the disk."""
    if path.is_dir():
        return sum(file.stat().st_blocks * 512 for file in path.rglob("*"))
    return path.stat().st_blocks * 512 if path.exists() else 0


def remove(path):
    for each in path.parent.glob(path.name + "*"):
        shutil.rmtree(each) if each.is_dir() else each.unlink()
