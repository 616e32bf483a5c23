// Colors for the density of textures: how many texels there are on a unit of the map.
import { BufferAttribute, Color, MeshBasicMaterial, Vector2, Vector3 } from "three";

// Gives meshes a material that shows the density, and returns the median in texels per unit; null if no size is known.
// The area of a unit is `unit` squared.
export function showDensity(meshes, unit) {
    const all = meshes.map(({ node, own, index }) => densities(node.geometry, index, own.userData.size, unit));
    const known = all.flatMap((list) => list.filter((value) => value > 0)).sort((one, other) => one - other);
    const median = known.length ? known[Math.floor(known.length / 2)] : null;
    meshes.forEach((mesh, number) => {
        const { geometry } = mesh.node;
        const colors = new Float32Array(geometry.attributes.position.count * 3).fill(0.3);
        const { index } = mesh;
        all[number].forEach((value, triangle) => {
            if (!(value > 0)) return;
            // Blue is a quarter of the median or less, green the median, red four times of it or more.
            const share = Math.max(-1, Math.min(1, Math.log2(value / median) / 2));
            const color = new Color().setHSL((1 - share) / 3, 0.9, 0.5);
            for (let corner = 0; corner < 3; corner++) color.toArray(colors, 3 * index[3 * triangle + corner]);
        });
        geometry.setAttribute("density", new BufferAttribute(colors, 3));
        mesh.density = new MeshBasicMaterial({ vertexColors: true, side: mesh.own.side });
        // The shader has one name for the colors of vertices.
        mesh.colors = [geometry.attributes.color, geometry.attributes.density];
    });
    return median;
}

function densities({ attributes: { position, uv } }, index, size, unit) {
    const count = index.length / 3;
    if (!size || !uv) return new Array(count).fill(0);
    const places = [0, 1, 2].map(() => new Vector3());
    const texels = [0, 1, 2].map(() => new Vector2());
    return Array.from({ length: count }, (_, triangle) => {
        for (let corner = 0; corner < 3; corner++) {
            const at = index[3 * triangle + corner];
            places[corner].fromBufferAttribute(position, at);
            texels[corner].fromBufferAttribute(uv, at).multiply(new Vector2(...size));
        }
        const [right, up] = [places[1].sub(places[0]), places[2].sub(places[0])];
        const area = right.cross(up).length() / (unit * unit);
        const [across, down] = [texels[1].sub(texels[0]), texels[2].sub(texels[0])];
        return area > 0 ? Math.sqrt(Math.abs(across.cross(down)) / area) : 0;
    });
}
