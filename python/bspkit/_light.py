"""Light, textures and visibility as NumPy arrays."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, overload

try:
    import numpy
except ImportError:  # pragma: no cover
    raise ImportError("light, textures and visibility need NumPy: pip install 'bspkit[numpy]'") from None

from ._errors import NotFoundError, shown

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from ._native import _Light, _Textures, _Visibility

_DEPTH = {"grey": 1, "rgb": 3, "rgbe": 4}


class LightImage:
    """The luxels of a face or page for one style, and for bumped faces of one direction.

    After an edit that moves faces or light it cannot be used any more, and says so.
    """

    def __init__(self, native: _Light, form: str, at: tuple[int, int, int, int, int, int], size: tuple[int, int]) -> None:
        self._native, self._at = native, at
        self.form, self.size = form, size

    @property
    def pixels(self) -> NDArray[numpy.uint8]:
        """The luxels as in the file: rows, columns, and 1 (grey), 3 (rgb) or 4 (rgbe, the last is the exponent) bytes."""
        columns, rows = self.size
        flat = numpy.frombuffer(self._native.read(self._at), numpy.uint8)
        return flat.reshape(rows, columns, _DEPTH[self.form]).copy()

    @pixels.setter
    def pixels(self, new: ArrayLike) -> None:
        array = numpy.asarray(new)
        columns, rows = self.size
        if array.shape != (rows, columns, _DEPTH[self.form]):
            raise ValueError(f"the shape is {array.shape}, and {(rows, columns, _DEPTH[self.form])} is expected")
        if array.dtype != numpy.uint8:
            raise ValueError(f"the type is {array.dtype}, and uint8 is expected")
        self._native.write(self._at, array.tobytes())

    @property
    def linear(self) -> NDArray[numpy.float64]:
        """The light that the luxels mean, as red, green, blue; 1 shows a texture unchanged."""
        columns, rows = self.size
        return numpy.frombuffer(self._native.linear(self._at), numpy.float64).reshape(rows, columns, 3).copy()

    @linear.setter
    def linear(self, new: ArrayLike) -> None:
        array = numpy.asarray(new, numpy.float64)
        columns, rows = self.size
        if array.shape != (rows, columns, 3):
            raise ValueError(f"the shape is {array.shape}, and {(rows, columns, 3)} is expected")
        if not (numpy.isfinite(array).all() and (array >= 0).all()):
            raise ValueError("light is finite numbers from 0 on")
        self._native.write_linear(self._at, array.tobytes())


def _colors(palette: ArrayLike) -> bytes:
    """The bytes of 256 colors; floats may be whole numbers."""
    colors = numpy.asarray(palette)
    if colors.shape not in ((256, 3), (768,)):
        raise ValueError(f"the shape of the palette is {colors.shape}, and (256, 3) is expected")
    made = colors.astype(numpy.uint8)
    if not numpy.array_equal(made, colors):
        raise ValueError("colors are whole numbers from 0 to 255")
    return made.tobytes()


class LightFace(LightImage):
    """The light of a face, or a page of light that surfaces share. As an image it is the first style's."""

    def __init__(
        self, native: _Light, form: str, set: int, block: int, about: tuple[int, int, int, list[int], int, int]
    ) -> None:
        index, columns, rows, styles, planes, place = about
        super().__init__(native, form, (set, block, 0, 0, index, place), (columns, rows))
        self.index = index
        self.styles = list(styles)
        self.directions = planes

    def image(self, style: int = 0, direction: int = 0) -> LightImage:
        """The image of a style, by its place in `styles`; of a bumped face 1 to 3 are the directions."""
        if not (0 <= style < len(self.styles) and 0 <= direction < self.directions):
            raise IndexError(f"the face has {len(self.styles)} styles and {self.directions} images of each")
        set, block, _, _, index, place = self._at
        return LightImage(self._native, self.form, (set, block, style, direction, index, place), self.size)

    def __repr__(self) -> str:
        return f"<bspkit.LightFace {self.index}, {self.size[0]} by {self.size[1]}, styles {self.styles}>"


class LightSet(Sequence[LightFace]):
    """The light of one lump: of each lit face, or of each page.

    ``copy_of`` is the number of the set that has the same light in another form, as ``LIGHTING`` and ``RGBLIGHTING`` of
    BSPX, else ``None``. What is written into one of the two is written into the other: edit one of them.
    """

    def __init__(self, native: _Light, index: int, about: tuple[str, str, str, bool, int | None]) -> None:
        self._native, self._index = native, index
        self.name, self.lump, self.form, self.is_pages, self.copy_of = about
        self._blocks = native.blocks(index)
        self._places = {about[0]: place for place, about in enumerate(self._blocks)}

    def __len__(self) -> int:
        return len(self._blocks)

    @overload
    def __getitem__(self, index: int) -> LightFace: ...
    @overload
    def __getitem__(self, index: slice) -> list[LightFace]: ...
    def __getitem__(self, index: int | slice) -> LightFace | list[LightFace]:
        if isinstance(index, slice):
            return [self[place] for place in range(*index.indices(len(self)))]
        place = index + len(self) if index < 0 else index
        if not 0 <= place < len(self):
            raise IndexError(f"there is no light {index}: there are {len(self)}")
        return LightFace(self._native, self.form, self._index, place, self._blocks[place])

    def face(self, index: int) -> LightFace:
        """The light of a face by the face's index, or of a page; KeyError if it is not lit."""
        return self[self._places[index]]

    def __repr__(self) -> str:
        return f"<bspkit.LightSet {self.lump}, {len(self)}>"


class Light:
    """The light of a map: sets, which most maps have one of."""

    def __init__(self, native: _Light) -> None:
        self.sets = [LightSet(native, index, about) for index, about in enumerate(native.sets())]

    @property
    def faces(self) -> LightSet:
        """The first set."""
        if not self.sets:
            raise NotFoundError("the map was never lit")
        return self.sets[0]

    def __repr__(self) -> str:
        return f"<bspkit.Light {self.sets}>"


class Texture:
    """A texture of a Quake or GoldSrc map. After an edit that adds or removes textures it cannot be used any more."""

    def __init__(self, native: _Textures, index: int) -> None:
        self._native, self.index = native, index
        self._count = len(native)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Texture) and (other._native, other.index) == (self._native, self.index)

    def __hash__(self) -> int:
        return hash((id(self._native), self.index))

    def _check(self) -> None:
        if len(self._native) != self._count:
            raise NotFoundError("an edit added or removed textures: take this one from map.textures again")

    def _about(self) -> tuple[str, int, int, bool]:
        self._check()
        about = self._native.describe(self.index)
        if about is None:
            raise NotFoundError(f"texture {self.index} is missing in this map")
        return about

    @property
    def is_missing(self) -> bool:
        """Whether the map has a number and no texture; all else is an error then."""
        self._check()
        return self._native.describe(self.index) is None

    @property
    def name(self) -> str:
        return self._about()[0]

    @name.setter
    def name(self, new: str) -> None:
        self._check()
        self._native.rename(self.index, new)

    @property
    def size(self) -> tuple[int, int]:
        """Columns and rows."""
        return self._about()[1:3]

    @property
    def is_embedded(self) -> bool:
        """Whether its pixels are in the map."""
        return self._about()[3]

    @property
    def palette(self) -> NDArray[numpy.uint8] | None:
        """The 256 colors that the texture brings along; None in Quake, where all textures share one."""
        self._check()
        colors = self._native.palette(self.index)
        return None if colors is None else numpy.frombuffer(colors, numpy.uint8).reshape(256, 3).copy()

    def level(self, level: int = 0) -> NDArray[numpy.uint8] | None:
        """The pixels of a level (0 to 3, each half as large) as indices of the palette; None if they are not here."""
        self._check()
        pixels = self._native.pixels(self.index, level)
        columns, rows = self.size
        shape = (max(rows >> level, 1), max(columns >> level, 1))
        return None if pixels is None else numpy.frombuffer(pixels, numpy.uint8).reshape(shape).copy()

    @property
    def pixels(self) -> NDArray[numpy.uint8] | None:
        """The pixels as indices of the palette. Setting them makes the smaller levels anew."""
        return self.level(0)

    @pixels.setter
    def pixels(self, new: ArrayLike) -> None:
        self.set_image(new)

    def set_image(self, pixels: ArrayLike, palette: ArrayLike | None = None) -> None:
        """Sets the pixels, and the palette if one is given."""
        self._check()
        array = numpy.asarray(pixels)
        if array.ndim != 2 or array.dtype != numpy.uint8:
            raise ValueError("pixels are indices of a palette: an array of uint8 with rows and columns")
        colors = None if palette is None else _colors(palette)
        self._native.set_image(self.index, array.shape[1], array.shape[0], array.tobytes(), colors)

    def image(self) -> Any:
        """The texture as an image of Pillow."""
        from PIL import Image

        pixels, palette = self.pixels, self.palette
        if pixels is None:
            raise NotFoundError(f"the pixels of {self.name} are not in this map")
        image = Image.fromarray(pixels, "P" if palette is not None else "L")
        if palette is not None:
            image.putpalette(palette.tobytes())
        return image

    def __repr__(self) -> str:
        return shown("Texture", lambda: f"{self.index}, {'missing' if self.is_missing else self.name}")


class Textures(Sequence[Texture]):
    """The textures of a Quake or GoldSrc map, by number or by name."""

    def __init__(self, native: _Textures) -> None:
        self._native = native

    def __len__(self) -> int:
        return len(self._native)

    @overload
    def __getitem__(self, index: int | str) -> Texture: ...
    @overload
    def __getitem__(self, index: slice) -> list[Texture]: ...
    def __getitem__(self, index: int | str | slice) -> Texture | list[Texture]:
        if isinstance(index, slice):
            return [Texture(self._native, place) for place in range(*index.indices(len(self)))]
        if isinstance(index, str):
            for texture in self:
                about = self._native.describe(texture.index)
                if about is not None and about[0].lower() == index.lower():
                    return texture
            raise KeyError(index)
        place = index + len(self) if index < 0 else index
        if not 0 <= place < len(self):
            raise IndexError(f"there is no texture {index}: there are {len(self)}")
        return Texture(self._native, place)

    def __contains__(self, texture: object) -> bool:
        """Whether the map has a texture of a name, or one that was taken of it."""
        if isinstance(texture, str):
            found = (self._native.describe(index) for index in range(len(self)))
            return any(about is not None and about[0].lower() == texture.lower() for about in found)
        return super().__contains__(texture)

    def __iter__(self) -> Iterator[Texture]:
        return (Texture(self._native, index) for index in range(len(self)))

    def __repr__(self) -> str:
        return shown("Textures", lambda: len(self))


class Visibility:
    """What is visible, and in Quake II what can be heard, from each cluster or leaf."""

    def __init__(self, native: _Visibility) -> None:
        self._native = native

    def __len__(self) -> int:
        return len(self._native)

    @property
    def pvs(self) -> NDArray[numpy.bool_]:
        """Whether one sees the other: rows are from where."""
        return self.matrix("pvs")

    @pvs.setter
    def pvs(self, new: ArrayLike) -> None:
        self.set_matrix("pvs", new)

    @property
    def phs(self) -> NDArray[numpy.bool_]:
        """Whether one hears the other; only Quake II and Source have it."""
        return self.matrix("phs")

    @phs.setter
    def phs(self, new: ArrayLike) -> None:
        self.set_matrix("phs", new)

    def matrix(self, set: str) -> NDArray[numpy.bool_]:
        """The set `pvs` or `phs`. What is written into the array is no edit: set it as a whole."""
        count = len(self)
        return numpy.frombuffer(self._native.matrix(set), numpy.bool_).reshape(count, count).copy()

    def set_matrix(self, set: str, new: ArrayLike) -> int:
        """Sets all pairs, as truth values or 0 and 1; returns how many rows changed."""
        array, count = numpy.asarray(new), len(self)
        if array.shape != (count, count):
            raise ValueError(f"the shape is {array.shape}, and {(count, count)} is expected")
        pairs = array.astype(numpy.bool_) if array.dtype.kind in "biu" else None
        if pairs is None or not numpy.array_equal(pairs, array):
            raise ValueError("a pair is True or False, or 1 or 0")
        return self._native.set_matrix(set, pairs.tobytes())

    def _places(self, a: int, b: int) -> tuple[int, int]:
        """Indices as lists have them: negative ones count from the end, and there is an IndexError."""
        places = range(len(self))
        return places[a], places[b]

    def sees(self, a: int, b: int) -> bool:
        return self._native.sees("pvs", *self._places(a, b))

    def hears(self, a: int, b: int) -> bool:
        return self._native.sees("phs", *self._places(a, b))

    def set(self, a: int, b: int, sees: bool) -> None:
        """Whether a sees b. What b sees is another pair."""
        self._native.set("pvs", *self._places(a, b), sees)

    def __repr__(self) -> str:
        return shown("Visibility", lambda: len(self))
