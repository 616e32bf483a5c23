// The map in 3D. What draws it is loaded when it is wanted.
import { element } from "./dom.js";
import * as entities from "./entities.js";

let viewer = null;
let turn = 0;

export function close() {
    turn++;
    viewer?.stop();
    viewer = null;
    element("viewer").replaceChildren();
}

export const pause = () => viewer?.pause();
export const resume = () => viewer?.run();

export async function show(app) {
    const [{ show3d }, glb] = await Promise.all([import("../../crates/see/page/viewer.js"), app.call("mesh")]);
    close();
    const own = turn;
    const parts = element("viewer-parts").content.cloneNode(true);
    // The map has no address to link to.
    parts.querySelector("#link").remove();
    element("viewer").append(parts);
    const root = element("viewer").firstElementChild;
    const made = await show3d(root, glb.buffer, { file: app.info.name, hasLinks: false, full: root });
    // Another map was opened meanwhile.
    if (own !== turn) return made.stop();
    viewer = made;
    root.dataset.state = "ready";
}

// Flies to an entity or a face; an entity that has no place is shown in the list.
export async function flyTo(app, kind, number) {
    const found = kind === "face" ? viewer?.goToFace(number) : viewer?.goToEntity(number);
    if (found) document.getElementById("view").focus();
    else if (kind === "entity") await entities.open(app, number);
    return found;
}
