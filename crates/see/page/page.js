// The page of a map: it shows the glTF that is in the page itself. It needs no server and loads nothing.
import { show3d } from "./viewer.js";

function glb(holder) {
    const text = atob(holder.textContent.trim());
    const bytes = new Uint8Array(text.length);
    for (let at = 0; at < text.length; at++) bytes[at] = text.charCodeAt(at);
    holder.remove();
    return bytes.buffer;
}

const { body } = document;
show3d(body, glb(document.getElementById("map")), { file: body.dataset.file, hasLinks: true }).then(
    () => (body.dataset.state = "ready"),
    (error) => {
        document.getElementById("status").textContent = `The map cannot be shown: ${error.message || error}`;
        body.dataset.state = "failed";
    },
);
