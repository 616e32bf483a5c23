"""measure.py BSPKIT PYTHON CRATES FOLDER [--rounds N] [--corpus FOLDER] [--write DOCS]

Runs bspkit, other libraries and plain programs side by side, as whole processes that take turns, and prints a table in
Markdown; `--write` also writes `peers.md` and `peers.svg` into a folder. Every run has to show that it did the work: what
it printed or wrote is looked at by this file alone.
"""

import argparse
import collections
import io
import json
import lzma
import os
import platform
import shutil
import statistics
import struct
import subprocess
import sys
import time
import zipfile
from datetime import date
from pathlib import Path

HERE = Path(__file__).resolve().parent
MAPS = HERE.parent.parent / "tests/maps"

# From how many seconds on a tool is slow, and how many rounds are enough for it.
SLOW, SLOW_ROUNDS = 3, 2


# What a map has, read from its directory alone.


def lumps(data):
    """The lumps of a Source map, by number, with their places; LZMA stays as it is."""
    assert data[:4] == b"VBSP", "not a Source map"
    entries = [struct.unpack_from("<4I", data, 8 + 16 * index) for index in range(64)]
    if data[4] == 21 and entries[0][0] < 1036:
        # Left 4 Dead 2 has the version first.
        entries = [(offset, length, version, unpacked) for version, offset, length, unpacked in entries]
    return {index: (offset, unpacked(data[offset : offset + length])) for index, (offset, length, _, _) in enumerate(entries)}


def unpacked(lump):
    """A lump that is compressed has its sizes and the properties of LZMA first."""
    if lump[:4] != b"LZMA":
        return lump
    size, _ = struct.unpack_from("<2I", lump, 4)
    return lzma.decompress(lump[12:17] + struct.pack("<Q", size) + lump[17:], lzma.FORMAT_ALONE)


def plain_text(data):
    """The entity text of a map whose directory has only offsets and lengths: after the version, or after IBSP and it."""
    offset, length = struct.unpack_from("<2I", data, 8 if data[:4] == b"IBSP" else 4)
    return data[offset : offset + length]


def text_pairs(text):
    return text.count(b'"') // 4


def is_clean(old, new, before=b"", after=b""):
    """Whether only the entities differ, and in them only one span."""
    old, new = lumps(old), lumps(new)
    for index in range(64):
        (was_at, was), (is_at, now) = old[index], new[index]
        if index == 35:
            was, now = members(was, was_at), members(now, is_at)
        if index != 0 and was != now:
            return False
    was, now = old[0][1], new[0][1]
    start = next((at for at, (one, two) in enumerate(zip(was, now)) if one != two), min(len(was), len(now)))
    end = next((at for at, (one, two) in enumerate(zip(was[::-1], now[::-1])) if one != two), min(len(was), len(now)))
    span = max(len(was), len(now)) - min(end, min(len(was), len(now)) - start) - start
    return span <= 200


def members(lump, at):
    """The game lump's members, without their places."""
    if len(lump) < 4:
        return lump
    (count,) = struct.unpack_from("<I", lump)
    found = [struct.unpack_from("<IHHII", lump, 4 + 16 * index) for index in range(min(count, 64)) if 20 + 16 * index <= len(lump)]
    return [(name, flags, version, lump[max(offset - at, 0) : max(offset - at, 0) + size]) for name, flags, version, offset, size in found]


# One run of a program.

Run = collections.namedtuple("Run", "seconds cpu memory written out")


# A child's peak of memory begins with that of its parent, so that a small process of its own starts the programs.
STARTER = """
import json, os, subprocess, sys, time
for line in sys.stdin:
    command, out, err = json.loads(line)
    with open(out, "wb") as out, open(err, "wb") as err:
        start = time.perf_counter()
        child = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=out, stderr=err)
        _, status, usage = os.wait4(child.pid, 0)
        seconds = time.perf_counter() - start
    child.returncode = os.waitstatus_to_exitcode(status)
    cpu, memory, written = usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024, usage.ru_oublock * 512
    print(json.dumps([child.returncode, seconds, cpu, memory, written]), flush=True)
"""
STARTED = subprocess.Popen([sys.executable, "-S", "-c", STARTER], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)


def run(command, folder):
    """Runs a program; its time, its CPU time, its peak memory and the bytes that it gave to the disk."""
    out, err = folder / "stdout", folder / "stderr"
    STARTED.stdin.write(json.dumps([[str(word) for word in command], str(out), str(err)]) + "\n")
    STARTED.stdin.flush()
    code, *figures = json.loads(STARTED.stdout.readline())
    if code != 0:
        raise Failure((err.read_text(errors="replace").strip().splitlines() or [str(code)])[-1])
    return Run(*figures, out.read_bytes())


class Failure(Exception):
    pass


# The rows: for each tool a command, and what shows that the work was done.


class Bench:
    def __init__(self, options):
        self.bspkit, self.python, self.crates = options.bspkit.resolve(), options.python.absolute(), options.crates
        self.rounds, self.folder = options.rounds, options.folder.resolve()
        shutil.rmtree(self.folder, ignore_errors=True)
        self.folder.mkdir(parents=True)
        self.rows = []
        self.make_maps(options.corpus)

    def make_maps(self, corpus):
        room = MAPS / "source/room_v20.bsp"
        found = [path for path in (corpus.rglob("*.bsp") if corpus else []) if path.stat().st_size < 64 << 20]
        self.corpus = [path for path in sorted(found) if path.read_bytes()[:4] == b"VBSP"]
        # The largest map of each other family.
        starts = {"Quake": b"\x1d\0\0\0", "GoldSrc": b"\x1e\0\0\0", "Quake II": b"IBSP\x26\0\0\0", "Quake III": b"IBSP\x2e\0\0\0"}
        own = {"Quake": "q1", "GoldSrc": "goldsrc", "Quake II": "q2", "Quake III": "q3"}
        of = lambda start: [path for path in found if path.read_bytes()[: len(start)] == start and "damaged" not in path.name]
        largest = lambda name: max(of(starts[name]), key=lambda path: path.stat().st_size, default=MAPS / own[name] / "own_rooms.bsp")
        self.families = {name: largest(name) for name in starts}
        # Many entities: the largest text that a real map has, or one that is made here.
        many = self.folder / "many.bsp"
        lights = "".join(f'{{\n"classname" "light"\n"origin" "{at} {at % 512} 64"\n"_light" "255 255 255 {at % 300}"\n}}\n' for at in range(20000))
        text = self.folder / "lights.ent"
        text.write_text('{\n"classname" "worldspawn"\n"message" "many lights"\n}\n' + lights)
        self.ours("ent", "import", room, text, "-o", many)
        # Many files, and a large map.
        files, listed = self.folder / "files", []
        for at in range(2000):
            path = files / f"materials/own/{at % 40}/wall_{at}.vmt"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes((f'"LightmappedGeneric"\n{{\n"$basetexture" "own/wall_{at}"\n}}\n' * (1 + at % 60)).encode())
            listed += [str(path.relative_to(files)), str(path)]
        names = self.folder / "names.txt"
        names.write_text("".join(f"{line}\n" for line in listed))
        self.ours("pak", "add", room, "--list", names, "-o", self.folder / "files.bsp")
        large = self.folder / "large.bin"
        with open(large, "wb") as data:
            for _ in range(100):
                data.write(os.urandom(1 << 20))
        self.ours("pak", "add", many, f"data/large.bin={large}", "-o", self.folder / "large.bsp")
        one = self.folder / "one.txt"
        one.write_text("one file\n" * 100)

    def ours(self, *arguments):
        run([self.bspkit, "-q", *arguments], self.folder)

    def peer(self, name, task, *arguments):
        return [self.python, HERE / "tasks.py", name, task, *arguments]

    def row(self, title, tools, check, reference=None):
        """Measures tools in turns. `check` gets a run's output and the file that it wrote, and says what is wrong."""
        results = {name: [] for name in tools}
        failed = {}
        for turn in range(self.rounds + 1):
            for name, command in tools.items():
                # What takes seconds is measured less often.
                if name in failed or len(results[name]) >= SLOW_ROUNDS and median(results[name]) > SLOW:
                    continue
                out = self.folder / "out"
                shutil.rmtree(out, ignore_errors=True)
                out.unlink(missing_ok=True)
                try:
                    done = run([out if word == "OUT" else word for word in command], self.folder)
                    wrong = check(done.out, out) if name not in (reference or ()) else None
                except Failure as failure:
                    wrong = str(failure)[:80]
                except Exception as error:
                    wrong = f"{type(error).__name__}: {error}"[:80]
                if wrong and name == "bspkit":
                    sys.exit(f"error: {title}: bspkit did not do the work: {wrong}")
                if wrong:
                    failed[name] = wrong
                elif turn > 0:
                    # The first turn brings files into the cache.
                    results[name].append(done)
        self.rows.append((title, {name: runs for name, runs in results.items() if runs}, failed))
        print(f"{title}: " + ", ".join(f"{name} {median(runs) * 1000:.1f} ms" for name, runs in results.items() if runs), flush=True)

    def measure(self):
        room, many, files, large = MAPS / "source/room_v20.bsp", *(self.folder / f"{name}.bsp" for name in ("many", "files", "large"))
        ours, names = self.bspkit, ("srctools", "sourcepp", "bsp_tool", "valvebsp")
        peers = lambda task, *arguments, but=(): {name: self.peer(name, task, *arguments) for name in names if name not in but}

        self.row("start", {"bspkit": [ours, "--version"], **peers("start"), "true": ["true"], "python": [self.python, "-c", "pass"]}, lambda out, _: None)

        pairs = text_pairs(lumps(many.read_bytes())[0][1])
        values = 20000 * 3 + 2
        has_values = lambda out, _: None if out.count(b"\n") >= values and b"19999 " in out else f"{out.count(10)} lines for {pairs} pairs"
        self.row("list 20,001 entities with all values", {"bspkit": [ours, "ent", "list", many], **peers("entities", many), "cat": ["cat", many]}, has_values, {"cat"})

        real = max(self.corpus, key=self.weight, default=room)
        # The reader of vbsp goes on after a map that it cannot read.
        has_records = lambda out, _: "it was not read" if not out or b"READ failed" in out else None
        # A map with errors is read as well.
        checks = lambda path: ["sh", "-c", '"$0" check -v --json "$1"; test $? -le 1', ours, path]
        crate = lambda name, path: {name: [self.crates / f"{name}/release/read-{name}", path]} if (self.crates / f"{name}/release/read-{name}").exists() else {}
        title = lambda what, path: f"read all records of a map of {what}, {path.stat().st_size / 1e6:.1f} MB (bspkit checks them too)"
        self.row(title("Source", real), {"bspkit": checks(real), **peers("records", real, but=("valvebsp",)), "cat": ["cat", real]}, has_records, {"cat"})
        # vbsp reads few maps: the heaviest of these.
        reads = lambda path: b"READ failed" not in run(crate("vbsp", path)["vbsp"], self.folder).out
        by_weight = sorted([*self.corpus, *(MAPS / "source").glob("*.bsp")], key=self.weight, reverse=True)
        read = next((path for path in by_weight if crate("vbsp", path) and self.weight(path) and reads(path)), None)
        if read:
            self.row(title("Source that vbsp reads", read), {"bspkit": checks(read), **peers("records", read, but=("valvebsp",)), **crate("vbsp", read), "cat": ["cat", read]}, has_records, {"cat"})
        for family, path in self.families.items():
            crates = crate("qbsp", path) if family in ("GoldSrc", "Quake II") else {}
            self.row(title(family, path), {"bspkit": checks(path), "bsp_tool": self.peer("bsp_tool", "records", path), **crates, "cat": ["cat", path]}, has_records, {"cat"})
            pairs_there = text_pairs(plain_text(path.read_bytes()))
            has_pairs = lambda out, _: None if out.count(b"\n") >= pairs_there else f"{out.count(10)} lines for {pairs_there} pairs"
            self.row(f"list the entities of a map of {family}, {pairs_there:,} pairs", {"bspkit": [ours, "ent", "list", path], "bsp_tool": self.peer("bsp_tool", "entities", path), "cat": ["cat", path]}, has_pairs, {"cat"})

        # goldsrc-rs gives views of the file, and reads what one looks at.
        path = self.families["GoldSrc"]
        self.row("how many records each lump of a map of GoldSrc has", {"bspkit": [ours, "info", path], **crate("goldsrc", path), "cat": ["cat", path]}, has_records, {"cat"})

        def placed(path):
            def check(_, out):
                new = out.read_bytes()
                assert b"The Place" in lumps(new)[0][1], "the value is not there"

            return check

        def placed_plain(_, out):
            assert b"The Place" in plain_text(out.read_bytes()), "the value is not there"

        quake = self.families["Quake III"]
        edits = (
            ("one edit of 20,001 entities", many, placed(many), names),
            (f"one edit of a map of Quake III, {quake.stat().st_size / 1e6:.1f} MB", quake, placed_plain, ("bsp_tool",)),
            ("one edit of a map of 106 MB", large, placed(large), names),
        )
        for title, path, check, able in edits:
            edit = {"bspkit": [ours, "-q", "ent", "set", path, "worldspawn", "message=The Place", "-o", "OUT"]}
            copies = {"cp": ["cp", path, "OUT"], "cp and sync": ["sh", "-c", f"cp '{path}' '{self.folder}/out' && sync '{self.folder}/out'"]}
            self.row(title, {**edit, **{name: self.peer(name, "edit", path, "OUT") for name in able}, **copies}, check, {"cp", "cp and sync"})

        patched = self.folder / "patched.bsp"
        shutil.copyfile(large, patched)
        self.row("the same into the map itself", {"bspkit": ["sh", "-c", f"'{ours}' -q ent set '{patched}' worldspawn message=\"The Place $(date +%N)\" --in-place=patch"]}, lambda _, __: None if b"The Place" in lumps(patched.read_bytes())[0][1] else "no value")

        with zipfile.ZipFile(io.BytesIO(lumps(files.read_bytes())[40][1])) as pak:
            expected = {info.filename.lower(): info.file_size for info in pak.infolist()}
        bare = self.folder / "bare.zip"
        bare.write_bytes(lumps(files.read_bytes())[40][1])
        archives = next((name for name in ("7z", "7zz", "7za") if shutil.which(name)), None)
        lists = lambda out, _: None if out.lower().count(b".vmt") >= len(expected) - 3 else "files are not listed"
        seven = lambda *words: {"7-Zip": [archives, *words]} if archives else {}
        self.row(f"list {len(expected):,} embedded files", {"bspkit": [ours, "pak", "list", files], **peers("pak_list", files, but=("valvebsp",)), "unzip": ["unzip", "-l", bare], **seven("l", bare)}, lists)

        def extracted(_, out):
            found = {str(path.relative_to(out)).lower(): path.stat().st_size for path in out.rglob("*") if path.is_file()}
            assert found == expected, f"{len(found)} files"

        self.row("extract them", {"bspkit": [ours, "-q", "pak", "extract", files, "-o", "OUT"], **peers("pak_extract", files, "OUT", but=("valvebsp",)), "unzip": ["unzip", "-q", bare, "-d", "OUT"], **seven("x", bare, f"-o{self.folder}/out", "-bd")}, extracted)

        one = self.folder / "one.txt"

        def added(_, out):
            with zipfile.ZipFile(io.BytesIO(lumps(out.read_bytes())[40][1])) as pak:
                assert pak.read("cfg/one.txt") == one.read_bytes() and len(pak.infolist()) == len(expected) + 1

        self.row("add a file to them", {"bspkit": [ours, "-q", "pak", "add", files, f"cfg/one.txt={one}", "-o", "OUT"], **peers("pak_add", files, "OUT", "cfg/one.txt", one, but=("valvebsp", "bsp_tool")), "cp": ["cp", files, "OUT"]}, added, {"cp"})

        def removed(_, out):
            with zipfile.ZipFile(io.BytesIO(lumps(out.read_bytes())[40][1])) as pak:
                left = [info for info in pak.infolist() if info.filename.lower().startswith("materials/own/7/")]
                assert not left and len(pak.infolist()) == len(expected) - 50, f"{len(pak.infolist())} files"

        self.row("remove 50 of them", {"bspkit": [ours, "-q", "pak", "rm", files, "materials/own/7/**", "-o", "OUT"], **peers("pak_remove", files, "OUT", "materials/own/7", but=("srctools", "bsp_tool", "valvebsp")), "cp": ["cp", files, "OUT"]}, removed, {"cp"})
        lit = self.families["Quake II"]
        self.row("export the light of a map of Quake II as images", {"bspkit": [ours, "-q", "light", "export", lit, "-o", "OUT"], "cat": ["cat", lit]}, lambda _, out: None if any(out.rglob("*.png")) else "no images", {"cat"})
        self.row("compress all lumps and files", {"bspkit": [ours, "-q", "compress", files, "--all", "--pak", "-o", "OUT"], "xz": ["sh", "-c", f"xz -6 -T1 -k -c '{files}' > '{self.folder}/out'"]}, lambda _, out: None if out.stat().st_size < files.stat().st_size else "not smaller", {"xz"})
        self.row("verify a map of 106 MB", {"bspkit": [ours, "verify", large], "cat": ["cat", large]}, lambda out, _: None if b"pass" in out else "no verdict", {"cat"})
        self.saves(names)

    def weight(self, path):
        data = path.read_bytes()
        return sum(len(bytes) for index, (_, bytes) in lumps(data).items() if index not in (0, 35, 40)) if "damaged" not in path.name else 0

    def saves(self, names):
        """The share of maps that an unchanged save leaves as they are, and of edits that change nothing else."""
        maps = self.corpus or sorted((MAPS / "source").glob("*.bsp"))
        self.shares = {}
        for name in ("bspkit", *names):
            counts = [0, 0, 0, 0]
            for path in maps:
                old = path.read_bytes()
                out = self.folder / "out.bsp"
                if name == "bspkit":
                    text = self.folder / "same.ent"
                    same = ["sh", "-c", '"$0" -q ent export "$1" -o "$2" && "$0" -q ent import "$1" "$2" -o "$3"', self.bspkit, path, text, out]
                    edit = [self.bspkit, "-q", "ent", "set", path, "#0", "message=The Place", "-o", out]
                else:
                    same, edit = self.peer(name, "same", path, out), self.peer(name, "edit", path, out)
                for at, command, is_good in ((0, same, lambda new: new == old), (2, edit, lambda new: is_clean(old, new) and b"The Place" in lumps(new)[0][1])):
                    for left in (out, self.folder / "same.ent"):
                        left.unlink(missing_ok=True)
                    try:
                        run(command, self.folder)
                        new = out.read_bytes()
                    except (Failure, OSError):
                        continue
                    counts[at + 1] += 1
                    try:
                        counts[at] += bool(is_good(new))
                    except Exception:
                        pass
            self.shares[name] = counts
            print(name, counts, flush=True)
        self.total = len(maps)

    def markdown(self):
        lines = [
            "# Beside other tools",
            "",
            f"`benches/peers/run` made this page on {date.today()}: {platform.system()} {platform.machine()}, {os.cpu_count()} cores, {memory():.0f} GiB, files in the page cache.",
            "Whole processes took turns; a cell has the median time and, in brackets, how many times bspkit's it is; then the peak memory. Each run had to show that it did the",
            "work. Plain programs (in italics) are references: they do less, or something else.",
            "",
        ]
        for title, results, failed in self.rows:
            ours = median(results["bspkit"])
            lines += [f"## {title[0].upper() + title[1:]}", "", "| tool | time | memory, MB | CPU, ms | written, MB |", "|---|---:|---:|---:|---:|"]
            for name, runs in sorted(results.items(), key=lambda item: median(item[1])):
                is_tool = name in ("bspkit", "srctools", "sourcepp", "bsp_tool", "valvebsp", "vbsp", "qbsp", "goldsrc")
                shown = f"**{name}**" if name == "bspkit" else name if is_tool else f"*{name}*"
                ratio = "" if name == "bspkit" else f" ({median(runs) / ours:.2f})"
                best = min(run.cpu for run in runs) * 1000
                memory_used = statistics.median(run.memory for run in runs)
                written = statistics.median(run.written for run in runs) / 1e6
                lines.append(f"| {shown} | {median(runs) * 1000:.1f} ms{ratio} | {memory_used:.0f} | {best:.0f} | {written:.1f} |")
            lines += [f"| {name} | {why.replace('|', ' ')} | | | |" for name, why in failed.items()]
            lines.append("")
        lines += ["## Saves of real maps", "", f"Of {self.total} Source maps. A clean edit sets `message` of the first entity and changes nothing else: no other lump, and one span of the text.", "", "| tool | unchanged saves that are identical | clean edits |", "|---|---:|---:|"]
        for name, (same, saved, clean, edited) in self.shares.items():
            lines.append(f"| {'**bspkit**' if name == 'bspkit' else name} | {same} of {saved} | {clean} of {edited} |")
        return "\n".join(lines) + "\n"

    def svg(self):
        """How many times bspkit's time the other libraries take, on a scale of powers of ten."""
        bars = []
        for title, results, _ in self.rows:
            ours = median(results["bspkit"])
            others = [(name, median(runs) / ours) for name, runs in results.items() if name in ("srctools", "sourcepp", "bsp_tool", "valvebsp", "vbsp", "qbsp", "goldsrc")]
            bars += [(title, name, ratio) for name, ratio in sorted(others, key=lambda item: item[1])]
        from math import log10

        height, wide = 18, lambda ratio: max(2, 130 * (log10(max(ratio, 0.1)) + 1))
        parts = [f'<svg xmlns="http://www.w3.org/2000/svg" width="900" height="{height * len(bars) + 50}" font-family="sans-serif" font-size="12">', '<rect width="100%" height="100%" fill="white"/>', '<text x="10" y="18" font-weight="bold">Time of other libraries beside bspkit (1 = bspkit; powers of ten)</text>']
        for nth, (title, name, ratio) in enumerate(bars):
            y = 32 + nth * height
            parts.append(f'<text x="10" y="{y + 12}">{title}</text><text x="330" y="{y + 12}">{name}</text>')
            parts.append(f'<rect x="410" y="{y + 2}" width="{wide(ratio):.0f}" height="13" fill="{"#4a7" if ratio >= 1 else "#c55"}"/><text x="{416 + wide(ratio):.0f}" y="{y + 12}">{ratio:.1f}</text>')
        parts.append(f'<line x1="{410 + wide(1):.0f}" x2="{410 + wide(1):.0f}" y1="28" y2="{32 + height * len(bars)}" stroke="#000"/></svg>')
        return "\n".join(parts) + "\n"


def median(runs):
    return statistics.median(run.seconds for run in runs)


def memory():
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name in ("bspkit", "python", "crates", "folder"):
        parser.add_argument(name, type=Path)
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--corpus", type=Path)
    parser.add_argument("--write", type=Path)
    options = parser.parse_args()
    bench = Bench(options)
    bench.measure()
    if options.write:
        (options.write / "peers.md").write_text(bench.markdown() + "\n![Times beside bspkit](peers.svg)\n")
        (options.write / "peers.svg").write_text(bench.svg())
    else:
        print(bench.markdown())
    shutil.rmtree(bench.folder)
