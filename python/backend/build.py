"""Builds the wheel with maturin, and the program `bspkit` into it."""

import gzip
import io
import os
import shutil
import subprocess
import sys
import tarfile
from pathlib import Path

import maturin
from maturin import (  # noqa: F401  (hooks that need no work of ours)
    get_requires_for_build_editable,
    get_requires_for_build_sdist,
    get_requires_for_build_wheel,
    prepare_metadata_for_build_editable,
    prepare_metadata_for_build_wheel,
)

HERE = Path(__file__).resolve().parent.parent
# In a source distribution the crate is beside this folder, in a checkout above it.
CRATE = next(folder for folder in (HERE, HERE.parent) if (folder / "crates" / "cli").exists())
SCRIPTS = HERE / "program" / "scripts"
# maturin asks for the folder before the program is built.
SCRIPTS.mkdir(parents=True, exist_ok=True)


def _build_program() -> None:
    """Puts the program where maturin looks for scripts.

    `BSPKIT_PROGRAM` is the path of a program that was built before. `BSPKIT_PROFILE` names another profile than release.
    """
    name = "bspkit.exe" if sys.platform == "win32" else "bspkit"
    program = os.environ.get("BSPKIT_PROGRAM")
    if program is None:
        profile = os.environ.get("BSPKIT_PROFILE", "release")
        command = ["cargo", "build", "--locked", "-p", "bspkit-cli", "--bin", "bspkit", "--profile", profile]
        subprocess.run([*command, "--manifest-path", str(CRATE / "Cargo.toml")], check=True)
        target = Path(os.environ.get("CARGO_TARGET_DIR", CRATE / "target"))
        program = target / ("debug" if profile == "dev" else profile) / name
    shutil.copy2(program, SCRIPTS / name)


def build_sdist(sdist_directory, config_settings=None):
    """maturin puts in what the module is made of. The program and the crates that it alone needs are added."""
    name = maturin.build_sdist(sdist_directory, config_settings)
    path, top = Path(sdist_directory) / name, name.removesuffix(".tar.gz")
    with tarfile.open(path) as old:
        files = {entry.name: (entry, old.extractfile(entry).read()) for entry in old if entry.isfile()}
    (first, _) = next(iter(files.values()))
    for crate in ("crates/cli", "crates/decompile", "crates/packed", "crates/script", "crates/see", "fuzz"):
        # Its manifest says what belongs to it, and names benches, without which it cannot be read. Cargo also lists what
        # it makes itself.
        command = ["cargo", "package", "--list", "--allow-dirty", "--quiet", "--locked", "-p", f"bspkit-{Path(crate).name}"]
        listed = subprocess.run(command, cwd=CRATE, check=True, capture_output=True, text=True).stdout.splitlines()
        folder = CRATE / crate
        for file in [*(folder / path for path in listed), *folder.glob("benches/**/*")]:
            if file.is_file():
                entry = tarfile.TarInfo(f"{top}/{file.relative_to(CRATE).as_posix()}")
                entry.size, entry.mtime = file.stat().st_size, first.mtime
                files[entry.name] = (entry, file.read_bytes())
    with open(path, "wb") as new, gzip.GzipFile("", "wb", mtime=first.mtime, fileobj=new) as packed:
        with tarfile.open(fileobj=packed, mode="w") as archive:
            for _, (entry, content) in sorted(files.items()):
                archive.addfile(entry, io.BytesIO(content))
    return name


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    _build_program()
    return maturin.build_wheel(wheel_directory, _profiled(config_settings), metadata_directory)


def build_editable(wheel_directory, config_settings=None, metadata_directory=None):
    _build_program()
    return maturin.build_editable(wheel_directory, _profiled(config_settings), metadata_directory)


def _profiled(settings):
    profile = os.environ.get("BSPKIT_PROFILE")
    return {"build-args": f"--profile {profile}", **(settings or {})} if profile else settings
