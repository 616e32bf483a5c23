// The tree of a map: which leaf a place is in, what is visible from there, and what lies between leafs. Places are in
// units of the map.

const NONE = 0xffffffff;
// Planes of nodes and brushes are this far from their neighbours before they cut.
const NEAR = 0.02;
// The most cuts of polygons: a damaged tree may ask for any number.
const MOST_CUTS = 3e6;

const side = ([x, y, z, distance], at) => x * at[0] + y * at[1] + z * at[2] - distance;

// The tree as `bspkit-see` writes it into a file: `about` has the numbers of the lists, `list` gives the bytes of one.
export async function readSpaces(about, list) {
    const bytes = async (name) => (about[name] === undefined ? new ArrayBuffer(0) : list(about[name]));
    const floats = async (name) => new Float32Array(await bytes(name));
    const words = async (name) => new Uint32Array(await bytes(name));
    const [nodes, leafs, planes] = await Promise.all(["nodes", "leafs", "planes"].map(floats));
    const [faces, places, starts, sides] = await Promise.all(["faces", "places", "starts", "sides"].map(words));
    const rows = new Uint8Array(await bytes("rows"));
    return new Spaces({ head: about.head, nodes, leafs, planes, faces, places, starts, sides, rows, stops: about.stops });
}

class Spaces {
    constructor(lists) {
        Object.assign(this, lists);
        this.nodeCount = this.nodes.length / 6;
        this.leafCount = this.leafs.length / 9;
        this.listed = new Set(this.faces);
    }

    plane = (node) => this.nodes.subarray(6 * node, 6 * node + 4);
    child = (node, behind) => this.nodes[6 * node + 4 + behind];
    place = (leaf) => this.leafs[9 * leaf + 6];
    box = (leaf) => this.leafs.subarray(9 * leaf, 9 * leaf + 6);
    isLeaf = (child) => child < 0 && -1 - child < this.leafCount;

    // The leaf with a place; null where the tree ends nowhere.
    leafAt(at) {
        let child = this.head;
        for (let steps = 0; steps <= this.nodeCount; steps++) {
            if (this.isLeaf(child)) return -1 - child;
            if (!(child >= 0 && child < this.nodeCount)) return null;
            child = this.child(child, side(this.plane(child), at) < 0 ? 1 : 0);
        }
        return null;
    }

    // A function that says of leafs whether they are visible from one; null if all are.
    seenFrom(leaf) {
        const place = leaf === null ? -1 : this.place(leaf);
        const row = place < 0 ? NONE : (this.places[place] ?? NONE);
        if (row === NONE) return null;
        const bits = new Uint8Array(Math.ceil(this.places.length / 8));
        for (let from = this.starts[row], to = 0; to < bits.length && from < this.rows.length; ) {
            const byte = this.rows[from++];
            if (byte !== 0) bits[to++] = byte;
            else to += this.rows[from++] || 1;
        }
        return (other) => {
            const at = this.place(other);
            return at >= 0 && (bits[at >> 3] & (1 << (at & 7))) !== 0;
        };
    }

    // The faces of the leafs that are seen. What no leaf lists is always seen.
    facesOf(isSeen) {
        const seen = new Set();
        let leafs = 0;
        for (let leaf = 0; leaf < this.leafCount; leaf++) {
            if (!isSeen(leaf)) continue;
            leafs += 1;
            const [first, count] = [this.leafs[9 * leaf + 7], this.leafs[9 * leaf + 8]];
            for (let at = first; at < first + count; at++) seen.add(this.faces[at]);
        }
        return { leafs, has: (face) => seen.has(face) || !this.listed.has(face) };
    }

    // The leafs that are not solid, in the tree of the world.
    openLeafs = () => (this.open ??= this.findOpen());

    findOpen() {
        const found = [];
        const seen = new Uint8Array(this.nodeCount);
        const open = [this.head];
        while (open.length) {
            const child = open.pop();
            if (this.isLeaf(child)) {
                if (this.place(-1 - child) >= 0) found.push(-1 - child);
            } else if (child >= 0 && child < this.nodeCount && !seen[child]) {
                seen[child] = 1;
                open.push(this.child(child, 1), this.child(child, 0));
            }
        }
        return found;
    }

    // Where open leafs touch: polygons with the two leafs. `isWhole` says whether all were found.
    portals() {
        const cuts = { left: MOST_CUTS };
        const found = [];
        const seen = new Uint8Array(this.nodeCount);
        const walls = this.walls();
        const open = [[this.head, null]];
        while (open.length && cuts.left > 0) {
            const [node, above] = open.pop();
            if (!(node >= 0 && node < this.nodeCount) || seen[node]) continue;
            seen[node] = 1;
            const plane = this.plane(node);
            let ring = square(plane, walls);
            for (const wall of walls) ring = ring && cut(ring, wall, cuts)[0];
            for (let at = above; at && ring; at = at.above) ring = cut(ring, this.plane(at.node), cuts)[at.behind];
            if (ring) {
                for (const front of this.parts(this.child(node, 0), ring, 0, cuts)) {
                    for (const back of this.parts(this.child(node, 1), front.ring, 1, cuts)) {
                        found.push({ leafs: [front.leaf, back.leaf], ring: back.ring, plane });
                    }
                }
            }
            open.push([this.child(node, 0), { node, behind: 0, above }], [this.child(node, 1), { node, behind: 1, above }]);
        }
        return { portals: found, isWhole: cuts.left > 0 };
    }

    // The parts of a polygon in the open leafs below a child. A polygon on a plane is on the side of where it came from.
    parts(child, ring, behind, cuts) {
        const found = [];
        const open = [[child, ring, 0]];
        while (open.length && cuts.left > 0) {
            const [at, part, depth] = open.pop();
            if (this.isLeaf(at)) {
                if (this.place(-1 - at) >= 0) found.push({ leaf: -1 - at, ring: part });
            } else if (at >= 0 && at < this.nodeCount && depth <= this.nodeCount) {
                const [front, back] = cut(part, this.plane(at), cuts, behind);
                if (front) open.push([this.child(at, 0), front, depth + 1]);
                if (back) open.push([this.child(at, 1), back, depth + 1]);
            }
        }
        return found;
    }

    // The planes around all open leafs, which face inward.
    walls() {
        const [least, most] = [[1e9, 1e9, 1e9], [-1e9, -1e9, -1e9]];
        for (const leaf of this.openLeafs()) {
            const box = this.box(leaf);
            for (let axis = 0; axis < 3; axis++) {
                if (box[axis] < least[axis]) least[axis] = box[axis];
                if (box[axis + 3] > most[axis]) most[axis] = box[axis + 3];
            }
        }
        const direction = (axis, sign) => [0, 1, 2].map((own) => (own === axis ? sign : 0));
        return [0, 1, 2].flatMap((axis) => [[...direction(axis, 1), least[axis] - 1], [...direction(axis, -1), -most[axis] - 1]]);
    }

    // The polygons of brushes that only stop somebody.
    clips() {
        const cuts = { left: MOST_CUTS };
        const found = [];
        let first = 0;
        for (const count of this.sides) {
            const planes = [];
            for (let at = first; at < first + count; at++) planes.push(this.planes.subarray(4 * at, 4 * at + 4));
            first += count;
            for (const [own, plane] of planes.entries()) {
                let ring = square(plane, null);
                for (const [number, other] of planes.entries()) {
                    if (!ring || number === own) continue;
                    // Of two sides at the same place the first one is shown.
                    const isSame = ring.every((at) => Math.abs(side(other, at)) <= NEAR);
                    if (!isSame) ring = cut(ring, other, cuts)[1];
                    else if (number < own) ring = null;
                }
                if (ring) found.push(ring);
            }
        }
        return found;
    }
}

// A square on a plane that is larger than the walls, or than any map.
function square([x, y, z, distance], walls) {
    const normal = [x, y, z];
    const length = Math.hypot(x, y, z);
    if (!(Math.abs(length - 1) < 0.1) || !Number.isFinite(distance)) return null;
    const axis = Math.abs(z) > 0.7 ? 0 : 2;
    const dot = normal[axis];
    const up = [0, 1, 2].map((own) => (own === axis ? 1 : 0) - dot * normal[own]);
    const long = Math.hypot(...up);
    const size = walls ? Math.max(...walls.map((wall) => Math.abs(wall[3]))) * 2 : 140000;
    const one = up.map((part) => (part / long) * size);
    const two = [one[1] * z - one[2] * y, one[2] * x - one[0] * z, one[0] * y - one[1] * x];
    const corner = (right, high) => [0, 1, 2].map((own) => normal[own] * distance + right * two[own] + high * one[own]);
    return [corner(-1, -1), corner(1, -1), corner(1, 1), corner(-1, 1)];
}

// The parts of a convex polygon in front of a plane and behind it. What lies on the plane is on the side `on`.
function cut(ring, plane, cuts, on = 0) {
    cuts.left -= ring.length / 4;
    const off = ring.map((at) => side(plane, at));
    if (!off.every(Number.isFinite)) return [null, null];
    const isFront = off.some((own) => own > NEAR);
    const isBack = off.some((own) => own < -NEAR);
    if (!isFront && !isBack) return on === 0 ? [ring, null] : [null, ring];
    if (!isBack) return [ring, null];
    if (!isFront) return [null, ring];
    const parts = [[], []];
    ring.forEach((at, index) => {
        const next = (index + 1) % ring.length;
        const [here, there] = [off[index], off[next]];
        if (here >= -NEAR) parts[0].push(at);
        if (here <= NEAR) parts[1].push(at);
        if ((here > NEAR && there < -NEAR) || (here < -NEAR && there > NEAR)) {
            const share = here / (here - there);
            const between = at.map((part, axis) => part + share * (ring[next][axis] - part));
            parts[0].push(between);
            parts[1].push(between);
        }
    });
    return parts.map((part) => (part.length > 2 ? part : null));
}
