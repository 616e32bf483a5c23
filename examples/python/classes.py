"""Counts the classes of all maps in a folder, with several workers: `classes.py FOLDER [WORKERS]`.

Dask divides the maps among processes of this machine; with `dask.distributed.Client` the same lines run on many.
It needs the module bspkit and `pip install 'dask[bag]'`.
"""

import sys
from collections import Counter
from pathlib import Path

import bspkit
import dask
import dask.bag


def classes(path: str) -> Counter[str]:
    """The classes of one map; none of a file that is no map."""
    try:
        with bspkit.open(path) as map:
            return Counter(str(entity.classname).lower() for entity in map.entities if entity.classname)
    except bspkit.BspError as error:
        print(f"{path}: {error}", file=sys.stderr)
        return Counter()


def count(folder: str, workers: int = 2) -> Counter[str]:
    paths = sorted(str(path) for path in Path(folder).rglob("*.bsp"))
    bag = dask.bag.from_sequence(paths, npartitions=max(1, min(len(paths), 4 * workers)))
    with dask.config.set(scheduler="processes", num_workers=workers):
        return bag.map(classes).fold(lambda one, other: one + other, initial=Counter()).compute()


if __name__ == "__main__":
    for name, number in count(sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 2).most_common():
        print(f"{number:>8} {name}")
