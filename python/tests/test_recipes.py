"""Recipes of the documents with other tools, beside what the module counts itself."""

import re
import subprocess
import sys
from collections import Counter
from pathlib import Path

import bspkit
import pytest

from conftest import own_maps

ROOT = Path(__file__).resolve().parent.parent.parent
PROGRAM = Path(sys.executable).with_name("bspkit.exe" if sys.platform == "win32" else "bspkit")


def expected() -> Counter[str]:
    counts: Counter[str] = Counter()
    for path in own_maps():
        with bspkit.open(path) as map:
            counts.update(str(entity.classname) for entity in map.entities if entity.classname)
    return counts


@pytest.mark.skipif(not PROGRAM.exists(), reason="the program is not beside this Python")
def test_duckdb(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The query of the guide, on the rows that the program prints."""
    duckdb = pytest.importorskip("duckdb")
    query = re.search(r'duckdb -c "(.*)"', (ROOT / "docs/guide.md").read_text(encoding="utf-8"))
    assert query
    monkeypatch.chdir(tmp_path)
    for form in ("csv", "jsonl"):
        with open(f"pairs.{form}", "wb") as rows:
            subprocess.run([PROGRAM, "ent", "list", ROOT / "tests/maps", "--format", form, "-q"], stdout=rows, check=True)
        found = dict(duckdb.sql(query[1].replace("pairs.csv", f"pairs.{form}")).fetchall())
        assert found == dict(expected()), form


def test_dask() -> None:
    """The example counts with several processes what one counts."""
    pytest.importorskip("dask.bag")
    example = ROOT / "examples/python/classes.py"
    done = subprocess.run([sys.executable, example, ROOT / "tests/maps", "3"], capture_output=True, text=True, check=True)
    found = {line.split()[1]: int(line.split()[0]) for line in done.stdout.splitlines()}
    lower: Counter[str] = Counter()
    for name, number in expected().items():
        lower[name.lower()] += number
    assert found == dict(lower)
