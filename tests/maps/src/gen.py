#!/usr/bin/env python3
"""gen.py - writes the .map sources and textures of the own fixture maps (all content made here).

Two maps per format: "box" (one room) and "rooms" (three rooms, doorways, door + button, func_wall,
styled and switchable lights, liquid, spawn points).  The .map files go beside the .bsp files they
were compiled to; SOURCES.md, one folder up, names the compilers.
"""
import os, random, struct, zlib

OUT = os.path.dirname(os.path.abspath(__file__))
FOLDERS = {'hl': 'goldsrc', 'q2': 'q2', 'q3': 'q3'}   # the games written; add 'q1' to have its maps and WAD2 too


# ---------------------------------------------------------------- textures
def pixels(name, w, h):
    """deterministic grey-value pattern 0..255 by name"""
    r = random.Random(zlib.crc32(name.encode()))
    base = r.randrange(60, 160)
    px = bytearray(w * h)
    for y in range(h):
        for x in range(w):
            v = base + ((x // 8 + y // 8) % 2) * 24 + r.randrange(0, 10)
            if x % 16 == 0 or y % 16 == 0: v -= 30
            px[y * w + x] = max(0, min(255, v))
    return px


def shrink(px, w, h, k):
    return bytes(px[(y * k) * w + x * k] for y in range(h // k) for x in range(w // k))


def miptex(name, w, h, to_index, pal=None):
    px = bytes(to_index(v) for v in pixels(name, w, h))
    mips = [px] + [shrink(px, w, h, k) for k in (2, 4, 8)]
    ofs, o = [], 40
    for m in mips: ofs.append(o); o += len(m)
    b = struct.pack('<16sII4I', name.encode(), w, h, *ofs) + b''.join(mips)
    if pal is not None: b += struct.pack('<H', 256) + pal + b'\0\0'
    return b


def wad(path, magic, kind, texs):
    data, dirs = bytearray(12), []
    for n, b in texs:
        while len(data) % 4: data.append(0)
        dirs.append(struct.pack('<iiiBBH16s', len(data), len(b), len(b), kind, 0, 0, n.encode())); data += b
    while len(data) % 4: data.append(0)
    struct.pack_into('<4sii', data, 0, magic, len(dirs), len(data))
    open(path, 'wb').write(bytes(data) + b''.join(dirs))


def wal(path, name, w, h, contents=0, flags=0, value=0):
    px = bytes(v // 16 for v in pixels(name.split('/')[-1], w, h))   # first 16 palette entries: greys
    mips = [px] + [shrink(px, w, h, k) for k in (2, 4, 8)]
    ofs, o = [], 100
    for m in mips: ofs.append(o); o += len(m)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    open(path, 'wb').write(struct.pack('<32sII4I32siii', name.encode(), w, h, *ofs, b'', flags, contents, value) + b''.join(mips))


def tga(path, name, w, h, tint=(1, 1, 1)):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    px = pixels(name, w, h)
    body = bytes(min(255, int(v * t)) for v in px for t in (tint[2], tint[1], tint[0]))
    open(path, 'wb').write(struct.pack('<BBBHHBHHHHBB', 0, 0, 2, 0, 0, 0, 0, 0, w, h, 24, 0x20) + body)


def pcx(path):
    """16x? colormap with a grey palette so that Quake 2 tools have a palette"""
    os.makedirs(os.path.dirname(path), exist_ok=True)
    w = h = 16
    hd = struct.pack('<BBBBHHHHHH48sBBHHHH54s', 10, 5, 1, 8, 0, 0, w - 1, h - 1, 72, 72, b'', 0, 1, w, 1, 0, 0, b'')
    row = b''.join(bytes([0xC1, v]) for v in range(16)) * 1
    pal = bytes(c for i in range(256) for c in (i, i, i)) if False else bytes(c for i in range(256) for c in ((i * 16) & 255 if i < 16 else i,) * 3)
    open(path, 'wb').write(hd + row * h + b'\x0c' + pal)


# ---------------------------------------------------------------- .map text
def face(a, b, c, tex, suffix):
    p = lambda v: '( %g %g %g )' % v
    return f'{p(a)} {p(b)} {p(c)} {tex} {suffix}'


class Fmt:
    """how one game writes its faces"""
    def __init__(self, kind): self.kind = kind
    def sides(self, x0, y0, z0, x1, y1, z1):
        # clockwise seen from outside, as the classic .map format wants it
        return {'w': ((x0, y0, z0), (x0, y0 + 1, z0), (x0, y0, z0 + 1)), 'e': ((x1, y0, z0), (x1, y0, z0 + 1), (x1, y0 + 1, z0)),
                's': ((x0, y0, z0), (x0, y0, z0 + 1), (x0 + 1, y0, z0)), 'n': ((x0, y1, z0), (x0 + 1, y1, z0), (x0, y1, z0 + 1)),
                'b': ((x0, y0, z0), (x0 + 1, y0, z0), (x0, y0 + 1, z0)), 't': ((x0, y0, z1), (x0, y0 + 1, z1), (x0 + 1, y0, z1))}
    def brush(self, mins, maxs, tex, contents=0, flags=0, value=0):
        out = []
        for k, (a, b, c) in self.sides(*mins, *maxs).items():
            t = tex[k] if isinstance(tex, dict) else tex
            if self.kind == 'q1': suf = '0 0 0 1 1'
            elif self.kind == 'hl':
                ax = {'w': '[ 0 1 0 0 ] [ 0 0 -1 0 ]', 'e': '[ 0 1 0 0 ] [ 0 0 -1 0 ]', 's': '[ 1 0 0 0 ] [ 0 0 -1 0 ]',
                      'n': '[ 1 0 0 0 ] [ 0 0 -1 0 ]', 'b': '[ 1 0 0 0 ] [ 0 -1 0 0 ]', 't': '[ 1 0 0 0 ] [ 0 -1 0 0 ]'}[k]
                suf = ax + ' 0 1 1'
            elif self.kind == 'q2': suf = f'0 0 0 1 1 {contents} {flags} {value}'
            else: suf = f'0 0 0 0.5 0.5 {contents} 0 0'
            out.append(face(a, b, c, t, suf))
        return '{\n' + '\n'.join(out) + '\n}\n'


def ent(kv, brushes=()):
    return '{\n' + ''.join(f'"{k}" "{v}"\n' for k, v in kv) + ''.join(brushes) + '}\n'


T = {   # texture names per game
    'q1': dict(wall='own_wall', floor='own_floor', ceil='own_ceil', door='own_door', crate='own_crate', liquid='*own_water', sky='sky_own', button='+0own_btn', trigger='trigger'),
    'hl': dict(wall='OWN_WALL', floor='OWN_FLOOR', ceil='OWN_CEIL', door='OWN_DOOR', crate='{OWN_GRATE', liquid='!OWN_WATER', sky='sky', button='+0OWN_BTN', trigger='AAATRIGGER'),
    'q2': dict(wall='own/wall', floor='own/floor', ceil='own/ceil', door='own/door', crate='own/crate', liquid='own/water', sky='own/sky', button='own/btn', trigger='own/trigger'),
    'q3': dict(wall='own/wall', floor='own/floor', ceil='own/ceil', door='own/door', crate='own/crate', liquid='own/water', sky='own/sky', button='own/btn', trigger='own/trigger'),
}


def shell(f, t, x0, y0, z0, x1, y1, z1, skyfrom=None):
    """six slabs of 16 round the inside box"""
    w, b = t['wall'], []
    b.append(f.brush((x0 - 16, y0 - 16, z0 - 16), (x1 + 16, y1 + 16, z0), t['floor']))
    if skyfrom is None:
        b.append(f.brush((x0 - 16, y0 - 16, z1), (x1 + 16, y1 + 16, z1 + 16), t['ceil']))
    else:
        b.append(f.brush((x0 - 16, y0 - 16, z1), (skyfrom, y1 + 16, z1 + 16), t['ceil']))
        b.append(f.brush((skyfrom, y0 - 16, z1), (x1 + 16, y1 + 16, z1 + 16), t['sky'], flags=4 if f.kind == 'q2' else 0))
    b.append(f.brush((x0 - 16, y0 - 16, z0), (x0, y1 + 16, z1), w))
    b.append(f.brush((x1, y0 - 16, z0), (x1 + 16, y1 + 16, z1), w))
    b.append(f.brush((x0, y0 - 16, z0), (x1, y0, z1), w))
    b.append(f.brush((x0, y1, z0), (x1, y1 + 16, z1), w))
    return b


def world(kind, name, extra=()):
    kv = [('classname', 'worldspawn'), ('message', f'{name} ({kind}), own fixture')]
    if kind == 'q1': kv += [('wad', 'own_q1.wad'), ('worldtype', '0'), ('sounds', '1')]
    if kind == 'hl': kv += [('wad', 'own_hl.wad'), ('mapversion', '220'), ('skyname', 'desert'), ('MaxRange', '4096')]
    if kind == 'q2': kv += [('sky', 'unit1_'), ('nextmap', 'rooms')]
    if kind == 'q3': kv += [('music', 'music/none.wav'), ('_ambient', '8'), ('gridsize', '128 128 256')]
    return kv + list(extra)


SPAWN2 = {'q1': 'info_player_deathmatch', 'hl': 'info_player_deathmatch', 'q2': 'info_player_deathmatch', 'q3': 'info_player_deathmatch'}


def box(kind):
    f, t = Fmt(kind), T[kind]
    s = ent(world(kind, 'box'), shell(f, t, 0, 0, 0, 256, 256, 128))
    start = 'info_player_deathmatch' if kind == 'q3' else 'info_player_start'
    s += ent([('classname', start), ('origin', '64 64 40'), ('angle', '45')])
    s += ent([('classname', 'light'), ('origin', '128 128 96'), ('light' if kind != 'hl' else '_light', '200' if kind != 'hl' else '255 255 200 200')])
    return s


def rooms(kind):
    f, t = Fmt(kind), T[kind]
    b = shell(f, t, 0, -128, 0, 768, 128, 192, skyfrom=528)
    for x in (256, 512):                        # partition walls with a doorway 64 x 96
        b += [f.brush((x, -128, 0), (x + 16, -32, 192), t['wall']), f.brush((x, 32, 0), (x + 16, 128, 192), t['wall']),
              f.brush((x, -32, 96), (x + 16, 32, 192), t['wall'])]
    det = 0x8000000 if kind in ('q2', 'q3') else 0
    b.append(f.brush((368, -112, 0), (400, -80, 160), t['wall'], contents=det))          # pillars
    b.append(f.brush((368, 80, 0), (400, 112, 160), t['wall'], contents=det))
    b.append(f.brush((560, -112, 0), (740, 96, 40), t['liquid'], contents=32 if kind == 'q2' else 0, flags=(1 | 16 | 8) if kind == 'q2' else 0))
    if kind == 'q2':                            # area portals need brushes that fill the doorways
        pass
    if kind == 'q3':                            # a curved surface
        b.append('{\npatchDef2\n{\nown/crate\n( 3 3 0 0 0 )\n(\n' + ''.join(
            '( ' + ' '.join('( %g %g %g %g %g )' % (64 + 48 * i, 127 - (24 if i == 1 else 0), 32 + 48 * j, i / 2, j / 2) for j in range(3)) + ' )\n'
            for i in range(3)) + ')\n}\n}\n')
    s = ent(world(kind, 'rooms', [('own_long', 'k' * 120), ('_author', 'own')]), b)
    lk = '_light' if kind == 'hl' else 'light'
    lv = lambda n: f'255 240 200 {n}' if kind == 'hl' else str(n)
    sp = SPAWN2[kind]
    s += ent([('classname', 'info_player_start'), ('origin', '48 0 40'), ('angle', '0')])
    for x, y in ((64, -80), (64, 80), (320, 0), (480, -96)):
        s += ent([('classname', sp), ('origin', f'{x} {y} 40'), ('angle', '180')])
    s += ent([('classname', 'light'), ('origin', '128 0 160'), (lk, lv(250))])
    s += ent([('classname', 'light'), ('origin', '384 0 160'), (lk, lv(220)), ('style', '10' if kind in ('q1', 'hl') else '2')])
    s += ent([('classname', 'light'), ('origin', '640 64 160'), (lk, lv(200)), ('targetname', 'lamp'), ('spawnflags', '0')])
    s += ent([('classname', 'func_door'), ('targetname', 'door1'), ('angle', '-1'), ('speed', '100'), ('wait', '3'), ('lip', '8')],
             [f.brush((258, -32, 0), (270, 32, 96), t['door'])])
    s += ent([('classname', 'func_button'), ('target', 'door1'), ('angle', '180'), ('wait', '2')],
             [f.brush((250, 56, 40), (256, 72, 56), t['button'])])
    s += ent([('classname', 'func_static' if kind == 'q3' else 'func_wall'), ('targetname', 'crate1'), ('spawnflags', '0')],
             [f.brush((416, -16, 0), (448, 16, 32), t['crate'])])
    s += ent([('classname', 'trigger_multiple'), ('target', 'lamp'), ('wait', '1')], [f.brush((512, -32, 0), (528, 32, 96), t['trigger'])])
    for i, (cn, o) in enumerate({'q1': [('item_health', '200 64 8'), ('weapon_nailgun', '440 64 8'), ('monster_ogre', '700 100 48')],
                                 'hl': [('item_healthkit', '200 64 8'), ('weapon_crowbar', '440 64 8'), ('monster_barney', '700 100 48')],
                                 'q2': [('item_health', '200 64 24'), ('weapon_shotgun', '440 64 24'), ('monster_soldier', '700 100 80')],
                                 'q3': [('item_health', '200 64 24'), ('weapon_rocketlauncher', '440 64 24'), ('item_armor_shard', '700 100 80')]}[kind]):
        s += ent([('classname', cn), ('origin', o), ('targetname', f'item{i}')])
    s += ent([('classname', 'path_corner'), ('origin', '100 0 24'), ('targetname', 'p1'), ('target', 'p2')])
    s += ent([('classname', 'path_corner'), ('origin', '200 0 24'), ('targetname', 'p2'), ('target', 'p1')])
    if kind == 'q2':
        s += ent([('classname', 'func_areaportal'), ('targetname', 'ap1')], [f.brush((515, -32, 0), (525, 32, 96), 'own/trigger', flags=0x80)])
        s += ent([('classname', 'target_speaker'), ('origin', '128 0 100'), ('noise', 'world/amb1.wav'), ('spawnflags', '1')])
    if kind == 'q3':
        s += ent([('classname', 'misc_teleporter_dest'), ('origin', '100 -64 40'), ('targetname', 'tele1'), ('angle', '90')])
        s += ent([('classname', 'trigger_teleport'), ('target', 'tele1')], [f.brush((700, 64, 48), (740, 96, 96), t['trigger'])])
        s += ent([('classname', 'info_player_intermission'), ('origin', '128 0 120'), ('angle', '45')])
    return s


SHADERS = '''// made for the own fixture maps
own/sky
{
	surfaceparm sky
	surfaceparm noimpact
	surfaceparm nolightmap
	q3map_sunExt 1 0.9 0.8 80 30 60 2 4
	skyparms - 512 -
}
own/water
{
	qer_editorimage textures/own/water.tga
	surfaceparm water
	surfaceparm nonsolid
	surfaceparm trans
	surfaceparm nolightmap
	cull disable
	{
		map textures/own/water.tga
		blendFunc add
		tcMod scroll 0.02 0.03
	}
}
own/trigger
{
	surfaceparm nodraw
	surfaceparm nonsolid
	surfaceparm nolightmap
	surfaceparm trans
}
'''


def main():
    os.chdir(OUT)
    grey16 = lambda v: v // 16                      # Quake palette: entries 0..15 are greys
    if 'q1' in FOLDERS:
        n1 = ['own_wall', 'own_floor', 'own_ceil', 'own_door', 'own_crate', '*own_water', '+0own_btn', '+1own_btn', 'trigger']
        wad('own_q1.wad', b'WAD2', 0x44, [(n, miptex(n, 32, 32, grey16)) for n in n1] + [('sky_own', miptex('sky_own', 256, 128, grey16))])
    pal = bytes(c for i in range(256) for c in (i, i, i))
    nh = ['OWN_WALL', 'OWN_FLOOR', 'OWN_CEIL', 'OWN_DOOR', '{OWN_GRATE', '!OWN_WATER', '+0OWN_BTN', '+AOWN_BTN', 'AAATRIGGER', 'sky']
    wad('own_hl.wad', b'WAD3', 0x43, [(n, miptex(n, 32, 32, lambda v: v, pal)) for n in nh])
    for n, c, fl in (('wall', 0, 0), ('floor', 0, 0), ('ceil', 0, 0), ('door', 0, 0), ('crate', 0, 0), ('water', 32, 9), ('sky', 0, 4), ('btn', 0, 0), ('trigger', 0, 0x80)):
        wal(f'q2/textures/own/{n}.wal', f'own/{n}', 64, 64, c, fl)
    pcx('q2/pics/colormap.pcx')
    for n in ('wall', 'floor', 'ceil', 'door', 'crate', 'water', 'btn', 'sky', 'trigger'): tga(f'q3/baseq3/textures/own/{n}.tga', n, 64, 64)
    os.makedirs('q3/baseq3/scripts', exist_ok=True)
    open('q3/baseq3/scripts/own.shader', 'w').write(SHADERS.replace('own/', 'textures/own/').replace('textures/textures/', 'textures/'))
    open('q3/baseq3/scripts/shaderlist.txt', 'w').write('own\n')
    for k, folder in FOLDERS.items():
        for n, fn in (('box', box), ('rooms', rooms)): open(f'../{folder}/own_{n}.map', 'w').write(fn(k))


main()
