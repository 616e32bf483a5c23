#!/usr/bin/env python3
"""The program in a console of Windows, which wine opens on a terminal: Ctrl-C, and text that is not UTF-8.

That the window is closed cannot be tried: wine 8 tells programs nothing when its terminal goes away.

usage: console.py WINE PROGRAM MAP
"""
import os
import pty
import shutil
import subprocess
import sys
import tempfile
import time

WINE, PROGRAM, MAP = sys.argv[1:]


class Console:
    """A program that runs in a console of its own."""

    def __init__(self, folder, *arguments):
        self.child, self.terminal = pty.fork()
        if self.child == 0:
            os.chdir(folder)
            os.execv(WINE, [WINE, PROGRAM, *arguments])

    def output(self):
        """Everything that the console shows until the program ends."""
        shown = b""
        while True:
            try:
                piece = os.read(self.terminal, 65536)
            except OSError:
                return shown
            if not piece:
                return shown
            shown += piece

    def status(self, seconds=60):
        for _ in range(seconds * 20):
            child, status = os.waitpid(self.child, os.WNOHANG)
            if child:
                return os.waitstatus_to_exitcode(status)
            time.sleep(0.05)
        raise AssertionError("the program does not end")


def temporary(folder):
    return [name for name in os.listdir(folder) if name.startswith(".bspkit-")]


def wait_for_a_save(folder):
    for _ in range(4000):
        if temporary(folder):
            return
        time.sleep(0.005)
    raise AssertionError("nothing is written")


def stopped(folder):
    """A save of a large map that Ctrl-C stops: no file is half written, and the old one is whole."""
    place = os.path.join(folder, "large.bsp")
    shutil.copy(MAP, place)
    # A hole in the disk that takes a while to be copied.
    os.truncate(place, 1 << 30)
    console = Console(folder, "ent", "set", "large.bsp", "worldspawn", "message=new", "--in-place")
    wait_for_a_save(folder)
    os.write(console.terminal, b"\x03")
    status = console.status()
    assert temporary(folder) == [], os.listdir(folder)
    assert os.path.getsize(place) == 1 << 30, "written too fast for this test, or not whole"
    assert status == 130, f"exit status {status}"
    print("Ctrl-C: ok")


def text(folder):
    """A console shows all text, and a pipe gets the exact bytes."""
    value = b"caf\xe9"
    script = os.path.join(folder, "old.ent")
    with open(script, "wb") as file:
        file.write(b'{\n"classname" "worldspawn"\n"message" "' + value + b'"\n}\n\0')
    shutil.copy(MAP, os.path.join(folder, "a.bsp"))
    run = lambda *arguments: subprocess.run([WINE, PROGRAM, *arguments], cwd=folder, capture_output=True)
    imported = run("load", "a.bsp", "entities", "old.ent", "-o", "b.bsp", "--force")
    assert imported.returncode == 0, imported.stderr
    get = ["ent", "get", "b.bsp", "worldspawn", "message"]
    assert run(*get).stdout.rstrip(b"\n").endswith(value), run(*get)
    console = Console(folder, *get)
    shown = console.output()
    assert b"caf\\xe9" in shown, shown
    assert console.status() == 0
    print("text that is not UTF-8: ok")


with tempfile.TemporaryDirectory() as folder:
    text(folder)
    stopped(folder)
