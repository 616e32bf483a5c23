import os
from pathlib import Path

import pytest

MAPS = Path(__file__).resolve().parent.parent.parent / "tests" / "maps"
CORPUS = os.environ.get("BSPKIT_CORPUS")


def own_maps() -> list[Path]:
    return sorted(path for path in MAPS.glob("*/*.bsp"))


def all_maps() -> list[Path]:
    """Our own maps, and the real ones where they are at hand."""
    real = sorted(Path(CORPUS).glob("**/*.bsp")) if CORPUS else []
    return own_maps() + real


@pytest.fixture
def q3() -> Path:
    return MAPS / "q3" / "own_rooms.bsp"


@pytest.fixture
def source() -> Path:
    return MAPS / "source" / "room_v20.bsp"
