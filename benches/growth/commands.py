"""The table of the bench: what each command is measured with.

A row has words with fields. A field that is a function of `maps.py` is a file or folder that it writes; one that is a
function here below is made by a command before the clock runs; `out` is a new path for each run, and `n` the number of
things.
"""

import collections
import mmap
import os
import re
import subprocess
from pathlib import Path

Row = collections.namedtuple("Row", "command by size words check code known")
ROWS, REASONS = [], {}
# Words that stand for many.
MANY = {"HALF_MODELS": lambda n: [f"*{at}" for at in range(1, n // 2)]}


def row(command, by, size, words, check, code=0, known=""):
    """A command with its arguments, by what it grows, the largest number, and what shows that it did the work.

    `known` says why it may grow faster than its input.
    """
    ROWS.append(Row(command, by, size, f"{command} {words}".split(), check, code, known))


def reason(command, why):
    REASONS[command] = why


# What shows that the work was done. A check gets the run and says what is wrong, or nothing.


def lines(share=1.0):
    """As many lines on stdout as a share of the number of things."""
    return lambda run: (
        None if run.out.count(b"\n") >= share * run.n else f"{run.out.count(10)} lines for {run.n} things"
    )


def says(pattern, times=lambda n: 1):
    """A pattern in what the program prints."""

    def check(run):
        found = len(re.findall(pattern.replace("N", str(run.n)).encode(), run.out + run.err))
        return (
            None
            if found >= times(run.n)
            else f"`{pattern}` is {found} times in the output: {(run.out + run.err)[:200]!r}"
        )

    return check


def has(needle, times=lambda n: 1):
    """Bytes in the file that was written, and how often."""

    def check(run):
        with open(run.path, "rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
            found, at = 0, data.find(needle)
            while at >= 0 and found < times(run.n):
                found, at = found + 1, data.find(needle, at + 1)
        return None if found >= times(run.n) else f"{needle!r} is {found} times in the saved file"

    return check


def lacks(needle):
    def check(run):
        with open(run.path, "rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
            return f"{needle!r} is still in the saved file" if data.find(needle) >= 0 else None

    return check


def bytes_of(share, most=None):
    """The size of the file that was written, or of stdout, by the number of things."""

    def check(run):
        path = next((path for path in (run.path, run.path.with_name("out.bsp")) if path.exists()), None)
        size = os.path.getsize(path) if path else len(run.out)
        fits = size >= share * run.n and (most is None or size <= most * run.n + 200000)
        return None if fits else f"{size} bytes for {run.n} things"

    return check


def holds(share=1.0):
    """As many files in the folder that was written as a share of the number of things."""

    def check(run):
        found = sum(len(names) for _, _, names in os.walk(run.path))
        return None if found >= share * run.n else f"{found} files for {run.n} things"

    return check


def weighs(share, where=""):
    """The bytes of the files that were written, in a folder or as one file with more behind its name."""

    def check(run):
        path = Path(f"{run.path}{where}")
        found = (
            path.stat().st_size
            if path.is_file()
            else sum(file.stat().st_size for file in path.rglob("*") if file.is_file())
        )
        return None if found >= share * run.n else f"{found} bytes for {run.n} things"

    return check


def exported(run):
    """The text that `ripent -export` writes beside the map."""
    path = run.path.parent / "files" / f"entities_{run.n}.ent"
    found = path.read_bytes().count(b'"targetname"')
    path.unlink()
    return None if found == run.n - 1 else f"{found} entities in the text"


# Files that commands need, made by the program itself. `make` runs it; the path is where the file has to be.


def dumped(make, path, at):
    make("dump", at("records"), "brushsides", out=path.with_suffix(".jsonl"))
    return path.with_suffix(".jsonl")


def dumped_less(make, path, at):
    """Shaders with new ones in between."""
    make("dump", at("shaders"), "shaders", out=path.with_suffix(".all"))
    new = path.with_suffix(".jsonl")
    with open(path.with_suffix(".all")) as old, open(new, "w") as out:
        for number, line in enumerate(old):
            out.write(line)
            if number % 8 == 3:
                out.write(line.replace("own/wall_", "own/new_"))
    return new


def new_shaders(make, path, at):
    make("dump", at("shaders"), "shaders", out=path.with_suffix(".all"))
    new = path.with_suffix(".jsonl")
    new.write_text(path.with_suffix(".all").read_text().replace("own/wall_", "own/new_"))
    return new


def listed(make, path, at):
    make("ent", "list", "--json", at("entities"), out=path.with_suffix(".json"))
    text = path.with_suffix(".json").read_text()
    path.with_suffix(".json").write_text(
        text.replace('"value": "light"', '"value": "lamp"').replace('"value":"light"', '"value":"lamp"')
    )
    return path.with_suffix(".json")


def text(make, path, at):
    make("ent", "export", at("entities_edited"), "-o", path)
    return path


def patch(make, path, at):
    make("ent", "diff", at("entities"), at("entities_edited"), "-o", path, code=1)
    return path


def applied(make, path, at):
    path = path.with_suffix(".bsp")
    make("ent", "apply", at("entities_source"), "--rules", at("rules"), "-o", path)
    return path


def unpacked(name):
    def unpack(make, path, at):
        make("unpack", at(name), "-o", path, "--text", "all")
        return path

    return unpack


unpacked_records, unpacked_files, unpacked_floor = unpacked("records"), unpacked("files"), unpacked("floor")


def compressed(make, path, at):
    make("compress", at("lit"), "--all", "-o", path)
    return path


def compressed_files(make, path, at):
    make("pak", "compress", at("files"), "-o", path)
    return path


def light(make, path, at):
    make("light", "export", at("floor"), "-o", path)
    return path


def lump_files(make, path, at):
    path = path.with_suffix(".lmp")
    make("lmp", "export", at("lit"), "lighting", "-o", path)
    return path


def images(make, path, at):
    make("tex", "export", at("textures"), "-o", path)
    return path


def other_textures(make, path, at):
    """WAD3 whose textures differ from those of the map."""
    path = path.with_suffix(".wad")
    path.write_bytes(Path(at("wad")).read_bytes().replace(bytes(range(40, 60)), bytes(range(41, 61))))
    return path


def adjusted(make, path, at):
    make("light", "adjust", at("floor"), "--gain", "0.5", "-o", path)
    return path


def seen(make, path, at):
    path = path.with_suffix(".png")
    make("vis", "export", at("visible"), "-o", path)
    return path


def all_seen(make, path, at):
    """The image of a map in which all is visible."""
    path, map = path.with_suffix(".png"), path.with_suffix(".bsp")
    make("vis", "fill", at("visible"), "-o", map)
    make("vis", "export", map, "-o", path)
    return path


def fewer_records(make, path, at):
    make("records", "rm", at("records"), "brushes[10..14]", "--cascade", "-o", path)
    return path


def fewer_models(make, path, at):
    make("model", "rm", at("models"), "*1", "-o", path)
    return path


def other_folder(make, path, at):
    make("ent", "set", at("folder"), "worldspawn", "message=other", "-o", path)
    return path


def baseline(make, path, at):
    make("ci", at("damaged"), "--baseline", path, "--write-baseline", out=path.with_suffix(".txt"))
    return path


def file_list(make, path, at):
    loose = at("loose_files")
    names = [str(file.relative_to(loose)) for file in sorted(Path(loose).rglob("*.vmt"))]
    path.write_text("".join(f"{name}\n{loose}/{name}\n" for name in names))
    return path


def git(folder, *words, code=0):
    names = {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_SYSTEM": os.devnull}
    for who in ("AUTHOR", "COMMITTER"):
        names |= {f"GIT_{who}_NAME": "growth", f"GIT_{who}_EMAIL": "growth@localhost"}
    done = subprocess.run(["git", "-C", folder, *words], env=os.environ | names, capture_output=True, text=True)
    if done.returncode != code:
        raise RuntimeError(f"git {words[0]}: {done.stdout}{done.stderr}")


def conflict(make, path, at):
    """A repository at a merge that stopped, in a map whose entities both sides changed."""
    path.mkdir()
    map = path / "map.bsp"
    git(path, "init", "-q", "-b", "main")
    make("git", "install", path, "--write")
    for branch, name in (("main", "entities"), ("theirs", "entities_conflict"), ("ours", "entities_edited")):
        if branch != "main":
            git(path, "checkout", "-q", "-b", branch, "main")
        map.write_bytes(Path(at(name)).read_bytes())
        git(path, "add", ".")
        git(path, "commit", "-q", "-m", branch)
    # The driver is the program; git finds it by its path.
    git(path, "config", "merge.bspkit.driver", f"'{make.program}' git merge %O %A %B --path %P")
    git(path, "merge", "-q", "theirs", code=1)
    return map


def changed_since(make, path, at):
    """A repository with maps that all changed after the commit."""
    subprocess.run(["cp", "-r", at("damaged"), path], check=True)
    git(path, "init", "-q")
    git(path, "add", ".")
    git(path, "commit", "-q", "-m", "maps")
    make("ent", "set", path, "worldspawn", "message=other", "--in-place")
    return path


# The rows. Sizes are such that the largest run takes some tenths of a second of CPU time.

row("info", "maps", 4000, "{folder}", says("quake", lambda n: n))
row("info", "records", 4000000, "{records}", says("NODES|nodes"))
row("info", "entities", 128000, "--limits {entities}", says("(?i)entities"))
row("ls", "maps", 4000, "{folder}", lines())
row("ls", "files", 60000, "{files}", says("(?i)pak"))
row("cat", "bytes", 128 << 20, "{large} pakfile -o {out}", bytes_of(1.0))
row("verify", "entities", 64000, "{entities}", says("pass"))
row("verify", "records", 2000000, "{records}", says("pass"))
row("verify", "files", 60000, "{files}", says("pass"))
row("verify", "bytes", 64 << 20, "{large}", says("pass"))
row("verify", "maps", 800, "{folder}", says("pass", lambda n: n))
row("check", "entities", 128000, "{entities}", says("limit"))
row("check", "records", 4000000, "-v {records}", says("unused-records"))
row("check", "models", 8000, "{models}", says("limit"))
row("check", "squares", 256000, "{floor}", says("nothing wrong"))
row("check", "files", 60000, "{files}", says("nothing wrong"))
row("check", "textures", 64000, "{textures}", says("textures"))
row("check", "maps", 8000, "{damaged}", lines(), 1)
row("ci", "maps", 2000, "{damaged}", lines(), 1)
for form in ("json", "junit", "sarif", "github", "gitlab"):
    row("ci", "maps", 2000, f"{{damaged}} --format {form} -o {{out}}", bytes_of(100), 1)
row("ci", "maps", 2000, "{damaged} --baseline {baseline}", says("maps|pass|nothing"))
row("ci", "maps", 2000, "{changed_since} --changed-since HEAD", lines(), 1)
row("ci", "entities", 32000, "{entities}", says("limit"))
row("diff", "entities", 64000, "{entities} {entities_edited}", says("light"), 1)
row("diff", "entities", 32000, "{entities} {entities_edited} -v", lines(0.1), 1)
row("diff", "entities", 32000, "{entities} {entities_edited} --json", bytes_of(10), 1)
row("diff", "records", 1600000, "{records} {fewer_records}", says("BRUSHES|brushes"), 1)
row("diff", "records", 1600000, "{records} {fewer_records} --html {out}", has(b"<html"), 1)
row("diff", "models", 4000, "{models} {fewer_models}", says("MODELS|models"), 1)
row("diff", "files", 60000, "{files} {files_edited}", says("wall_"), 1)
row("diff", "squares of light", 128000, "{floor} {adjusted}", says("(?i)light"), 1)
row("diff", "textures", 16000, "{textures} {bare_textures}", says("(?i)textures"), 1)
row("diff", "maps", 2000, "{folder} {other_folder}", lines(), 1)
row("export", "entities", 64000, "{entities} -o {out}.glb", weighs(50, ".glb"))
row("export", "squares of light", 64000, "{floor} -o {out}.glb", weighs(100, ".glb"))
row("export", "models", 8000, "{models} -o {out}.glb", weighs(100, ".glb"))
row("export", "pages", 128, "{pages} -o {out}.glb", weighs(100, ".glb"))
row("decompile", "entities", 64000, "{entities} --no-proof --format valve -o {out}", has(b'"targetname"', lambda n: n - 1), 1)
row("decompile", "models", 4000, "{models} --format brushdef -o {out}", has(b"brushDef", lambda n: n), 1)
row("view", "entities", 32000, "{entities} -o {out}.html", weighs(50, ".html"))
row("decompile", "columns", 8000, "{columns} --format valve -o {out}", has(b"// brush", lambda n: n // 2), 1)
row("view", "squares", 128000, "{floor} -o {out}.png --png 320x240 --from above", weighs(0, ".png"))
row("view", "squares of light", 64000, "{floor} -o {out}.html", weighs(100, ".html"))
row("view", "pairs of leafs", 64 << 20, "{visible} -o {out}.html", weighs(0.000001, ".html"))
row("git textconv", "entities", 128000, "{entities}", lines())
row("git textconv", "records", 4000000, "{records}", lines(0.000001))
row("git textconv", "files", 60000, "{files}", lines())
row(
    "git merge",
    "entities",
    16000,
    "{entities} {entities_edited} {entities_theirs} -o {out}",
    has(b'"style" "1"', lambda n: n // 10),
)
row(
    "git merge",
    "entities in conflict",
    16000,
    "{entities} {entities_edited} {entities_conflict} -o {out}",
    says("[0-9] conflicts"),
    1,
)
row("git merge", "records", 2000000, "{records} {fewer_records} {records} -o {out}", bytes_of(10))
row("git merge", "files", 60000, "{files} {files_edited} {files_theirs} -o {out}", bytes_of(100))
row("git resolve", "entities in conflict", 8000, "{conflict}", lines(0.05), 1)
reason("git install", "it writes some lines into files of settings and opens no map")
reason("git uninstall", "it removes what `git install` has written and opens no map")
row("checksum", "bytes", 128 << 20, "{large}", says("[0-9a-f]{8}"))
row("checksum", "records", 4000000, "{records}", says("[0-9a-f]{8}"))

row("ent list", "entities", 128000, "{entities}", lines())
row("ent list", "entities", 64000, "{entities} --json", lines())
row("ent list", "entities", 128000, "{entities} light[light>=200] -n", lines(0.3))
row("ent list", "entities", 128000, "{entities} --group targetname --json", says("value", lambda n: n - 1))
row("ent list", "entities", 64000, "{entities} --format csv", lines(2))
row("ent list", "maps", 4000, "{folder} -c", lines())
row("ent get", "entities", 128000, "{entities} light targetname", lines(0.9))
row("stats", "entities", 128000, "{entities}", says("light"))
row("stats", "maps", 4000, "{folder} --json", says("quake"))
row("stats", "files", 60000, "{files} --format csv --only file", lines())
row("ent set", "entities", 128000, "{entities} light _own=1 -o {out}", has(b'"_own" "1"', lambda n: n - 1))
row("ent set", "entities", 128000, "{entities} #1 _own=1 -o {out}", has(b'"_own" "1"'))
row("ent set", "entities", 64000, "{entities} light light*=1.5 origin~s/0/{{0}}1/ -o {out}", bytes_of(50))
row("ent unset", "entities", 128000, "{entities} light targetname -o {out}", lacks(b'"targetname" "l1"'))
row(
    "ent rename-key", "entities", 128000, "{entities} light targetname _name -o {out}", has(b'"_name"', lambda n: n - 1)
)
row("ent add", "entities", 128000, "{entities} classname=info_null origin=1 -o {out}", has(b'"info_null"'))
row("ent dup", "entities", 64000, "{entities} light -o {out}", has(b'"targetname"', lambda n: 2 * n - 2))
row("ent rm", "entities", 128000, "{entities} light[light>=150] -o {out}", bytes_of(20))
row("ent mv", "entities", 128000, "{entities} light[light>=150] --before #1 -o {out}", bytes_of(50))
row("ent export", "entities", 128000, "{entities} -o {out}", has(b'"targetname"', lambda n: n - 1))
row("ent import", "entities", 64000, "{entities} {text} -o {out}", has(b'"info_null"', lambda n: n // 11))
row("ent import", "entities", 32000, "{entities} {listed} -o {out}", has(b'"lamp"', lambda n: n - 1))
row("ent edit", "entities", 16000, "{entities} -o {out}", has(b'"message" "edited"'))
row("ent fmt", "entities", 128000, "{entities} -o {out}", bytes_of(50))
row("ent diff", "entities", 32000, "{entities} {entities_edited} -o {out}", bytes_of(10), 1)
row("ent diff", "entities", 16000, "{entities} {entities_edited} --as stripper -o {out}", bytes_of(5), 2)
row("ent diff", "entities alike", 4000, "{alike} {alike_edited} -o {out}", bytes_of(1), 1)
row("git merge", "entities alike", 4000, "{alike} {alike_edited} {alike_theirs} -o {out}", bytes_of(10))
row("ent patch", "entities", 16000, "{entities} {patch} -o {out}", has(b'"info_null"', lambda n: n // 11))
row("ent patch", "entities", 16000, "{entities} {patch} --fuzzy -o {out}", has(b'"info_null"', lambda n: n // 11))
row(
    "ent patch",
    "entities",
    8000,
    "{entities_theirs} {patch} --base {entities} -o {out}",
    has(b'"info_null"', lambda n: n // 11),
)
row(
    "ent apply",
    "entities",
    32000,
    "{entities_source} --rules {few_rules} -o {out}",
    has(b'"_own"', lambda n: n * 8 // 10),
)
row("ent apply", "rules and entities", 16000, "{entities_source} --rules {rules} -o {out}", bytes_of(40))
row("rules lint", "rules and entities", 16000, "{rules} {entities_source}", says("1 warning"), 1)
row("rules lint", "rules", 16000, "{rules}", says("nothing wrong"))
row("rules convert", "rules", 16000, "{rules} --to patch -o {out}", has(b"\\\\Al2\\\\z"))
row("rules status", "rules", 16000, "{applied}", says("N rules"))

row("dump", "records", 2000000, "{records} vertexes", lines(0.2))
row("load", "records", 2000000, "{records} brushsides {dumped} --dry-run", says("nothing"))
row(
    "load",
    "records",
    4000,
    "{shaders} shaders {dumped_less} --follow --force -o {out}",
    has(b"own/new_", lambda n: n // 9),
)
row("get", "records", 4000000, "{records} planes[*].distance", lines(0.1))
row("get", "records", 4000000, "{records} surfaces[shader=1].lightmap", lines(0.005))
# Above a million records some lists exceed limits of engines: then both maps are checked, the old one too.
row("set", "records", 1000000, "{records} vertexes[*].color=[1,2,3,4] -o {out}", has(b"\1\2\3\4", lambda n: n // 5))
row("refs", "records", 2000000, "{records} shaders[1] -v", lines(0.00001))
row(
    "records insert",
    "records",
    32000,
    "{shaders} shaders[4] {new_shaders} --force -o {out}",
    has(b"own/new_", lambda n: n),
)
row("records rm", "records", 1000000, "{records} brushes[10..400] --cascade -o {out}", bytes_of(10))
row("records dup", "records", 1000000, "{records} brushes[1..400] -o {out}", bytes_of(10))
row("records mv", "records", 1000000, "{records} brushes[0..100] 200 -o {out}", bytes_of(10))
row("unpack", "records", 400000, "{records} --text all -o {out}", holds(0.00001))
row("unpack", "files", 8000, "{files} -o {out}", holds())
row("unpack", "squares of light", 32000, "{floor} -o {out}", holds(0.0001))
row("unpack", "textures", 2000, "{textures} -o {out}", holds())
row("unpack", "bytes", 64 << 20, "{large} -o {out}", weighs(1.0))
row("pack", "records", 400000, "{unpacked_records} -o {out}", bytes_of(10))
row("pack", "files", 16000, "{unpacked_files} -o {out}", bytes_of(100))
row("pack", "squares of light", 32000, "{unpacked_floor} -o {out}", bytes_of(20))
row("compress", "bytes", 4 << 20, "{lit} --all -o {out}", bytes_of(0.05, 0.9))
row("compress", "files", 4000, "{files} --pak -o {out}", bytes_of(10))
row("decompress", "bytes", 16 << 20, "{compressed} -o {out}", bytes_of(1.0))
row("decompress", "files", 16000, "{compressed_files} --pak -o {out}", bytes_of(100))

row("light export", "squares of light", 128000, "{floor} -o {out}", holds(0.00001))
row("light export", "squares of light", 4000, "{floor} --by face -o {out}", holds())
row("light export", "pages", 128, "{pages} -o {out}", holds())
row("light import", "squares of light", 32000, "{adjusted} {light} -o {out}", bytes_of(20))
row("light stat", "squares of light", 256000, "{floor}", says("luxels"))
row("light stat", "pages", 1024, "{pages}", says("luxels"))
row("light adjust", "squares of light", 128000, "{floor} --gain 0.5 -o {out}", bytes_of(20))
row("light adjust", "pages", 128, "{pages} --gamma 1.2 -o {out}", bytes_of(40000))
row("lmp export", "bytes", 128 << 20, "{lit} lighting -o {out}", weighs(1.0))
row("lmp import", "bytes", 64 << 20, "{lit} {lump_files} -o {out}", bytes_of(1.0))

row("pak list", "files", 60000, "{files}", lines())
row("pak list", "files", 60000, "{files} **/wall_1*.vmt --json", lines(0.1))
row("pak verify", "files", 60000, "{files}", says("files|nothing"))
row("pak refs", "files", 8000, "{entities_materials}", lines())
row("pak refs", "files", 16000, "{files}", lines(0.00001))
row("pak extract", "files", 8000, "{files} -o {out}", holds())
row("pak add", "files", 16000, "{files} {loose_files} -o {out}", bytes_of(100))
row("pak add", "files", 60000, "{files} cfg/one.txt={few_rules} -o {out}", has(b"cfg/one.txt"))
row("pak add", "files", 8000, "{files} --list {file_list} -o {out}", bytes_of(100))
row("pak rm", "files", 60000, "{files} **/wall_1*.vmt -o {out}", lacks(b"wall_1.vmt"))
row(
    "pak mv",
    "files",
    32000,
    "{files} materials/own/** materials/new/** -o {out}",
    has(b"materials/new/", lambda n: 2 * n),
)
row("pak sync", "files", 8000, "{files} {loose_files} -o {out}", bytes_of(100))
row("pak missing", "files", 8000, "{entities_materials} --stock {few_rules}", lines(), 1)
row("pak missing", "files", 8000, "{files} --stock {few_rules}", says("missing|likely|not embedded|needs"), 1)
row("pak unused", "files", 16000, "{files}", lines(), 1)
row(
    "pak fill",
    "files",
    4000,
    "{entities_materials} --from {loose_materials} --stock {few_rules} -o {out}",
    has(b"sprites/own/t", lambda n: n),
    1,
)
row("pak diff", "files", 32000, "{files} {files_edited}", lines(0.2), 1)
row("pak set-time", "files", 60000, "{files} 2013-06-20 -o {out}", bytes_of(100))
row("pak sort", "files", 60000, "{files} name -o {out}", bytes_of(100))
row("pak sort", "files", 60000, "{files} size -o {out}", bytes_of(100))
row("pak compress", "files", 4000, "{files} -o {out}", bytes_of(10))
row("pak store", "files", 16000, "{compressed_files} -o {out}", bytes_of(100))
row("rename", "cube maps", 8000, "{cubemaps} attic --old room -o {out}", has(b"maps/attic/c", lambda n: 2 * n))
row("cubemap list", "cube maps", 30000, "{cubemaps}", lines())
row("cubemap strip", "cube maps", 30000, "{cubemaps} -o {out}", bytes_of(20))
row("cubemap rename", "cube maps", 8000, "{cubemaps} attic --old room -o {out}", has(b"maps/attic/c", lambda n: 2 * n))

row("model list", "models", 16000, "{models}", lines())
row("model rm", "models", 8000, "{models} *1 *3 *5 -o {out}", lacks(b'"*N"'))
row("model copy", "models", 8000, "{models} *1 --from {models} --force -o {out}", bytes_of(100))
row("model rm", "models, half of them", 4000, "{models} HALF_MODELS -o {out}", lacks(b'"*N"'))
row("model copy", "models, half of them", 4000, "{models} HALF_MODELS --from {models} --force -o {out}", bytes_of(100))
row("prune", "shaders", 64000, "{unused} -o {out}", bytes_of(0))
row("prune", "records", 2000000, "{records} -o {out}", bytes_of(10))
row("prune", "models", 8000, "{fewer_models} -o {out}", bytes_of(10))
row("run", "entities", 64000, "{script} {entities} -o {out}", has(b'"_seen" "1"', lambda n: n))

row("tex list", "textures", 64000, "{textures}", lines())
row("tex list", "shaders", 64000, "{shaders}", lines())
row("tex list", "names", 64000, "{names}", lines())
row("tex export", "textures", 4000, "{textures} -o {out}", holds())
row("tex import", "textures", 4000, "{textures} {images} -o {out}", says("nothing|same|left as it is"))
row("tex import", "textures", 16000, "{textures} {other_textures} -o {out}", bytes_of(1000))
row("tex rename", "textures", 32000, "{textures} own_* new_* -o {out}", has(b"new_", lambda n: n))
row(
    "tex rename",
    "shaders",
    64000,
    "{shaders} textures/own/* textures/new/{{1}} -o {out}",
    has(b"textures/new/", lambda n: n),
)
row("tex rename", "names", 32000, "{names} own/* new/{{1}} -o {out}", bytes_of(40))
row("tex embed", "textures", 16000, "{bare_textures} {wad} -o {out}", bytes_of(1000))
row("tex strip", "textures", 32000, "{textures} --layout repack -o {out}", bytes_of(40, 100))

row("vis stat", "pairs of leafs", 64 << 20, "{visible}", says("leafs"))
row("vis export", "pairs of leafs", 64 << 20, "{visible} -o {out}.png", weighs(0.000001, ".png"))
row("vis import", "pairs of leafs", 64 << 20, "{visible} {all_seen} -o {out}", bytes_of(0.0001))
row("vis fill", "pairs of leafs", 64 << 20, "{visible} -o {out}", bytes_of(0.0001))
row("bspzip", "files", 60000, "-dir {files}", lines())
row("bspzip", "files", 8000, "-addlist {files} {file_list} {out}", bytes_of(100))
row("ripent", "entities", 128000, "-export {entities}", exported)
row("res", "entities", 16000, "{entities_named} -o {out}", has(b"models/own/m", lambda n: n // 2 - 1))

reason("undo", "it is `diff` and one rename")
reason("backups list", "it lists names")
reason("backups prune", "it removes and renames files")
reason("help", "it prints texts that are the same for all maps")
reason("config", "it reads one file of a project and no map")
reason("completions", "it prints a text that is the same for all maps")
reason("man", "it prints texts that are the same for all maps")
