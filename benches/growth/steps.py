"""What is large at the borders of the formats (`big`), and the memory of long runs (`soak`)."""

import json
import os
import re
import subprocess
import sys
import time

import maps
from runs import Failure, remove

GIB = 1 << 30


def big(program, options):
    """Each step is a title, and commands with what they have to print and their status."""
    wrong, rows = [], []
    steps = [
        ("a map of 2 GiB - 1", border(program)),
        ("a map of 2 GiB", too_large(program, 2 * GIB)),
        ("a map of 4 GiB + 4 KiB", too_large(program, 4 * GIB + 4096)),
        ("a new map of 2 GiB - 4", new_map(program)),
        ("parts of more than 2 and 4 GiB", too_large_parts(program)),
        ("100,000 maps in a folder", many_maps(program, 100000)),
        ("130,000 entities", many_entities(program, 130000)),
        ("60,000 embedded files", many_files(program, 60000)),
        ("4,000,000 records", many_records(program, 4100000)),
    ]
    for title, lines in steps:
        if options.only and not re.search(options.only, title):
            continue
        for words, pattern, code in lines:
            out = program.folder / "out"
            remove(out)
            shown = " ".join(re.sub(r"^/.*/", "", str(word)) for word in words)
            done = program.run(words, 0, out)
            text = done.out + done.err
            if done.code != code:
                wrong.append(f"{title}: `{shown}`: status {done.code}, not {code}: {text[:300]!r}")
            elif not re.search(pattern.encode(), text):
                wrong.append(f"{title}: `{shown}`: `{pattern}` is not in the output: {text[:300]!r}")
            rows.append((title, shown, done))
            is_wrong = bool(wrong) and wrong[-1].startswith(f"{title}: `{shown}`")
            print(
                f"{title}: `{shown}`: status {done.code}, {done.seconds:.2f} s, {done.cpu:.2f} s of CPU,",
                f"{done.memory:.0f} MB{' WRONG' if is_wrong else ''}",
                flush=True,
            )
        remove(program.folder / "out")
    lines = [
        "## Large maps and folders",
        "",
        "Time as a clock shows it, CPU time and peak memory of one run. A map is a mapped file: its pages that were",
        "read are memory here, though the system can take them back.",
        "",
        "| what | command | time, s | CPU, s | memory, MB |",
        "|---|---|---:|---:|---:|",
    ]
    lines += [
        f"| {title} | `{shown}` | {done.seconds:.2f} | {done.cpu:.2f} | {done.memory:.0f} |"
        for title, shown, done in rows
    ]
    return wrong, "\n".join(lines) + "\n"


def steps_with(program, name, make):
    """A file or folder that is there only for the lines of one step."""
    path = program.folder / name
    make(path)
    try:
        yield path
    finally:
        remove(path)


TOO_LARGE = "at most 2 GiB, and it has"


def border(program):
    """A map of 2 GiB - 1 bytes, nearly all of them light: a file with a hole."""
    out = program.folder / "out"
    for map in steps_with(program, "two.bsp", lambda path: maps.sparse(path, 2 * GIB - 1)):
        yield ["info", map], "LIGHTING", 0
        yield ["ls", map], "LIGHTING", 0
        yield ["check", "-v", map], "limit", 0
        yield ["checksum", map], "[0-9a-f]{8}", 0
        yield ["git", "textconv", map], "LIGHTING", 0
        yield ["ent", "list", map], "worldspawn", 0
        yield ["diff", map, map], "", 0
        yield ["light", "stat", map], "luxels", 0
        yield ["ent", "set", map, "#1", "classname=x", "-o", out], "1 value", 0
        yield ["ent", "set", map, "worldspawn", "_own=1", "-o", out], "would grow to .* below 2 GiB only", 2
        yield ["cat", map, "lighting", "-o", out], "", 0
        yield ["lmp", "export", map, "lighting", "-o", out], "", 0
        yield ["verify", map], "pass", 0
        yield ["unpack", map, "-o", out, "--no-images"], "", 0
        for folder in steps_with(
            program, "folder", lambda path: program.make("unpack", map, "-o", path, "--no-images")
        ):
            yield ["pack", folder, "-o", out], "2147483647 bytes|nothing", 0
            remove(out)
        text = program.folder / "more.txt"
        text.write_bytes(bytes(1 << 20))
        yield ["pak", "add", map, f"more.txt={text}", "-o", out], "below 2 GiB only", 2
        yield ["ent", "set", map, "#1", "classname=x", "--in-place=patch"], "1 value", 0


def too_large(program, size):
    for map in steps_with(program, "over.bsp", lambda path: maps.sparse(path, size)):
        for words in (
            ["info"],
            ["check"],
            ["verify"],
            ["ent", "list"],
            ["checksum"],
            ["diff", map],
            ["git", "textconv"],
        ):
            # `git diff` stops if its helper fails, so that says what is wrong and has the status 0.
            yield [*words, map], TOO_LARGE, 0 if words[0] == "git" else 2
        yield ["ent", "set", map, "worldspawn", "message=x", "-o", program.folder / "out"], TOO_LARGE, 2


def made_by_hand(path, sizes):
    """A folder for `pack` with a part of each size, as files with holes."""
    names = ["lighting", "visibility", "pop"]
    path.mkdir()
    parts = [{"lump": "entities", "file": "entities.ent"}] + [
        {"lump": name, "file": f"{name}.bin"} for name, _ in zip(names, sizes)
    ]
    (path / "manifest.json").write_text(json.dumps({"bspkit_manifest": 1, "dialect": "quake2", "lumps": parts}))
    (path / "entities.ent").write_bytes(b'{\n"classname" "worldspawn"\n}\n\0')
    for name, size in zip(names, sizes):
        with open(path / f"{name}.bin", "wb") as out:
            out.truncate(size)


def new_map(program):
    out = program.folder / "out"
    # The directory has 160 bytes and the entities 32.
    for folder in steps_with(program, "folder", lambda path: made_by_hand(path, [2 * GIB - 196])):
        yield ["pack", folder, "-o", out], "2147483644 bytes: a new map", 0
    for folder in steps_with(program, "4_bytes_more", lambda path: made_by_hand(path, [2 * GIB - 192])):
        yield ["pack", folder, "-o", out], "2 GiB", 2


def too_large_parts(program):
    out = program.folder / "out"
    cases = {
        "1.5_and_1.5_GiB": [GIB * 3 // 2] * 2,
        "three_times_1.5_GiB": [GIB * 3 // 2] * 3,
        "4_GiB_less_1": [4 * GIB - 1],
        "4_GiB": [4 * GIB],
    }
    for name, sizes in cases.items():
        for folder in steps_with(program, name, lambda path: made_by_hand(path, sizes)):
            yield ["pack", folder, "-o", out], "2 GiB|more bytes than any part of a map", 2


def many_maps(program, count):
    out = program.folder / "out"
    for folder in steps_with(program, "many", lambda path: maps.damaged(path, count)):
        yield ["info", folder], "quake", 0
        yield ["ls", folder], "", 0
        yield ["ent", "list", folder, "-q"], "worldspawn", 0
        yield ["check", folder], "texinfo", 1
        yield ["verify", folder, "-q"], "", 0
        yield ["ci", folder, "-q", "--format", "sarif", "-o", out], "", 1
        yield ["ent", "set", folder, "worldspawn", "message=x", "--dry-run", "-q"], "", 0
        yield ["ent", "set", folder, "worldspawn", "message=x", "-o", out, "-q"], "", 0
        yield ["diff", folder, folder], "", 0


def many_entities(program, count):
    out, at = program.folder / "out", lambda name: program.at(name, count)
    entities, edited = at("entities"), at("entities_edited")
    yield ["ent", "list", entities], "l100000", 0
    yield ["check", entities], "limit", 0
    yield ["verify", entities], "pass", 0
    yield ["ent", "set", entities, "light", "_own=1", "-o", out], "129,?999 values", 0
    yield ["ent", "diff", entities, edited, "-o", out], "", 1
    yield ["ent", "patch", entities, at("patch"), "-o", out], "", 0
    yield ["ent", "import", entities, at("text"), "-o", out], "", 0
    yield ["diff", entities, edited], "light", 1
    yield ["git", "merge", entities, edited, at("entities_theirs"), "-o", out], "", 0
    yield ["ent", "apply", program.at("entities_source", 90000), "--rules", at("few_rules"), "-o", out], "", 0
    yield ["run", at("script"), entities, "-o", out], "130000", 0
    yield ["unpack", entities, "-o", out], "", 0


def many_files(program, count):
    out, at = program.folder / "out", lambda name: program.at(name, count)
    files, rules = at("files"), at("few_rules")
    yield ["pak", "list", files], "wall_59999", 0
    yield ["pak", "verify", files], "", 0
    yield ["pak", "add", files, f"cfg/one.txt={rules}", "-o", out], "", 0
    yield ["pak", "add", files, at("loose_files"), "-o", out], "", 0
    yield ["pak", "rm", files, "**/wall_1*.vmt", "-o", out], "", 0
    yield ["pak", "mv", files, "materials/own/**", "materials/new/**", "-o", out], "", 0
    yield ["pak", "sort", files, "size", "-o", out], "", 0
    yield ["pak", "diff", files, at("files_edited")], "wall_", 1
    yield ["pak", "unused", files], "wall_", 1
    yield ["pak", "extract", files, "-o", out], "", 0
    yield ["pak", "compress", files, "-o", out], "", 0
    yield ["diff", files, at("files_edited")], "wall_", 1
    yield ["check", files], "nothing wrong", 0
    yield ["verify", files], "pass", 0


def many_records(program, count):
    out, at = program.folder / "out", lambda name: program.at(name, count)
    records = at("records")
    yield ["info", records], "DRAWVERTS", 0
    yield ["check", "-v", records], "limit", 0
    yield ["verify", "--stats", records], "pass", 0
    yield ["dump", records, "drawverts"], "point", 0
    yield ["get", records, "planes[*].distance"], "planes", 0
    yield ["set", records, "drawverts[*].color=[1,2,3,4]", "-o", out], "", 0
    yield ["refs", records, "shaders[1]"], "BRUSHES", 0
    yield ["prune", records, "-o", out], "", 0
    yield ["records", "rm", records, "brushes[10..400]", "--cascade", "-o", out], "", 0
    yield ["diff", records, at("fewer_records")], "BRUSHES", 1
    yield ["git", "textconv", records], "PLANES", 0
    yield ["unpack", records, "-o", out, "--text", "all"], "", 0


# Soak: the memory of one process over many maps.

# No sample may be above this, whatever the number of maps.
MOST = 96
OPEN_ALL = """
import os, sys
import bspkit
opened = 0
for folder, _, names in os.walk(sys.argv[1]):
    for name in sorted(names):
        with bspkit.open(os.path.join(folder, name)) as map:
            assert map.entities[0]["message"].startswith("map ")
            opened += 1
print(opened)
"""


def soak(program, options):
    """Samples the memory in use of long runs: the second half may not be above the first."""
    wrong, rows = [], []
    count = options.maps
    folder = program.folder / "soak"
    maps.damaged(folder, count)
    out = program.folder / "report"
    ours = str(program.program)
    runs = [
        ("`ci`", [ours, "ci", folder, "-o", out], 1, lambda: out.read_bytes().count(b"\n") >= count),
        (
            "`ci --format sarif`",
            [ours, "ci", folder, "--format", "sarif", "-o", out],
            1,
            lambda: out.stat().st_size > 500 * count,
        ),
        (
            "`ci --format junit`",
            [ours, "ci", folder, "--format", "junit", "-o", out],
            1,
            lambda: out.stat().st_size > 100 * count,
        ),
        ("`check`", [ours, "check", folder], 1, None),
        ("`check --json`", [ours, "check", folder, "--json"], 1, None),
        ("`verify`", [ours, "verify", folder], 0, None),
    ]
    if options.python:
        # What is printed is the number of maps.
        runs.append(
            ("Python: `bspkit.open` and the first entity", [options.python.absolute(), "-c", OPEN_ALL, folder], 0, None)
        )
    for title, words, code, check in runs:
        if options.only and not re.search(options.only, title):
            continue
        printed = program.folder / "stdout"
        out.unlink(missing_ok=True)
        seconds, status, samples = watch([str(word) for word in words], printed)
        report = (
            check()
            if check
            else printed.read_bytes().count(b"\n") >= count or printed.read_bytes().strip() == str(count).encode()
        )
        if status != code or not report:
            end = printed.read_bytes()[-200:]
            wrong.append(f"{title}: status {status}, not {code}, or the report does not have {count:,} maps: {end!r}")
        try:
            first, second = halves(samples)
        except Failure as failure:
            wrong.append(f"{title}: {failure}")
            continue
        if second > 1.1 * first:
            wrong.append(f"{title}: the memory grows: {first:.1f} MB in the first half, {second:.1f} MB in the second")
        if max(samples) > MOST:
            wrong.append(f"{title}: {max(samples):.1f} MB, more than {MOST}")
        rows.append(f"| {title} | {seconds:.1f} | {first:.1f} | {second:.1f} | {max(samples):.1f} |")
        print(
            f"{title}: {count:,} maps in {seconds:.1f} s, {len(samples)} samples,",
            f"{first:.1f} MB, then {second:.1f} MB, at most {max(samples):.1f} MB",
            flush=True,
        )
    if not rows and not wrong:
        wrong.append("no run")
    lines = [
        "## Memory of long runs",
        "",
        f"{count:,} maps with findings, one process. The memory in use is looked at every 20 milliseconds. The first",
        "tenth is left out.",
        "",
        "| run | time, s | first half, MB | second half, MB | most, MB |",
        "|---|---:|---:|---:|---:|",
        *rows,
    ]
    return wrong, "\n".join(lines) + "\n"


def halves(samples):
    """The most of the first and of the second half, after a tenth for the start."""
    after = samples[len(samples) // 10 :]
    if len(after) < 20:
        raise Failure(f"the run is too short: {len(samples)} samples")
    return max(after[: len(after) // 2]), max(after[len(after) // 2 :])


def watch(command, out):
    """Runs a program and gives its time, its status, and its memory in use, in MB, every 20 milliseconds."""
    samples, start = [], time.perf_counter()
    with (
        open(out, "wb") as stdout,
        subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=stdout, stderr=subprocess.STDOUT) as child,
    ):
        while child.poll() is None:
            try:
                with open(f"/proc/{child.pid}/statm") as memory:
                    pages = int(memory.read().split()[1])
            except (OSError, IndexError):
                pages = 0
            if pages:
                samples.append(pages * os.sysconf("SC_PAGE_SIZE") / (1 << 20))
            time.sleep(0.02)
    return time.perf_counter() - start, child.returncode, samples


if __name__ == "__main__":
    sys.exit("measure.py runs these")
