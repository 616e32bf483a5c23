"""The examples of the README, run from the folder of the checkout."""

import doctest
import os
import shutil
from pathlib import Path

import pytest
from conftest import MAPS

README = Path(__file__).resolve().parent.parent / "README.md"


def test_examples(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "tests").mkdir()
    shutil.copytree(MAPS, tmp_path / "tests" / "maps")
    monkeypatch.chdir(tmp_path)
    failed, tried = doctest.testfile(str(README), module_relative=False, optionflags=doctest.ELLIPSIS)
    assert tried > 20 and failed == 0 and os.path.exists("out.bsp")
