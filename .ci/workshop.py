"""What `.ci/release` makes its parts with: tools, machines, programs, archives."""

import functools
import gzip
import io
import os
import re
import shutil
import subprocess
import sys
import tarfile
import time
import tomllib
import zipfile
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parent.parent
TARGET = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target")).resolve()
WORK = TARGET / "release-work"  # tools, and what is unpacked
TOOLS = {"cargo-deb": "3.8.0", "cargo-cyclonedx": "0.5.9"}
MATURIN = ["maturin==1.16.0", "ziglang==0.17.1"]
SHELLS = {"bash": "bspkit.bash", "zsh": "_bspkit", "fish": "bspkit.fish", "powershell": "bspkit.ps1"}
MAP = "tests/maps/q3/own_rooms.bsp"
WORKSPACE = tomllib.loads((ROOT / "Cargo.toml").read_text())["workspace"]["package"]
VERSION = WORKSPACE["version"]


class Failed(Exception):
    """Why a part is not made, in words."""


class Machine(NamedTuple):
    name: str
    target: str
    flags: str
    packages: tuple = ()
    linker: str = ""
    runner: tuple = ()
    archive: str = "tar.gz"
    program: str = "bspkit"
    debian: str = ""


STATIC = "-C target-feature=+crt-static"
# At a fixed address as well, as crates/cli/build.rs says.
FIXED = f"{STATIC} -C relocation-model=static"
MACHINES = {machine.name: machine for machine in [
    Machine("linux-x86_64", "x86_64-unknown-linux-gnu", FIXED, debian="amd64"),
    Machine("linux-aarch64", "aarch64-unknown-linux-gnu", STATIC,
            ("gcc-aarch64-linux-gnu", "libc6-dev-arm64-cross", "qemu-user-static"),
            "aarch64-linux-gnu-gcc", ("qemu-aarch64-static",), debian="arm64"),
    # Without the option the linker writes the time into the program.
    Machine("windows-x86_64", "x86_64-pc-windows-gnu", "-C link-arg=-Wl,--no-insert-timestamp",
            ("gcc-mingw-w64-x86-64-win32", "wine64"), "x86_64-w64-mingw32-gcc",
            ("bash", str(ROOT / "tests/targets/wine.sh")), "zip", "bspkit.exe"),
]}


def output(*command, cwd=ROOT, env=None):
    return subprocess.run(command, cwd=cwd, env=env, check=True, stdout=subprocess.PIPE).stdout


def text(*command, cwd=ROOT):
    return output(*command, cwd=cwd).decode().strip()


def step(*command, cwd=ROOT, **env):
    print(">", *command, flush=True)
    subprocess.run([str(word) for word in command], cwd=cwd, env={**os.environ, **env}, check=True)


def fresh(folder):
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    return folder


def expect(holds, why):
    if not holds:
        raise Failed(why)


class Workshop:
    def __init__(self, arguments):
        self.out, self.profile = arguments.out.resolve(), arguments.profile
        self.may_install, self.repository = arguments.install, arguments.repository
        self.epoch = int(os.environ.get("SOURCE_DATE_EPOCH") or text("git", "log", "-1", "--format=%ct"))
        os.environ.update(SOURCE_DATE_EPOCH=str(self.epoch), CARGO_INCREMENTAL="0")
        # A hash function of scripts has a seed that is drawn when it is compiled, unless this variable gives it.
        os.environ.setdefault("CONST_RANDOM_SEED", f"bspkit {VERSION}")
        # Flags are given by target; this variable would replace them.
        os.environ.pop("RUSTFLAGS", None)
        WORK.mkdir(parents=True, exist_ok=True)

    # Tools.

    def need(self, *packages):
        """Packages of Debian."""
        def is_missing(name):
            return subprocess.run(["dpkg", "-s", name], capture_output=True).returncode != 0
        missing = [name for name in packages if is_missing(name)]
        if missing and self.may_install:
            step("apt-get", "-qq", "install", "-y", "--no-install-recommends", *missing, DEBIAN_FRONTEND="noninteractive")
        elif missing:
            raise Failed(f"not installed: {', '.join(missing)}; --install installs them")

    def need_machine(self, machine):
        self.need(*machine.packages)
        if not (Path(text("rustc", "--print", "sysroot")) / "lib/rustlib" / machine.target / "lib").exists():
            expect(self.may_install, f"no standard library for {machine.target}; --install adds it by rustup")
            step("rustup", "target", "add", machine.target)

    @functools.cache
    def tool(self, name):
        """A program of crates.io. It runs once: to make it fast would take longer."""
        root = WORK / "tools" / f"{name}-{TOOLS[name]}"
        if not (root / "bin" / name).exists():
            step("cargo", "install", "--quiet", "--locked", "--debug", "--root", root, "--target-dir", WORK / "tools/target",
                 f"{name}@{TOOLS[name]}", cwd=WORK)
        return root / "bin" / name

    def environment(self, name, *packages):
        """A new virtual environment of Python."""
        folder = fresh(WORK / name)
        step(sys.executable, "-m", "venv", folder)
        step(folder / "bin/pip", "--disable-pip-version-check", "install", "--quiet", *packages)
        return folder / "bin"

    @functools.cache
    def maturin(self):
        return self.environment("maturin", *MATURIN) / "maturin"

    # Programs.

    def flags(self, machine, flags, root=ROOT, target=TARGET):
        """The environment of a build: paths of this machine are replaced by names."""
        rust = Path(text("rustc", "--print", "sysroot")) / "lib/rustlib/src/rust"
        commit = re.search("commit-hash: (.*)", text("rustc", "-vV"))[1]
        home = os.environ.get("CARGO_HOME", Path.home() / ".cargo")
        # If several paths fit, the last one counts.
        paths = {rust: f"/rustc/{commit}", home: "/cargo", root: "/bspkit", target: "/target"}
        expect(not any(" " in str(path) for path in paths), "a path of the build has a space")
        words = [flags, *(f"--remap-path-prefix={path}={name}" for path, name in paths.items())]
        prefix = "CARGO_TARGET_" + machine.target.upper().replace("-", "_")
        linker = {f"{prefix}_LINKER": machine.linker} if machine.linker else {}
        return {f"{prefix}_RUSTFLAGS": " ".join(filter(None, words)), "CARGO_TARGET_DIR": str(target), **linker}

    def build(self, machines, root=ROOT, target=TARGET):
        """Programs of several machines at once: linking each takes one core."""
        env = {}
        for machine in machines:
            env |= self.flags(machine, machine.flags, root, target)
        targets = [word for machine in machines for word in ("--target", machine.target)]
        step("cargo", "build", "--locked", "--profile", self.profile, "-p", "bspkit-cli", "--bin", "bspkit", *targets,
             cwd=root, **env)

    def build_ahead(self, machines):
        """What can be built at once. What fails here fails again in its own part, which says so."""
        ready = []
        for machine in machines:
            try:
                self.need_machine(machine)
                ready.append(machine)
            except (Failed, subprocess.CalledProcessError) as error:
                print(f"notice: {machine.name}: {error}")
        if len(ready) > 1:
            try:
                self.build(ready)
            except subprocess.CalledProcessError as error:
                print(f"notice: {error}")

    @functools.cache
    def program(self, machine):
        self.need_machine(machine)
        self.build([machine])
        program = self.folder(machine) / machine.program
        if machine.debian:
            self.need("binutils")
            expect("INTERP" not in text("readelf", "-lW", program), f"{program} is not static")
        return program

    def folder(self, machine):
        return TARGET / machine.target / {"dev": "debug"}.get(self.profile, self.profile)

    @functools.cache
    def content(self, machine):
        """What an archive has, in a folder of its name."""
        program = self.program(machine)
        folder = fresh(WORK / "content" / f"bspkit-{VERSION}-{machine.target}")
        (folder / "completions").mkdir()
        for file in [program, ROOT / "README.md", ROOT / "LICENSE", ROOT / "CHANGELOG.md", self.licences()]:
            shutil.copy(file, folder)
        shutil.copytree(ROOT / "docs", folder / "docs", ignore=lambda _, names: [n for n in names if not n.endswith(".md")])
        run = [*machine.runner, folder / machine.program]
        step(*run, "man", "-q", "-o", "man", cwd=folder)
        for shell, file in SHELLS.items():
            (folder / "completions" / file).write_bytes(output(*run, "completions", shell, cwd=folder))
        return folder

    def pack(self, machine, out):
        """The same content is the same archive: files by name, without owners, at the time of the commit."""
        folder = self.content(machine)
        path = out / f"{folder.name}.{machine.archive}"
        files = sorted(file for file in folder.rglob("*") if file.is_file())
        modes = {file: 0o755 if file.name == machine.program else 0o644 for file in files}
        if machine.archive == "zip":
            with zipfile.ZipFile(path, "w") as archive:
                for file in files:
                    entry = zipfile.ZipInfo(str(file.relative_to(folder.parent)), time.gmtime(self.epoch)[:6])
                    entry.compress_type, entry.external_attr = zipfile.ZIP_DEFLATED, (0o100000 | modes[file]) << 16
                    archive.writestr(entry, file.read_bytes(), compresslevel=9)
            return path
        packed = io.BytesIO()
        with tarfile.open(fileobj=packed, mode="w", format=tarfile.USTAR_FORMAT) as archive:
            for file in files:
                entry = tarfile.TarInfo(str(file.relative_to(folder.parent)))
                entry.size, entry.mtime, entry.mode = file.stat().st_size, self.epoch, modes[file]
                archive.addfile(entry, io.BytesIO(file.read_bytes()))
        path.write_bytes(gzip.compress(packed.getvalue(), mtime=self.epoch))
        return path

    def main_job(self, *program):
        """What the README shows first, in an empty folder."""
        room = fresh(WORK / "room")
        shutil.copytree(ROOT / "tests/maps", room / "maps")
        command = [*program, "ent", "set", MAP.removeprefix("tests/"), "worldspawn", "message=The Place", "-o", "out.bsp"]
        print(">", *command, flush=True)
        done = subprocess.run([str(word) for word in command], cwd=room, check=True, capture_output=True, text=True)
        expect("ENTITIES 1757 -> 1743 bytes, in place" in done.stdout + done.stderr, f"another report: {done}")
        expect(b'"message" "The Place"' in (room / "out.bsp").read_bytes(), "the edit is not in the map")
        step(*program, "verify", "-q", "maps", "out.bsp", cwd=room)
