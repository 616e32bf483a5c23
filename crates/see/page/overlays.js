// What is not drawn by the game, over the map: boxes of leafs, portals between them, brushes that only stop somebody.
import { BufferAttribute, BufferGeometry, DoubleSide, Group, LineBasicMaterial, LineSegments, Mesh, MeshBasicMaterial } from "three";

// Corners of a box as bits, in pairs for its edges.
const EDGES = [0, 1, 2, 3, 4, 5, 6, 7, 0, 2, 1, 3, 4, 6, 5, 7, 0, 4, 1, 5, 2, 6, 3, 7];

// The boxes of leafs as lines. `put` makes a place of the map one of the scene.
export function boxes(spaces, put) {
    const points = [];
    for (const leaf of spaces.openLeafs()) {
        const box = spaces.box(leaf);
        for (const corner of EDGES) points.push(...put([0, 1, 2].map((axis) => box[axis + 3 * ((corner >> axis) & 1)])).toArray());
    }
    return lines(points, 0x66aaff);
}

// Polygons, through which one sees, with their edges.
export function polygons(rings, put, color) {
    const group = new Group();
    const [edges, triangles] = [[], []];
    for (const ring of rings) {
        const corners = ring.map((at) => put(at).toArray());
        corners.forEach((corner, at) => edges.push(...corner, ...corners[(at + 1) % corners.length]));
        for (let at = 2; at < corners.length; at++) triangles.push(...corners[0], ...corners[at - 1], ...corners[at]);
    }
    const material = new MeshBasicMaterial({ color, transparent: true, opacity: 0.15, side: DoubleSide, depthWrite: false });
    group.add(new Mesh(geometry(triangles), material), lines(edges, color));
    return group;
}

const lines = (points, color) => new LineSegments(geometry(points), new LineBasicMaterial({ color }));

const geometry = (points) => new BufferGeometry().setAttribute("position", new BufferAttribute(new Float32Array(points), 3));
