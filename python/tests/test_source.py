"""The source distribution has every file that its sources take in when they are compiled."""

import importlib.util
import os
import posixpath
import re
import subprocess
import sys
import tarfile
from pathlib import Path

import pytest

BACKEND = Path(__file__).parent.parent / "backend"
INCLUDED = re.compile(rb'^[^/\n]*include_(?:str|bytes)!\("([^"]+)"\)', re.MULTILINE)


def missing(files: dict[str, bytes]) -> list[str]:
    """What sources include and the files do not have. Documents for rustdoc are no part of a build."""
    found = []
    for name, text in files.items():
        if not name.endswith(".rs") or "/src/" not in name:
            continue
        for path in INCLUDED.findall(text):
            whole = posixpath.normpath(posixpath.join(posixpath.dirname(name), path.decode()))
            if whole not in files and not whole.endswith(".md"):
                found.append(whole)
    return found


@pytest.mark.skipif(importlib.util.find_spec("maturin") is None, reason="maturin is not installed")
def test_the_source_distribution_is_whole(tmp_path: Path) -> None:
    code = "import sys, build; build.build_sdist(sys.argv[1])"
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    environment = {**os.environ, "PYTHONPATH": str(BACKEND), "PATH": path}
    subprocess.run([sys.executable, "-c", code, str(tmp_path)], cwd=BACKEND.parent, env=environment, check=True)
    [archive] = tmp_path.iterdir()
    with tarfile.open(archive) as opened:
        opened.extractall(tmp_path, filter="data")
        members = [(entry.name, opened.extractfile(entry)) for entry in opened if entry.isfile()]
        files = {name: file.read() for name, file in members if file}
    crates = ["cli", "decompile", "game", "ops", "packed", "rules", "script", "see", "text"]
    top = archive.name.removesuffix(".tar.gz")
    assert all(f"{top}/crates/{crate}/Cargo.toml" in files for crate in crates)
    assert missing(files) == []
    # Cargo reads all manifests.
    command = ["cargo", "metadata", "--locked", "--no-deps", "--format-version", "1", "--offline"]
    subprocess.run(command, cwd=tmp_path / top, check=True, stdout=subprocess.DEVNULL)
    # The test sees what is left out.
    del files[f"{top}/crates/see/page/page.html"]
    assert missing(files) == [f"{top}/crates/see/page/page.html"]
