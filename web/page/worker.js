// Does all work on maps, apart from the page: it holds the module, the map with its edits, and nothing else.
import init, { Map as OpenMap } from "./module/bspkit_web.js";

const ready = init({ module_or_path: new URL("bspkit_web_bg.wasm", self.location.href) });
let map = null;

const say = (message) => self.postMessage({ progress: message });

// The bytes of a file, in pieces, so that one sees how far it is.
async function read(file) {
    const bytes = new Uint8Array(file.size);
    const reader = file.stream().getReader();
    let at = 0;
    for (;;) {
        const { done, value } = await reader.read();
        if (done) return at === bytes.length ? bytes : bytes.subarray(0, at);
        if (at + value.length > bytes.length) throw new Error(`${file.name} grew while it was read`);
        bytes.set(value, at);
        at += value.length;
        say({ part: at / bytes.length, text: `Reading ${file.name}` });
    }
}

function opened() {
    if (!map) throw new Error("no map is open");
    return map;
}

const parsed = (name) => (...args) => JSON.parse(opened()[name](...args));
const plain = (name) => (...args) => opened()[name](...args);

const jobs = {
    async open(file) {
        const bytes = await read(file);
        if (map) map.free();
        map = null;
        say({ text: `Opening ${file.name}` });
        map = new OpenMap(bytes, file.name);
        return JSON.parse(map.info());
    },
    async diff(file) {
        const old = opened();
        const other = new OpenMap(await read(file), file.name);
        try {
            say({ text: `Comparing with ${file.name}` });
            return old.diff(other);
        } finally {
            other.free();
        }
    },
    async addFile(name, file) {
        return JSON.parse(opened().addFile(name, await read(file)));
    },
    diffOfEdits: plain("diffOfEdits"),
};
for (const name of ["info", "check", "entities", "edit", "setPair", "applyRules", "undo", "report", "files", "removeFile", "pictures"]) {
    jobs[name] = parsed(name);
}
for (const name of ["undos", "save", "file", "texture", "light", "mesh"]) jobs[name] = plain(name);

// One job after the other: an edit does not meet a map that is being opened.
let last = ready;
self.addEventListener("message", ({ data: { id, job, args } }) => {
    last = last.catch(() => {}).then(async () => {
        try {
            await ready;
            const result = await jobs[job](...args);
            self.postMessage({ id, result }, result instanceof Uint8Array ? [result.buffer] : []);
        } catch (error) {
            // After a trap the memory of the module may be in any state.
            self.postMessage({ id, error: String(error?.message ?? error), isFatal: error instanceof WebAssembly.RuntimeError });
        }
    });
});
