// The page for maps: it opens files, shows the parts of a map, and gives the edited map back. All work is in the worker.
import { Client } from "./client.js";
import { element, make } from "./dom.js";
import * as entities from "./entities.js";
import * as parts from "./parts.js";
import * as view from "./view.js";

const MAP = /\.bsp(\.(gz|bz2|zst))?$/i;
const MOST_FILES = 5000;

// What all parts share. `edition` counts the states of the map, so that a part knows what it shows.
const app = {
    client: null,
    info: null,
    edition: 0,
    undo: 0,
    // A number for each state of the map that can be taken back to, that of the last one, and of the one that was saved.
    states: [0],
    last: 0,
    saved: 0,
    call: (job, ...args) => busy(app.client.call(job, ...args)),
    run,
    edited,
    show,
    flyTo: async (kind, number) => {
        await show("view");
        return view.flyTo(app, kind, number);
    },
};

const TABS = {
    overview: ["Overview", parts.showOverview],
    findings: ["Findings", parts.showFindings],
    entities: ["Entities", entities.show],
    files: ["Files", parts.showFiles],
    images: ["Images", parts.showImages],
    view: ["3D", view.show],
    compare: ["Compare", () => {}],
    rules: ["Rules", () => {}],
    save: ["Save", parts.showSave],
};
let current = "overview";
const shown = {};
let maps = [];
// The number of the one that is open.
let opened = 0;

function state(text) {
    element("state").textContent = text;
}

function fail(error) {
    const alert = element("error");
    alert.hidden = !error;
    alert.textContent = error ? String(error.message ?? error) : "";
}

function progress({ part, text }) {
    const bar = element("progress");
    if (part === undefined) bar.removeAttribute("value");
    else bar.value = part;
    state(text);
}

// Shows that there is work, and how to end it.
async function busy(work) {
    const set = () => {
        element("stop").hidden = element("progress").hidden = !app.client.isBusy;
        document.body.dataset.state = app.client.isBusy ? "busy" : "ready";
        if (!app.client.isBusy) element("progress").value = 0;
    };
    set();
    try {
        return await work;
    } finally {
        set();
    }
}

// Does something, and says what is wrong with it.
async function run(work) {
    fail(null);
    try {
        return await work();
    } catch (error) {
        fail(error);
        return undefined;
    }
}

async function show(name) {
    const isNew = name !== current;
    if (isNew) fail(null);
    if (isNew && current === "view") view.pause();
    current = name;
    for (const tab of element("tabs").children) {
        const isIt = tab.dataset.name === name;
        tab.setAttribute("aria-selected", String(isIt));
        tab.tabIndex = isIt ? 0 : -1;
        element(`panel-${tab.dataset.name}`).hidden = !isIt;
    }
    if (isNew && name === "view") view.resume();
    if (!app.info || shown[name] === app.edition) return;
    shown[name] = app.edition;
    const done = await run(async () => {
        await TABS[name][1](app);
        return true;
    });
    // What failed is tried again.
    if (!done) delete shown[name];
}

function setUndo(undo) {
    app.undo = undo;
    element("undo").disabled = undo === 0;
    element("undo").textContent = undo === 0 ? "Undo" : `Undo (${undo})`;
}

// After edits: what is shown is shown anew.
async function edited(count = 1) {
    for (let at = 0; at < count; at++) app.states.push(++app.last);
    app.edition++;
    setUndo(await app.call("undos"));
    await show(current);
}

async function takeBack() {
    const left = await app.call("undo");
    app.states.pop();
    app.edition++;
    setUndo(left);
    await show(current);
}

function isUnsaved() {
    return app.states.at(-1) !== app.saved;
}

function forgetEdits() {
    [app.states, app.last, app.saved] = [[0], 0, 0];
    setUndo(0);
}

function mayLeave() {
    return !isUnsaved() || confirm("The map has edits that are not saved. Open another one?");
}

async function open(index) {
    opened = index;
    element("maps").value = String(index);
    await run(async () => {
        const start = performance.now();
        app.info = null;
        element("main").hidden = true;
        view.close();
        forgetEdits();
        const info = await app.call("open", maps[index]).catch((error) => {
            state("No map is open.");
            throw error;
        });
        app.info = info;
        app.edition++;
        element("main").hidden = false;
        parts.forget();
        document.title = `${info.name}: bspkit`;
        const seconds = (performance.now() - start) / 1000;
        state(`${info.name} is open (${seconds.toFixed(1)} s).`);
        document.body.dataset.map = info.name;
        await show("overview");
    });
}

async function openAll(files) {
    const named = files.filter((file) => MAP.test(file.name)).slice(0, MOST_FILES);
    const chosen = named.length > 0 ? named : files.slice(0, 1);
    if (chosen.length === 0) return fail("there is no file");
    if (!mayLeave()) return;
    maps = chosen;
    maps.sort((one, other) => pathOf(one).localeCompare(pathOf(other)));
    const select = element("maps");
    select.replaceChildren(...maps.map((file, index) => make("option", { value: index, textContent: pathOf(file) })));
    element("maps-label").hidden = maps.length < 2;
    await open(0);
}

const pathOf = (file) => file.path || file.webkitRelativePath || file.name;

// The files of what was dropped; of folders all below them.
async function dropped(items) {
    const files = [];
    const walk = async (entry) => {
        if (files.length >= MOST_FILES) return;
        if (entry.isFile) return files.push(await new Promise((done, fail) => entry.file(done, fail)));
        const reader = entry.createReader();
        for (;;) {
            const some = await new Promise((done, fail) => reader.readEntries(done, fail));
            if (some.length === 0) return;
            for (const below of some) await walk(below);
        }
    };
    // The list is empty after the event.
    const all = [...items].filter((item) => item.kind === "file").map((item) => item.webkitGetAsEntry?.() ?? item.getAsFile());
    for (const one of all) {
        if (one instanceof File) files.push(one);
        else if (one) await walk(one);
    }
    return files;
}

function tabs() {
    const list = element("tabs");
    for (const [name, [title]] of Object.entries(TABS)) {
        const tab = make("button", { id: `tab-${name}`, role: "tab", textContent: title, onclick: () => show(name) });
        tab.setAttribute("aria-controls", `panel-${name}`);
        tab.dataset.name = name;
        list.append(tab);
    }
    list.addEventListener("keydown", (event) => {
        const all = [...list.children];
        const at = all.indexOf(document.activeElement);
        const to = { ArrowRight: at + 1, ArrowLeft: at - 1, Home: 0, End: all.length - 1 }[event.key];
        if (to === undefined || at < 0) return;
        event.preventDefault();
        const next = all[(to + all.length) % all.length];
        next.focus();
        next.click();
    });
}

function start() {
    app.client = new Client({
        onProgress: progress,
        onLost(why) {
            app.info = null;
            forgetEdits();
            view.close();
            element("main").hidden = true;
            delete document.body.dataset.map;
            state("The work was stopped. Open the map again.");
            fail(why);
        },
    });
    tabs();
    for (const id of ["pick", "pick-folder"]) {
        element(id).addEventListener("change", (event) => {
            const files = [...event.target.files];
            event.target.value = "";
            if (files.length > 0) openAll(files);
        });
    }
    element("maps").addEventListener("change", (event) => {
        if (mayLeave()) open(Number(event.target.value));
        else event.target.value = String(opened);
    });
    element("undo").addEventListener("click", () => run(takeBack));
    element("stop").addEventListener("click", () => app.client.replace("stopped"));
    addEventListener("keydown", (event) => {
        const isText = /^(INPUT|TEXTAREA|SELECT)$/.test(event.target.tagName);
        if (!isText && (event.ctrlKey || event.metaKey) && event.key === "z" && app.undo > 0) element("undo").click();
    });
    addEventListener("dragover", (event) => {
        event.preventDefault();
        document.body.classList.add("over");
    });
    addEventListener("dragleave", (event) => event.relatedTarget || document.body.classList.remove("over"));
    addEventListener("drop", (event) => {
        event.preventDefault();
        document.body.classList.remove("over");
        dropped(event.dataTransfer.items).then(openAll, fail);
    });
    addEventListener("beforeunload", (event) => isUnsaved() && event.preventDefault());
    parts.start(app);
    entities.start(app);
    document.body.dataset.state = "ready";
    if ("serviceWorker" in navigator) navigator.serviceWorker.register("sw.js").catch(() => {});
}

start();
