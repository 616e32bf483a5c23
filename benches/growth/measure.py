"""measure.py BSPKIT FOLDER [big|soak] [--only PATTERN] [--rounds N] [--write DOCS] [--python PYTHON]

Without a word: runs every command of bspkit on maps of four sizes, each twice the one before, and fails if the work of
one grows faster than its input: by an exponent above 1.1. Work is CPU time. Where that grows faster, perf or valgrind
counts instructions, if one of them is there: where a map no longer fits into the caches, each of them takes more time.
A command that the table in `commands.py` does not have is an error. `big` runs what is large at the borders of the
formats, and `soak` watches the memory of runs over 100,000 maps. All runs are checked.

FOLDER gets the maps, up to 10 GB, and is removed at the end. Without a word it should be in memory, as below /dev/shm:
a file system on a disk takes more time for each new file, the more there are.
"""

import argparse
import collections
import math
import os
import platform
import re
import shutil
import subprocess
import sys
from datetime import date
from pathlib import Path

import commands
import steps
from runs import Failure, Program, peers, remove

LIMIT = 1.1
# Less CPU time than this above the start-up is noise.
NOISE = 0.004
Result = collections.namedtuple("Result", "row sizes start times memories exponent counted verdict")


# The commands of the program, as its help lists them.


def all_commands(program):
    def walk(words):
        text = subprocess.run(
            [program, *words, "--help"], capture_output=True, text=True, stdin=subprocess.DEVNULL
        ).stdout
        # Those of a command are in one block, those of the program in groups, before the topics.
        block = re.search(r"^Commands:\n((?:[ ]+.*\n)+)", text, re.M)
        block = block[1] if block else "" if words else text.split("\nTopics")[0]
        names = re.findall(r"^  ([a-z][a-z-]*)  ", block, re.M)
        if not names:
            return [" ".join(words)] if words else []
        return [command for name in names for command in walk([*words, name])]

    return walk([])


def compare_table(program):
    """What is wrong with the table: commands without a row, rows without a command."""
    has, knows = set(all_commands(program)), {row.command for row in commands.ROWS} | set(commands.REASONS)
    if not has:
        raise Failure("the help of the program lists no commands")
    return [f"`{name}` has no row in commands.py" for name in sorted(has - knows)] + [
        f"the program has no command `{name}`" for name in sorted(knows - has)
    ]


INTRODUCTION = """\
CPU time (user and system) of the smallest and the largest of four sizes, each twice the one before; the least of
several runs in turns. The exponent is the slope of time without start-up by size, on logarithmic scales: 1 is linear,
n log n about 1.06. A dash means that even the largest takes no time above the start-up that can be measured. Where
time grows by more than 1.1, the second exponent is that of the instructions of the program: if it is about 1, the
work is linear, and the caches hold a smaller part of it. Memory is the peak, with the pages of the map that were
read. Words in braces are files: maps of the given size, and what the bench makes for the command."""

# The growth of one row.


class Fields(dict):
    def __init__(self, program, n, out):
        super().__init__(n=n, out=str(out))
        self.program = program

    def __missing__(self, name):
        return str(self.program.at(name, self["n"]))


def once(program, row, n, counter=()):
    """One checked run of a row."""
    out = program.folder / "out"
    remove(out)
    words = [one for word in row.words for one in commands.MANY.get(word, lambda n, word=word: [word])(n)]
    words = [word.format_map(Fields(program, n, out)) for word in words]
    done = program.run(words, n, out, counter=counter)
    if done.code != row.code:
        raise Failure(f"{n:,}: status {done.code}, not {row.code}: {(done.err or done.out)[:300]!r}")
    try:
        wrong = row.check(done)
    except OSError as error:
        wrong = str(error)
    if wrong:
        raise Failure(f"{n:,}: {wrong}")
    return done


def count(program, row, n):
    """The instructions of one run, with those of the processes that it starts."""
    words, pattern = program.counter
    return sum(map(int, re.findall(pattern, once(program, row, n, words).err.decode(errors="replace"), re.M)))


def slope(points, least=NOISE):
    """The exponent by which times grow with sizes, and nothing if there are too few times."""
    points = [(math.log(size), math.log(time)) for size, time in points if time >= least]
    if len(points) < 3:
        return None
    x, y = (sum(values) / len(points) for values in zip(*points))
    return sum((a - x) * (b - y) for a, b in points) / sum((a - x) ** 2 for a, _ in points)


def measure(program, row, rounds):
    sizes = [row.size // 8, row.size // 4, row.size // 2, row.size]
    small = max(row.size // 4096, 2)
    times, memories = {n: math.inf for n in (small, *sizes)}, {}

    def turn():
        for n in times:
            if n == small and not small_works:
                continue
            done = once(program, row, n)
            times[n], memories[n] = min(times[n], done.cpu), done.memory

    small_works = True
    try:
        once(program, row, small)
    except RuntimeError:
        # Some checks need more things than the smallest map has; then the start-up is that of `--version`.
        small_works = False
    exponent = None
    for attempt in range(4):
        for _ in range(rounds):
            turn()
        start = times[small] if small_works else min(program.run(["--version"]).cpu for _ in range(5))
        exponent = slope([(n, times[n] - start) for n in sizes])
        if exponent is None or exponent <= LIMIT:
            break
    counted = None
    if exponent and exponent > LIMIT and program.counter:
        before = count(program, row, small) if small_works else 0
        counted = slope([(n, count(program, row, n) - before) for n in sizes], 1)
    decides = counted or exponent
    verdict = "flat" if exponent is None else "ok" if decides <= LIMIT else "known" if row.known else "TOO FAST"
    return Result(
        row, sizes, start, [times[n] for n in sizes], [memories[n] for n in sizes], exponent, counted, verdict
    )


def growth(program, options):
    wrong = compare_table(program.program)
    results = []
    for row in commands.ROWS:
        if options.only and not re.search(options.only, " ".join(row.words)):
            continue
        try:
            program.make_room()
            result = measure(program, row, options.rounds)
        except RuntimeError as failure:
            wrong.append(f"`{' '.join(row.words)}`: {failure}")
            print(f"ERROR {wrong[-1]}", flush=True)
            continue
        results.append(result)
        times = ", ".join(f"{time * 1000:.0f}" for time in result.times)
        print(
            f"{shown(result.exponent):>5} {shown(result.counted):>5} {result.verdict:8} {' '.join(row.words)} ",
            f"{row.size:,} {row.by}: {times} ms, start {result.start * 1000:.0f} ms,",
            f"{result.memories[0]:.0f} to {result.memories[-1]:.0f} MB",
            flush=True,
        )
    if not results and not wrong:
        wrong.append("no row was run")
    wrong += [
        f"`{' '.join(result.row.words)}` grows by the exponent {result.counted or result.exponent:.2f}"
        for result in results
        if result.verdict == "TOO FAST"
    ]
    return wrong, table(results)


def shown(exponent):
    return "-" if exponent is None else f"{exponent:.2f}"


def table(results):
    lines = [
        "## Exponents",
        "",
        INTRODUCTION,
        "",
        "| command | by | sizes | CPU, ms | exponent | memory, MB |",
        "|---|---|---:|---:|---:|---:|",
    ]
    for result in results:
        words = " ".join(result.row.words).replace("|", "\\|").replace("{{", "{").replace("}}", "}")
        sizes, times, memories = (
            f"{low} to {high}"
            for low, high in (
                (f"{result.sizes[0]:,}", f"{result.sizes[-1]:,}"),
                (f"{result.times[0] * 1000:.0f}", f"{result.times[-1] * 1000:.0f}"),
                (f"{result.memories[0]:.0f}", f"{result.memories[-1]:.0f}"),
            )
        )
        exponent = shown(result.exponent) + (f" ({result.counted:.2f})" if result.counted else "")
        lines.append(f"| `{words}` | {result.row.by} | {sizes} | {times} | {exponent} | {memories} |")
    known = [result for result in results if result.verdict == "known"]
    if known:
        lines += ["", "These may grow faster than their input:", ""]
    lines += [f"- `{' '.join(result.row.words)}`: {result.row.known}." for result in known]
    lines += ["", "Without a row, since the size of a map does not matter:", ""]
    lines += [f"- `{command}`: {why}." for command, why in sorted(commands.REASONS.items())]
    return "\n".join(lines) + "\n"


def page(folder, part, text):
    """Puts a part into growth.md and keeps the others."""
    path = folder / "growth.md"
    folder.mkdir(parents=True, exist_ok=True)
    old = path.read_text() if path.exists() else ""
    parts = {title: body for title, body in re.findall(r"<!-- (\w+) -->\n(.*?)<!-- end -->", old, re.S)}
    parts[part] = (
        f"Made on {date.today()}: {platform.system()} {platform.machine()}, {os.cpu_count()} cores,"
        f" {peers.memory():.0f} GiB, files in the page cache.\n\n{text}"
    )
    made = "`benches/growth/run` makes this page: the exponents without a word, the other parts with `big` and `soak`."
    head = f"# How time and memory grow\n\n{made}\n\n"
    path.write_text(
        head
        + "\n".join(
            f"<!-- {title} -->\n{parts[title]}<!-- end -->\n" for title in ("growth", "big", "soak") if title in parts
        )
    )


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program", type=Path)
    parser.add_argument("folder", type=Path)
    parser.add_argument("part", nargs="?", default="growth", choices=["growth", "big", "soak"])
    parser.add_argument("--only", help="rows whose words match this regular expression")
    parser.add_argument(
        "--rounds", type=int, default=3, help="runs of each size; a doubtful row gets up to four times as many"
    )
    parser.add_argument("--maps", type=int, default=100000, help="how many maps `soak` opens")
    parser.add_argument("--python", type=Path, help="a Python that has the module bspkit, for `soak`")
    parser.add_argument("--write", type=Path, help="a folder for growth.md")
    options = parser.parse_args()
    program = Program(options.program, options.folder)
    try:
        if options.part == "growth":
            wrong, text = growth(program, options)
        else:
            wrong, text = getattr(steps, options.part)(program, options)
    except Failure as failure:
        wrong, text = [str(failure)], ""
    finally:
        shutil.rmtree(program.folder, ignore_errors=True)
    if options.write and text:
        page(options.write, options.part, text)
    elif text:
        print(text)
    for line in wrong:
        print(f"error: {line}", file=sys.stderr)
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
