"""The values of records beside those that srctools and bsp_tool read, where these packages are installed.

The values are compared field by field: floats as such, integers by their bits, since packages differ in what has a sign.
"""

import contextlib
import importlib
import io
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import bspkit
import numpy
import pytest
from conftest import all_maps, own_maps

#: The largest real maps, in bytes: both packages take seconds for a megabyte.
MOST = int(os.environ.get("BSPKIT_READERS_MOST", "120000"))
MAPS = [path for path in all_maps() if path.stat().st_size <= MOST or path in own_maps()]
SOURCE = [path for path in MAPS if path.parent.name == "source"]

#: What bsp_tool 0.7.0 reads in another way, by lump, with the versions of Source maps: the light of a leaf begins after
#: padding, from version 21 on the two flags of a brush side are one number, the tesselation of a displacement is two.
EXEMPT = {"LEAFS": {19}, "BRUSHSIDES": {21, 25}, "DISPINFO": {19, 20, 21}}

#: Fields that some packages leave out.
PADDING = ("pad", "unused")


def flat(value: Any, padded: bool = True) -> Iterator[Any]:
    """The numbers and names of a value, one after the other."""
    if isinstance(value, numpy.void) and value.dtype.names:
        for name in value.dtype.names:
            if padded or not name.startswith(PADDING):
                yield from flat(value[name])
    elif isinstance(value, numpy.ndarray):
        yield from flat(list(value.ravel())) if value.dtype.names else value.ravel().tolist()
    elif isinstance(value, (tuple, list)):
        for item in value:
            yield from flat(item)
    elif isinstance(value, (bytes, str)):
        yield (value.encode("latin-1") if isinstance(value, str) else value).split(b"\0")[0]
    else:
        yield value.item() if isinstance(value, numpy.generic) else value


def is_same(one: Any, other: Any) -> bool:
    """Whether two values have the same bits."""
    if isinstance(one, float) or isinstance(other, float):
        return bool(one == other or (one != one and other != other))
    if isinstance(one, int) and isinstance(other, int):
        return one == other or abs(one - other) in (1 << 8, 1 << 16, 1 << 32)
    return bool(one == other)


def differences(ours: Any, others: Any) -> Iterator[str]:
    for index, (record, other) in enumerate(zip(ours, others, strict=True)):
        values, expected = list(flat(other)), list(flat(record))
        if len(values) != len(expected):
            expected = list(flat(record, padded=False))
        if len(values) != len(expected) or not all(map(is_same, expected, values)):
            yield f"{index}: {expected} and {values}"


def first_difference(ours: Any, others: Any) -> str | None:
    return next(differences(ours, others), None)


def package(name: str) -> Any:
    """A package that must not be missing where the checks of a change run."""
    return importlib.import_module(name) if os.environ.get("BSPKIT_REQUIRE_READERS") else pytest.importorskip(name)


def opened(path: Path) -> bspkit.Map:
    try:
        return bspkit.open(path)
    except bspkit.BspError as error:
        pytest.skip(str(error))


@pytest.mark.parametrize("path", MAPS, ids=lambda path: f"{path.parent.name}-{path.name}")
def test_values_are_those_of_bsp_tool(path: Path) -> None:
    bsp_tool = package("bsp_tool")
    map = opened(path)
    with contextlib.redirect_stdout(io.StringIO()):
        try:
            other = bsp_tool.load_bsp(str(path))
        except Exception as error:
            pytest.skip(f"bsp_tool cannot open it: {error}")
    lumps, compared, wrong = map.lumps, 0, {}
    for name in other.headers:
        lump = lumps[other.branch.LUMP[name].value]
        try:
            ours = map.table(lump.name)
            others = list(getattr(other, name))
        except Exception:
            # Of one of both it is no list of records.
            continue
        if not others or len(others) != len(ours) or not hasattr(others[0], "as_tuple"):
            continue
        compared += 1
        difference = first_difference(ours, [record.as_tuple() for record in others])
        if difference and map.version not in EXEMPT.get(lump.name, ()):
            wrong[lump.name] = f"{type(others[0]).__module__}: {difference}"
    assert not wrong
    if not compared:
        pytest.skip("there is nothing that both read")


def rows(table: Any, *fields: str) -> list[Any]:
    """Some fields of a table."""
    return list(zip(*(table[field].tolist() for field in fields), strict=True))


def of_faces(map: bspkit.Map, place: dict[int, int], faces: Any) -> Iterator[tuple[Any, Any]]:
    fields = ["plane", "side", "on_node", "edge_count", "displacement", "fog_volume", "styles", "light_offset"]
    fields += ["area", "luxel_mins", "luxel_size", "smoothing_groups"]
    yield (
        rows(map.table("FACES"), *fields),
        [
            (
                (place[id(face.plane)], face.same_dir_as_plane, face.on_node, len(face.edges), face._dispinfo_ind),
                (face.surf_fog_volume_id, list(face.light_styles), face._lightmap_off, face.area),
                (face.lightmap_mins, face.lightmap_size, face.smoothing_groups),
            )
            for face in faces
        ],
    )
    yield rows(map.table("FACES"), "texinfo"), [place[id(face.texinfo)] for face in faces]


def of_texinfo(map: bspkit.Map, all: Any) -> Iterator[tuple[Any, Any]]:
    texinfo = map.table("TEXINFO")
    vectors = [
        ((*info.s_off, info.s_shift, *info.t_off, info.t_shift))
        + (*info.lightmap_s_off, info.lightmap_s_shift, *info.lightmap_t_off, info.lightmap_t_shift, info.flags.value)
        for info in all
    ]
    yield rows(texinfo, "texture_vectors", "lightmap_vectors", "flags"), vectors
    texdata = map.table("TEXDATA")[texinfo["texdata"]]
    yield (
        rows(texdata, "reflectivity", "width", "height"),
        [(*info.reflectivity, info.tex_size[0], info.tex_size[1]) for info in all],
    )


def of_tree(map: bspkit.Map, place: dict[int, int], bsp: Any) -> Iterator[tuple[Any, Any]]:
    bits = bsp.lump_layout["LEAF_AREA_OFFSET"]
    leafs = map.table("LEAFS")[: len(bsp.visleafs)]
    fields = ["contents", "cluster", "area_flags", "mins", "maxs", "leaf_face_count", "leaf_brush_count", "water"]
    yield (
        rows(leafs, *fields),
        [
            (leaf.contents.value, leaf.cluster_id, leaf.area << bits | leaf.flags.value, *leaf.mins, *leaf.maxes)
            + (len(leaf.faces), len(leaf.brushes), leaf.water_id)
            for leaf in bsp.visleafs
        ],
    )
    nodes = map.table("NODES")
    yield (
        rows(nodes, "plane", "mins", "maxs", "face_count", "area"),
        [(place[id(node.plane)], *node.mins, *node.maxes, len(node.faces), node.area_ind) for node in bsp.nodes],
    )
    place = {id(node): index for index, node in enumerate(bsp.nodes)}
    place.update({id(leaf): -1 - index for index, leaf in enumerate(bsp.visleafs)})
    yield rows(nodes, "children"), [(place[id(node.child_neg)], place[id(node.child_pos)]) for node in bsp.nodes]


def of_srctools(map: bspkit.Map, bsp: Any) -> Iterator[tuple[str, Any, Any]]:
    """Our values and those of srctools, by what they are."""
    parts = ("planes", "texinfo", "faces", "brushes")
    place = {id(item): index for part in parts for index, item in enumerate(getattr(bsp, part))}
    planes = [(*plane.normal, plane.dist, plane._type.value) for plane in bsp.planes]
    yield "planes", map.table("PLANES"), planes
    vertexes, edges, turns = map.table("VERTEXES"), map.table("EDGES"), map.table("SURFEDGES")
    yield "vertexes", vertexes, [tuple(vertex) for vertex in bsp.vertexes]
    [position] = vertexes.dtype.names or ()
    [ends] = edges.dtype.names or ()
    [turn] = turns.dtype.names or ()
    of_edges = edges[ends][numpy.abs(turns[turn])]
    of_edges = numpy.where((turns[turn] < 0)[:, None], of_edges[:, ::-1], of_edges)
    yield "surfedges", vertexes[position][of_edges], [(*edge.a, *edge.b) for edge in bsp.surfedges]
    for part, both in (
        ("faces", of_faces(map, place, bsp.faces)),
        ("texinfo", of_texinfo(map, bsp.texinfo)),
        ("nodes and leafs", of_tree(map, place, bsp)),
    ):
        for ours, others in both:
            yield part, ours, others
    brushes, sides = map.table("BRUSHES"), map.table("BRUSHSIDES")
    yield (
        "brushes",
        rows(brushes, "side_count", "contents"),
        [(len(brush.sides), brush.contents.value) for brush in bsp.brushes],
    )
    first = [record for start, count in rows(brushes, "first_side", "side_count") for record in range(start, start + count)]
    yield (
        "brush sides",
        rows(sides[first], "plane", "texinfo"),
        [(place[id(side.plane)], place[id(side.texinfo)]) for brush in bsp.brushes for side in brush.sides],
    )
    models = map.table("MODELS")
    entities = [entity for entity in map.entities if entity.get("model", "").startswith("*")]
    named = [0, *(int(entity["model"][1:]) for entity in entities)]
    yield (
        "models",
        rows(models[named], "mins", "maxs", "origin", "face_count"),
        [(*model.mins, *model.maxes, *model.origin, len(model.faces)) for model in bsp.bmodels.values()],
    )
    if map.lumps[42].count:
        cubemaps = [(*cubemap.origin, cubemap.size) for cubemap in bsp.cubemaps]
        yield "cubemaps", rows(map.table("CUBEMAPS"), "origin", "size"), cubemaps


@pytest.mark.parametrize("path", SOURCE, ids=lambda path: path.name)
def test_values_are_those_of_srctools(path: Path) -> None:
    srctools = package("srctools.bsp")
    map, bsp = opened(path), parsed(srctools, path)
    found = {part: first_difference(ours, others) for part, ours, others in of_srctools(map, bsp)}
    assert not {part: difference for part, difference in found.items() if difference}


#: A field of each lump, for faults.
FAULTS = [
    *(("PLANES", field) for field in ("normal", "distance", "kind")),
    ("VERTEXES", "point"),
    ("SURFEDGES", "edge"),
    ("EDGES", "vertexes"),
    *(("TEXINFO", field) for field in ("texture_vectors", "lightmap_vectors", "flags", "texdata")),
    *(("TEXDATA", field) for field in ("reflectivity", "width")),
    *(("FACES", field) for field in ("plane", "side", "texinfo", "styles", "light_offset", "area", "luxel_size")),
    *(("NODES", field) for field in ("plane", "children", "mins", "maxs", "face_count")),
    *(("LEAFS", field) for field in ("contents", "cluster", "area_flags", "mins", "leaf_face_count", "water")),
    *(("BRUSHES", field) for field in ("side_count", "contents")),
    *(("BRUSHSIDES", field) for field in ("plane", "texinfo")),
    *(("MODELS", field) for field in ("mins", "maxs", "origin", "face_count")),
    *(("CUBEMAPS", field) for field in ("origin", "size")),
]


@pytest.mark.parametrize(("lump", "field"), FAULTS)
def test_a_wrong_field_is_seen(source: Path, lump: str, field: str) -> None:
    srctools = package("srctools.bsp")
    map, bsp = opened(source), parsed(srctools, source)
    table = map.table(lump)
    table[field] = numpy.roll(table[field], 1) if numpy.ptp(table[field]) else table[field] + 1

    def is_seen() -> bool:
        return any(first_difference(ours, others) for _, ours, others in of_srctools(map, bsp))

    try:
        assert is_seen()
    except (IndexError, ValueError):
        # The comparison goes by wrong numbers, and finds no such record, or another number of them.
        pass


def parsed(srctools: Any, path: Path) -> Any:
    """The map as srctools reads it. Each part is read once: it takes the bytes away."""
    try:
        bsp = srctools.BSP(path)
        for part in ("planes", "vertexes", "surfedges", "texinfo", "faces", "brushes", "visleafs", "nodes", "bmodels"):
            getattr(bsp, part)
        return bsp
    except Exception as error:
        pytest.skip(f"srctools cannot read it: {type(error).__name__}: {error}")


def test_what_differs_is_seen() -> None:
    """The comparison finds a number that differs in one bit, a float, a name, and another number of values."""
    record = numpy.array([((1.5, 2.0), 7, b"abc")], [("at", "<f4", 2), ("count", "<u2"), ("name", "S4")])
    assert first_difference(record, [(1.5, 2.0, 7, b"abc\0")]) is None
    for wrong in [(1.5, 2.5, 7, b"abc"), (1.5, 2.0, 6, b"abc"), (1.5, 2.0, 7, b"abd"), (1.5, 2.0, 7)]:
        assert first_difference(record, [wrong])
    assert first_difference(numpy.array([65535], "<u2"), [-1]) is None
