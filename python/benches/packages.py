"""bspkit beside other packages, in one run: `python python/benches/packages.py FOLDER [COUNT]`. FOLDER has maps; the largest
are taken. Install the wheel first, and the packages.

Each figure is the least of several runs, in milliseconds. Packages that are not installed are left out; a dash is a map
that the package refuses. Each package is used in the most direct way that its documentation names, and has to do the
same: values as Python has them, and a complete file. The last column is what a plain read or write of the file takes.
"""

from __future__ import annotations

import gc
import io
import os
import sys
import tempfile
import time
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

RUNS = 30
#: A row that takes longer is tried less often.
MOST_SECONDS = 4


def bspkit_rows() -> dict[str, Callable[[Path, Path], Any]]:
    import bspkit

    def edit(path: Path, out: Path) -> None:
        with bspkit.open(path, map=True) as map:
            map.entities[0]["bspkit_bench"] = "1"
            map.save(out)

    return {
        "open": lambda path, out: bspkit.open(path, map=True),
        "entities": lambda path, out: [entity.items() for entity in bspkit.open(path, map=True).entities],
        "edit and save": edit,
        "faces": lambda path, out: bspkit.open(path, map=True).table("FACES")["texinfo"].sum(),
        "pak list": lambda path, out: [(file.name, file.size) for file in bspkit.open(path, map=True).pak.files()],
    }


def srctools_rows() -> dict[str, Callable[[Path, Path], Any]]:
    from srctools.bsp import BSP

    def edit(path: Path, out: Path) -> None:
        bsp = BSP(path)
        bsp.ents.spawn["bspkit_bench"] = "1"
        bsp.save(str(out))

    return {
        "open": lambda path, out: BSP(path),
        "entities": lambda path, out: [list(entity.items()) for entity in BSP(path).ents.entities],
        "edit and save": edit,
        "faces": lambda path, out: [face.texinfo for face in BSP(path).faces],
        "pak list": lambda path, out: [(info.filename, info.file_size) for info in BSP(path).pakfile.infolist()],
    }


def bsp_tool_rows() -> dict[str, Callable[[Path, Path], Any]]:
    import bsp_tool

    def edit(path: Path, out: Path) -> None:
        bsp = bsp_tool.load_bsp(str(path))
        bsp.ENTITIES[0]["bspkit_bench"] = "1"
        bsp.save_as(str(out))

    return {
        "open": lambda path, out: bsp_tool.load_bsp(str(path)),
        "entities": lambda path, out: [list(entity.items()) for entity in bsp_tool.load_bsp(str(path)).ENTITIES],
        "edit and save": edit,
        "faces": lambda path, out: [face.texture_info for face in bsp_tool.load_bsp(str(path)).FACES],
        "pak list": lambda path, out: bsp_tool.load_bsp(str(path)).PAKFILE.namelist(),
    }


def sourcepp_rows() -> dict[str, Callable[[Path, Path], Any]]:
    from sourcepp import bsppp

    def opened(path: Path) -> Any:
        bsp = bsppp.BSP(str(path), False)
        if not bsp:
            raise ValueError("not opened")
        return bsp

    def entities(path: Path, out: Path) -> Any:
        all = opened(path).get_lump_data_for_entities()
        return [[(pair.key, pair.value) for pair in entity.keyvalues] for entity in all]

    def edit(path: Path, out: Path) -> None:
        bsp = opened(path)
        entities = bsp.get_lump_data_for_entities()
        entities[0].add_keyvalue("bspkit_bench", "1")
        bsp.set_lump_for_entities(0, entities, 0)
        # It writes where it was opened if it is given no other path.
        if not bsp.bake(str(out)):
            raise ValueError("not saved")

    def files(path: Path, out: Path) -> Any:
        found: list[tuple[str, int]] = []
        bsppp.PakLump.open(str(path), lambda name, entry: found.append((name, entry.length)))
        return found

    return {
        "open": lambda path, out: opened(path),
        "entities": entities,
        "edit and save": edit,
        "faces": lambda path, out: [face.tex_info for face in opened(path).get_lump_data_for_faces()],
        "pak list": files,
    }


def valvebsp_rows() -> dict[str, Callable[[Path, Path], Any]]:
    from valvebsp import Bsp

    def edit(path: Path, out: Path) -> None:
        bsp = Bsp(str(path))
        bsp[0][0].append(["bspkit_bench", "1"])
        bsp.save(str(out))

    def files(path: Path, out: Path) -> Any:
        with zipfile.ZipFile(io.BytesIO(Bsp(str(path))[40])) as archive:
            return [(info.filename, info.file_size) for info in archive.infolist()]

    return {
        "open": lambda path, out: Bsp(str(path)),
        "entities": lambda path, out: list(Bsp(str(path))[0]),
        "edit and save": edit,
        "faces": lambda path, out: [face.texInfo for face in Bsp(str(path))[7]],
        "pak list": files,
    }


def floor_rows() -> dict[str, Callable[[Path, Path], Any]]:
    """What Python's own input and output take: the file read, and written with its bytes on disk."""

    def write(path: Path, out: Path) -> None:
        data = path.read_bytes()
        with out.open("wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())

    return {"open": lambda path, out: path.read_bytes(), "edit and save": write}


# As in `timeit`: collections of garbage would count against whoever is measured then.
gc.disable()


def measured(work: Callable[[Path, Path], Any] | None, path: Path, out: Path) -> str:
    times: list[float] = []
    while work and len(times) < RUNS and sum(times) < MOST_SECONDS:
        start = time.perf_counter()
        try:
            work(path, out)
        except Exception as error:
            print(f"{type(error).__name__}: {error}", file=sys.stderr)
            break
        times.append(time.perf_counter() - start)
        out.unlink(missing_ok=True)
    gc.collect()
    return f"{min(times) * 1000:.2f}" if times else "-"


def main() -> None:
    folder, count = Path(sys.argv[1]), int((sys.argv[2:] or ["3"])[0])
    maps = sorted(folder.glob("**/*.bsp"), key=lambda path: path.stat().st_size)[-count:]
    packages = {}
    for make in (bspkit_rows, srctools_rows, sourcepp_rows, bsp_tool_rows, valvebsp_rows, floor_rows):
        name = make.__name__.removesuffix("_rows")
        try:
            packages[name] = make()
        except ImportError:
            print(f"{name} is not installed", file=sys.stderr)
    with tempfile.TemporaryDirectory() as there:
        out = Path(there) / "out.bsp"
        for path in maps:
            print(f"{path.name}, {path.stat().st_size:,} bytes")
            print(f"  {'':14}" + "".join(f"{name:>12}" for name in packages))
            for row in packages["bspkit"]:
                print(f"  {row:14}" + "".join(f"{measured(rows.get(row), path, out):>12}" for rows in packages.values()))


if __name__ == "__main__":
    main()
