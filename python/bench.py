"""bspkit beside other packages, in one run: `python python/bench.py FOLDER`. FOLDER has maps; the largest are taken.

Each figure is the median of several runs in milliseconds. Packages that are not installed are left out; a dash is a
map that the package refuses. Each package is given the most direct way that its documentation names.
"""

from __future__ import annotations

import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

RUNS = 5


def bspkit_rows() -> dict[str, Callable[[Path, Path], Any]]:
    import bspkit

    def edit(path: Path, out: Path) -> None:
        with bspkit.open(path) as map:
            map.entities[0]["bspkit_bench"] = "1"
            map.save(out)

    return {
        "open": lambda path, out: bspkit.open(path),
        "entities": lambda path, out: [entity.items() for entity in bspkit.open(path).entities],
        "edit and save": edit,
        "faces": lambda path, out: bspkit.open(path).table("FACES")["texinfo"].sum(),
        "pak list": lambda path, out: [(file.name, file.size) for file in bspkit.open(path).pak.files()],
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
        "entities": lambda path, out: [dict(entity) for entity in bsp_tool.load_bsp(str(path)).ENTITIES],
        "edit and save": edit,
        "faces": lambda path, out: [face.texture_info for face in bsp_tool.load_bsp(str(path)).FACES],
        "pak list": lambda path, out: bsp_tool.load_bsp(str(path)).PAKFILE.namelist(),
    }


def sourcepp_rows() -> dict[str, Callable[[Path, Path], Any]]:
    from sourcepp import bsppp, vpkpp

    def edit(path: Path, out: Path) -> None:
        bsp = bsppp.BSP(str(path), False)
        entities = bsp.get_lump_data_for_entities()
        entities[0]["bspkit_bench"] = "1"
        bsp.set_lump_for_entities(entities)
        bsp.bake(str(out))

    return {
        "open": lambda path, out: bsppp.BSP(str(path), False),
        "entities": lambda path, out: bsppp.BSP(str(path), False).get_lump_data_for_entities(),
        "edit and save": edit,
        "faces": lambda path, out: bsppp.BSP(str(path), False).get_lump_data_for_faces(),
        "pak list": lambda path, out: vpkpp.BSP.open(str(path)),
    }


def valvebsp_rows() -> dict[str, Callable[[Path, Path], Any]]:
    from valvebsp import Bsp

    def edit(path: Path, out: Path) -> None:
        bsp = Bsp(str(path))
        bsp[0][0].append(["bspkit_bench", "1"])
        bsp.save(str(out))

    return {
        "open": lambda path, out: Bsp(str(path)),
        "entities": lambda path, out: list(Bsp(str(path))[0]),
        "edit and save": edit,
        "faces": lambda path, out: [face.texinfo for face in Bsp(str(path))[7]],
        "pak list": lambda path, out: Bsp(str(path))[40].namelist(),
    }


def measured(work: Callable[[Path, Path], Any], path: Path, out: Path) -> str:
    times = []
    for _ in range(RUNS):
        start = time.perf_counter()
        try:
            work(path, out)
        except Exception:
            return "-"
        times.append(time.perf_counter() - start)
    return f"{statistics.median(times) * 1000:.2f}"


def main() -> None:
    maps = sorted(Path(sys.argv[1]).glob("**/*.bsp"), key=lambda path: path.stat().st_size)[-int((sys.argv[2:] or ["3"])[0]) :]
    packages = {}
    for make in (bspkit_rows, srctools_rows, sourcepp_rows, bsp_tool_rows, valvebsp_rows):
        name = make.__name__.removesuffix("_rows")
        try:
            packages[name] = make()
        except ImportError:
            print(f"{name} is not installed", file=sys.stderr)
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "out.bsp"
        for path in maps:
            print(f"{path.name}, {path.stat().st_size:,} bytes")
            print(f"  {'':14}" + "".join(f"{name:>12}" for name in packages))
            for row in packages["bspkit"]:
                print(f"  {row:14}" + "".join(f"{measured(rows[row], path, out):>12}" for rows in packages.values()))


if __name__ == "__main__":
    main()
