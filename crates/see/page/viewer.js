// Shows a map in 3D: one flies through it, hides layers, searches for entities and selects faces. It loads nothing.
import {
    AmbientLight,
    Box3,
    BoxGeometry,
    Color,
    DirectionalLight,
    DoubleSide,
    InstancedMesh,
    Matrix4,
    MeshBasicMaterial,
    PerspectiveCamera,
    Raycaster,
    Scene,
    SRGBColorSpace,
    Vector2,
    Vector3,
    WebGLRenderer,
} from "three";
import { GLTFLoader } from "three/examples/jsm/loaders/GLTFLoader.js";
import { OrbitControls } from "three/examples/jsm/controls/OrbitControls.js";
import { showDensity } from "./density.js";
import { boxes, polygons } from "./overlays.js";
import { readSpaces } from "./spaces.js";

const METRES = 0.0254;
const MOST_LISTED = 300;
const LAYERS = ["world", "models", "triggers", "entities", "props", "sky", "liquid", "glass", "fence", "tool"];
// Layers that are made when they are wanted.
const OVERLAYS = ["clip", "leafs", "portals"];

// Places of the map are in its units: z is up.
const toMap = (at) => [at.x / METRES, -at.z / METRES, at.y / METRES];
const fromMap = ([x, y, z]) => new Vector3(x * METRES, z * METRES, -y * METRES);

// Light is in images of its own, which the usual readers do not know.
function lightmaps(parser) {
    return {
        name: "MOZ_lightmap",
        getMaterialType: () => MeshBasicMaterial,
        extendMaterialParams(index, params) {
            const material = parser.json.materials[index];
            const own = material.extensions && material.extensions.MOZ_lightmap;
            // Nothing of the map shines by itself or mirrors.
            delete params.metalness;
            delete params.roughness;
            if (!own) return Promise.resolve();
            params.lightMapIntensity = Math.PI * own.intensity;
            return parser.assignTexture(params, "lightMap", own, SRGBColorSpace);
        },
    };
}

// Shows a map, as binary glTF, in the elements of `root`: the canvas `#view` and the controls of page.html. The options
// are `file`, the map's name in commands; `hasLinks`, whether the address has a place; and `full`, what fills the
// screen. The result flies to entities and faces, pauses, and stops.
export async function show3d(root, glb, options) {
    const element = (id) => root.querySelector(`#${id}`);
    const isHidden = { tool: true, triggers: true, clip: true, leafs: true, portals: true };
    const hiddenClasses = new Set();
    const overlays = {};
    // The tree of the map, if it is there, and the leaf whose faces are shown.
    let spaces = null;
    // Where the game begins: the place, and degrees to the left.
    let begin = null;
    let isPvs = false;
    let isHeld = false;
    let shownFrom;
    let isDense = false;
    let isLit = true;
    let isWire = false;
    let brightness = 2;

    const canvas = element("view");
    const renderer = new WebGLRenderer({ canvas, antialias: true });
    const ended = new AbortController();
    const { signal } = ended;
    const sizes = new ResizeObserver(resize);
    const scene = new Scene();
    const camera = new PerspectiveCamera(75, 1, 0.05, 4000);
    const orbit = new OrbitControls(camera, canvas);
    orbit.enabled = false;
    scene.add(new AmbientLight(0xffffff, 2), new DirectionalLight(0xffffff, 2));

    const entities = [];
    const props = [];
    const meshes = [];
    let markers = null;
    let bounds = new Box3();

    function isOf(node, key) {
        for (let at = node; at; at = at.parent) if (at.userData && at.userData[key] !== undefined) return at;
        return null;
    }

    function collect(root) {
        root.updateMatrixWorld(true);
        root.traverse((node) => {
            if (node.userData.entity !== undefined) entities.push(node);
            if (node.userData.prop !== undefined) props.push(node);
            if (!node.isMesh) return;
            const owner = isOf(node, "entity");
            const isWorld = !owner ? node.name.startsWith("world") : valueOf(owner, "classname") === "worldspawn";
            const surface = node.material.userData.surface || "solid";
            const isTrigger = !isWorld && owner && nameOf(owner).startsWith("trigger");
            const layers = [isTrigger ? "triggers" : isWorld ? "world" : "models"];
            if (surface !== "solid" && !isTrigger) layers.push(surface);
            const own = node.material;
            const index = node.geometry.index.array.slice();
            meshes.push({ node, owner, layers, own, index, isWorld, lightMap: own.lightMap, intensity: own.lightMapIntensity });
            bounds.expandByObject(node);
        });
        mark();
    }

    function colorOf(name) {
        let hash = 5381;
        for (const letter of name) hash = (hash * 33 + letter.codePointAt(0)) >>> 0;
        return new Color().setHSL((hash % 360) / 360, 0.7, 0.6);
    }

    // Boxes where entities and props without surfaces are.
    function mark() {
        const all = entities.concat(props).filter((node) => !hasMesh(node) && node.userData.pairs);
        const box = new BoxGeometry(1, 1, 1);
        markers = new InstancedMesh(box, new MeshBasicMaterial(), Math.max(all.length, 1));
        markers.count = all.length;
        const place = new Vector3();
        all.forEach((node, index) => {
            node.getWorldPosition(place);
            const size = node.userData.prop === undefined ? 12 * METRES : 20 * METRES;
            markers.setMatrixAt(index, new Matrix4().makeScale(size, size, size).setPosition(place));
            markers.setColorAt(index, colorOf(nameOf(node)));
        });
        markers.userData.nodes = all;
        markers.frustumCulled = false;
        scene.add(markers);
    }

    const hasMesh = (node) => node.isMesh || node.children.some((child) => child.isMesh);
    // A key that comes twice has a list of values.
    const first = (value) => (Array.isArray(value) ? value[0] : value);
    const valueOf = (node, key) => first((node.userData.pairs || {})[key]);
    const nameOf = (node) => valueOf(node, "classname") || node.name;

    function apply() {
        for (const { node, owner, own, layers, lightMap, intensity, density, colors } of meshes) {
            own.lightMapIntensity = intensity * brightness;
            node.visible = layers.every((layer) => !isHidden[layer]) && !(owner && hiddenClasses.has(nameOf(owner)));
            const wanted = isLit ? lightMap : null;
            node.material = isDense ? density : own;
            if (colors) {
                const wantedColors = colors[isDense ? 1 : 0];
                if (wantedColors) node.geometry.setAttribute("color", wantedColors);
                else node.geometry.deleteAttribute("color");
            }
            node.material.wireframe = isWire;
            if (own.lightMap !== wanted) {
                own.lightMap = wanted;
                own.needsUpdate = true;
            }
        }
        for (const layer of OVERLAYS) if (overlays[layer]) overlays[layer].visible = !isHidden[layer];
        if (markers) {
            const nodes = markers.userData.nodes;
            const place = new Vector3();
            nodes.forEach((node, index) => {
                const isProp = node.userData.prop !== undefined;
                const isGone = isHidden[isProp ? "props" : "entities"] || hiddenClasses.has(nameOf(node));
                const size = isGone ? 0 : (isProp ? 20 : 12) * METRES;
                node.getWorldPosition(place);
                markers.setMatrixAt(index, new Matrix4().makeScale(size, size, size).setPosition(place));
            });
            markers.instanceMatrix.needsUpdate = true;
        }
    }

    // Looking and flying.

    const look = { yaw: 0, pitch: 0 };
    const keys = new Set();

    function turn() {
        camera.rotation.order = "YXZ";
        camera.rotation.set(look.pitch, look.yaw, 0);
    }

    function fly(seconds) {
        const speed = (keys.has("shift") ? 24 : 8) * seconds;
        const way = new Vector3();
        if (keys.has("w")) way.z -= 1;
        if (keys.has("s")) way.z += 1;
        if (keys.has("a")) way.x -= 1;
        if (keys.has("d")) way.x += 1;
        const pressed = (key) => (keys.has(key) ? 1.5 * seconds : 0);
        const [left, up] = [pressed("arrowleft") - pressed("arrowright"), pressed("arrowup") - pressed("arrowdown")];
        if ((left || up) && !orbit.enabled) {
            look.yaw += left;
            look.pitch = Math.max(-1.55, Math.min(1.55, look.pitch + up));
            turn();
        }
        if (way.lengthSq() > 0) way.normalize().applyQuaternion(camera.quaternion);
        if (keys.has("e") || keys.has(" ")) way.y += 1;
        if (keys.has("q") || keys.has("c")) way.y -= 1;
        camera.position.addScaledVector(way, speed);
        orbit.target.addScaledVector(way, speed);
    }

    function goTo(place, from) {
        camera.position.copy(from || place.clone().add(new Vector3(2, 1.5, 2)));
        camera.lookAt(place);
        look.yaw = Math.atan2(camera.position.x - place.x, camera.position.z - place.z);
        const flat = Math.hypot(camera.position.x - place.x, camera.position.z - place.z);
        look.pitch = Math.atan2(place.y - camera.position.y, flat);
        orbit.target.copy(place);
        turn();
    }

    function start() {
        const hash = options.hasLinks ? location.hash.slice(1).split(",") : [];
        // As `--from` has it: a place, degrees to the left, degrees down.
        const words = hash.map((word) => (/^-?\d+(\.\d+)?$/.test(word) ? Number(word) : NaN));
        const isPlace = words.length >= 3 && words.length <= 5 && words.every(Number.isFinite);
        const place = isPlace ? words : begin;
        if (!place) return above();
        camera.position.copy(fromMap(place));
        look.yaw = ((place[3] || 0) - 90) * (Math.PI / 180);
        look.pitch = -(place[4] || 0) * (Math.PI / 180);
        orbit.target.copy(camera.position);
        turn();
    }

    function above() {
        if (bounds.isEmpty()) return;
        const middle = bounds.getCenter(new Vector3());
        const size = bounds.getSize(new Vector3());
        const from = middle.clone().add(new Vector3(0.4 * size.x, size.y + 0.9 * Math.max(size.x, size.z), 0.6 * size.z));
        goTo(middle, from);
    }

    // What is visible from where one stands.

    function showSeen() {
        if (!spaces || (isHeld && isPvs && shownFrom !== undefined)) return;
        const leaf = isPvs ? spaces.leafAt(toMap(camera.position)) : undefined;
        if (leaf === shownFrom) return;
        shownFrom = leaf;
        const isSeen = isPvs ? spaces.seenFrom(leaf) : null;
        const faces = isSeen && spaces.facesOf(isSeen);
        let shown = 0;
        for (const { node, index, isWorld } of meshes) {
            const own = node.geometry.attributes._face;
            if (!isWorld || !own) continue;
            const { array } = node.geometry.index;
            let end = 0;
            for (let at = 0; at < index.length; at += 3) {
                if (faces && !faces.has(own.getX(index[at]))) continue;
                array.set(index.subarray(at, at + 3), end);
                end += 3;
            }
            node.geometry.index.needsUpdate = true;
            node.geometry.setDrawRange(0, end);
            shown += end / 3;
        }
        element("seen").textContent = !isPvs
            ? ""
            : faces
              ? `leaf ${leaf} sees ${faces.leafs} of ${spaces.openLeafs().length} leafs, ${shown} triangles`
              : `leaf ${leaf ?? "none"}: all is shown`;
    }

    // The polygons of a layer that is made when it is wanted.
    function overlay(layer) {
        if (layer === "leafs") return boxes(spaces, fromMap);
        if (layer === "clip") return polygons(spaces.clips(), fromMap, 0xff66cc);
        const { portals, isWhole } = spaces.portals();
        element("portals").textContent = `${portals.length} portals${isWhole ? "" : "; there are more"}`;
        return polygons(portals.map(({ ring }) => ring), fromMap, 0xffcc33);
    }

    // What is under the pointer.

    function show(lines) {
        const info = element("info");
        info.replaceChildren();
        for (const [name, value] of lines) {
            const term = document.createElement("dt");
            const text = document.createElement("dd");
            term.textContent = name;
            text.textContent = value;
            info.append(term, text);
        }
    }

    function pairsOf(node) {
        const pairs = node.userData.pairs || {};
        return Object.keys(pairs).map((key) => [key, Array.isArray(pairs[key]) ? pairs[key].join("; ") : pairs[key]]);
    }

    // The file in a command of a shell.
    const file = /^[\w./-]+$/.test(options.file) ? options.file : `'${options.file.replaceAll("'", "'\\''")}'`;

    function about(node) {
        const lines = [[node.userData.prop === undefined ? "entity" : "prop", `#${node.userData.entity ?? node.userData.prop}`]];
        if (node.userData.entity !== undefined) lines.push(["command", `bspkit ent set ${file} '#${node.userData.entity}' KEY=VALUE -o out.bsp`]);
        return lines.concat(pairsOf(node));
    }

    function aboutFace(mesh, face, point) {
        const owner = isOf(mesh, "entity");
        const place = toMap(point).map((part) => part.toFixed(1)).join(" ");
        const lines = [["texture", mesh.material.name], ["surface", mesh.material.userData.surface], ["at", place]];
        if (face !== null) {
            lines.push(["face", String(face)], ["command", `bspkit get ${file} 'faces[${face}]'`]);
        }
        return owner ? lines.concat(about(owner)) : lines;
    }

    function pick(x, y) {
        const caster = new Raycaster();
        // Before the first frame it is not where it looks from.
        camera.updateMatrixWorld();
        const box = canvas.getBoundingClientRect();
        caster.setFromCamera(new Vector2(((x - box.left) / box.width) * 2 - 1, 1 - ((y - box.top) / box.height) * 2), camera);
        const targets = meshes.filter(({ node }) => node.visible).map(({ node }) => node);
        const hit = caster.intersectObjects(markers ? targets.concat(markers) : targets, false)[0];
        if (!hit) return show([]);
        if (hit.object === markers) return show(about(markers.userData.nodes[hit.instanceId]));
        const faces = hit.object.geometry.attributes._face;
        show(aboutFace(hit.object, faces ? faces.getX(hit.face.a) : null, hit.point));
    }

    // Controls.

    function list() {
        const words = element("search").value.toLowerCase().split(/\s+/).filter(Boolean);
        const text = (node) => [node.name, ...pairsOf(node).flat()].join(" ").toLowerCase();
        const found = entities.concat(props).filter((node) => words.every((word) => text(node).includes(word)));
        const items = found.slice(0, MOST_LISTED).map((node) => {
            const button = document.createElement("button");
            const title = valueOf(node, "targetname");
            button.textContent = title ? `${nameOf(node)} (${title})` : nameOf(node);
            button.addEventListener("click", () => goToNode(node));
            return button;
        });
        element("found").replaceChildren(...items);
        element("count").textContent = `${found.length} of ${entities.length + props.length}`;
    }

    function controls() {
        function choice(name, text, isOn, set) {
            const label = document.createElement("label");
            const box = document.createElement("input");
            box.type = "checkbox";
            box.checked = isOn;
            box.name = name;
            box.addEventListener("change", () => {
                set(box.checked);
                apply();
            });
            label.append(box, ` ${text}`);
            return label;
        }
        const isThere = {
            entities: entities.length > 0,
            props: props.length > 0,
            clip: spaces && spaces.sides.length > 0,
            leafs: spaces && spaces.leafCount > 0,
            portals: spaces && spaces.nodeCount > 0,
        };
        const layers = LAYERS.concat(OVERLAYS).filter((layer) => isThere[layer] ?? meshes.some((mesh) => mesh.layers.includes(layer)));
        element("layers").append(...layers.map((layer) => choice(layer, layer, !isHidden[layer], (isOn) => {
            isHidden[layer] = !isOn;
            if (isOn && OVERLAYS.includes(layer) && !overlays[layer]) scene.add((overlays[layer] = overlay(layer)));
        })));
        const counts = new Map();
        for (const node of entities) counts.set(nameOf(node), (counts.get(nameOf(node)) || 0) + 1);
        const classes = [...counts].sort(([one], [other]) => (one < other ? -1 : 1));
        element("classes").append(...classes.map(([name, count]) => choice(name, `${name} (${count})`, true, (isOn) => {
            if (isOn) hiddenClasses.delete(name);
            else hiddenClasses.add(name);
        })));
        element("pvs").disabled = element("hold").disabled = !spaces;
        const toggles = {
            light: (isOn) => (isLit = isOn),
            wire: (isOn) => (isWire = isOn),
            pvs: (isOn) => (isPvs = isOn),
            hold: (isOn) => (isHeld = isOn),
            dense: (isOn) => {
                isDense = isOn;
                if (isOn && !meshes.some((mesh) => mesh.density)) {
                    const median = showDensity(meshes, METRES);
                    element("density").textContent = median === null
                        ? "The sizes of the textures are not known."
                        : `Green: ${median.toPrecision(2)} texels on a unit; blue: a quarter; red: four times.`;
                }
                element("density").hidden = !isOn;
            },
        };
        for (const [id, set] of Object.entries(toggles)) {
            element(id).addEventListener("change", (event) => {
                set(event.target.checked);
                showSeen();
                apply();
            });
        }
        element("bright").addEventListener("input", (event) => {
            brightness = Number(event.target.value);
            apply();
        });
        element("orbit").addEventListener("change", (event) => {
            orbit.enabled = event.target.checked;
            const ahead = new Vector3(0, 0, -4).applyQuaternion(camera.quaternion);
            if (orbit.enabled) orbit.target.copy(camera.position).add(ahead);
            else goTo(orbit.target.clone(), camera.position.clone());
        });
        element("above").addEventListener("click", above);
        element("link")?.addEventListener("click", () => {
            const place = toMap(camera.position).map((part) => Math.round(part));
            const turns = [look.yaw * (180 / Math.PI) + 90, -look.pitch * (180 / Math.PI)].map(Math.round);
            location.hash = place.concat(turns).join(",");
        });
        element("picture").addEventListener("click", () => {
            draw();
            const link = document.createElement("a");
            link.download = `${options.file.replace(/^.*[\\/]/, "").replace(/\.bsp$/i, "")}.png`;
            link.href = canvas.toDataURL();
            link.click();
        });
        element("full").addEventListener("click", () => {
            if (document.fullscreenElement) document.exitFullscreen();
            else (options.full || document.documentElement).requestFullscreen();
        });
        element("search").addEventListener("input", list);
        addEventListener("hashchange", start, { signal });
        addEventListener("keydown", (event) => {
            const { tagName, type } = event.target;
            if (/^(INPUT|BUTTON|SELECT|TEXTAREA)$/.test(tagName) && type !== "checkbox") return;
            // These keys are for what has the focus.
            if (/^(INPUT|SUMMARY)$/.test(tagName) && /^( |Enter|Arrow.*)$/.test(event.key)) return;
            if (event.ctrlKey || event.metaKey || event.altKey) return;
            // What flies does not scroll the page.
            if (event.target === canvas && /^( |Arrow.*)$/.test(event.key)) event.preventDefault();
            keys.add(event.key.toLowerCase());
        }, { signal });
        addEventListener("keyup", (event) => keys.delete(event.key.toLowerCase()), { signal });
        addEventListener("blur", () => keys.clear(), { signal });
        let down = null;
        canvas.addEventListener("pointerdown", (event) => {
            down = { x: event.clientX, y: event.clientY, moved: 0 };
            if (event.isTrusted) canvas.setPointerCapture(event.pointerId);
            canvas.focus();
        });
        canvas.addEventListener("pointermove", (event) => {
            if (!down) return;
            const [x, y] = [event.clientX - down.x, event.clientY - down.y];
            down = { x: event.clientX, y: event.clientY, moved: down.moved + Math.abs(x) + Math.abs(y) };
            if (orbit.enabled) return;
            look.yaw -= x * 0.004;
            look.pitch = Math.max(-1.55, Math.min(1.55, look.pitch - y * 0.004));
            turn();
        });
        canvas.addEventListener("pointerup", (event) => {
            if (down && down.moved < 5) pick(event.clientX, event.clientY);
            down = null;
        });
        canvas.addEventListener("wheel", (event) => {
            if (orbit.enabled) return;
            event.preventDefault();
            camera.translateZ(event.deltaY * 0.01);
        }, { passive: false });
    }

    function resize() {
        const { clientWidth, clientHeight } = canvas;
        renderer.setPixelRatio(Math.min(devicePixelRatio, 2));
        renderer.setSize(clientWidth, clientHeight, false);
        camera.aspect = clientWidth / Math.max(clientHeight, 1);
        camera.updateProjectionMatrix();
    }

    function run() {
        let last = performance.now();
        renderer.setAnimationLoop((now) => {
            fly(Math.min((now - last) / 1000, 0.1));
            last = now;
            if (orbit.enabled) orbit.update();
            draw();
        });
    }

    function draw() {
        showSeen();
        renderer.render(scene, camera);
    }

    // The rest is for the page around it.

    function goToNode(node) {
        goTo(hasMesh(node) ? new Box3().setFromObject(node).getCenter(new Vector3()) : node.getWorldPosition(new Vector3()));
        show(about(node));
    }

    // Flies to an entity by its number; false if it is not shown.
    function goToEntity(number) {
        const node = entities.find((node) => node.userData.entity === number);
        if (node) goToNode(node);
        return Boolean(node);
    }

    // Flies to a face by its number; false if it is not shown.
    function goToFace(number) {
        for (const { node } of meshes) {
            const { _face: faces, position, normal } = node.geometry.attributes;
            const middle = new Vector3();
            const out = new Vector3();
            let count = 0;
            for (let at = 0; faces && at < faces.count; at++) {
                if (faces.getX(at) !== number) continue;
                middle.add(new Vector3().fromBufferAttribute(position, at));
                if (normal) out.add(new Vector3().fromBufferAttribute(normal, at));
                count += 1;
            }
            if (count === 0) continue;
            middle.divideScalar(count).applyMatrix4(node.matrixWorld);
            goTo(middle, middle.clone().addScaledVector(out.normalize(), 4));
            show(aboutFace(node, number, middle));
            return true;
        }
        return false;
    }

    function stop() {
        ended.abort();
        sizes.disconnect();
        renderer.setAnimationLoop(null);
        orbit.dispose();
        for (const { node, own, lightMap, density } of meshes) {
            for (const part of [own.map, lightMap, own, density, node.geometry]) if (part) part.dispose();
        }
        renderer.dispose();
        renderer.forceContextLoss();
    }

    const loader = new GLTFLoader();
    loader.register(lightmaps);
    const map = await loader.parseAsync(glb, "");
    scene.add(map.scene);
    map.scene.traverse((node) => {
        if (node.isMesh && node.material.name.startsWith("{")) node.material.side = DoubleSide;
    });
    collect(map.scene);
    map.scene.traverse((node) => {
        spaces ??= node.userData.spaces;
        begin ??= node.userData.start;
    });
    if (spaces) spaces = await readSpaces(spaces, (number) => map.parser.getDependency("bufferView", number));
    controls();
    apply();
    list();
    resize();
    sizes.observe(canvas);
    start();
    run();
    const triangles = meshes.reduce((sum, { node }) => sum + node.geometry.index.count / 3, 0);
    element("status").textContent = `${triangles} triangles, ${entities.length} entities, ${props.length} props`;
    return { goToEntity, goToFace, above, stop, pause: () => renderer.setAnimationLoop(null), run };
}
