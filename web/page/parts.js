// The parts of the page that show a map: overview, findings, files, images, comparisons, rules, and the save.
import { bytes, count, download, element, list, make, row, urlOf } from "./dom.js";

const IMAGES_AT_ONCE = 60;
let urls = [];
let compared = null;

// What the page keeps of the map before.
export function forget() {
    urls.forEach((url) => URL.revokeObjectURL(url));
    urls = [];
    element("compared").replaceChildren();
    element("save-page").hidden = true;
    element("rule-results").replaceChildren();
    element("entities").replaceChildren();
    element("entities-count").textContent = "";
    element("selector").value = "";
    element("force").checked = false;
}

export async function showOverview(app) {
    const info = (app.info = await app.call("info"));
    const revision = info.revision === null ? "" : `, revision ${info.revision}`;
    element("title").textContent = `${info.title} (${info.dialect}), version ${info.version}${revision}, ${bytes(info.bytes)}`;
    const rows = info.lumps.map((lump) => {
        const records = lump.record === null ? "" : `${lump.count} ${lump.record}`;
        const notes = [lump.bounds, lump.unpacked === null ? null : `compressed, ${bytes(lump.unpacked)}`];
        return row(lump.name, lump.offset, lump.bytes, records, notes.filter(Boolean).join("; "));
    });
    element("lumps").replaceChildren(...rows);
}

// Where a finding is: an entity or a face.
function placeOf(info, place) {
    if (place.entity !== undefined) return ["entity", place.entity];
    const lump = info.lumps.find(({ name }) => name === place.lump);
    if (place.record === undefined || !lump) return null;
    return lump.role === "entities" ? ["entity", place.record] : lump.role === "faces" ? ["face", place.record] : null;
}

export async function showFindings(app) {
    const found = await app.call("check");
    const items = found.map(({ code, severity, message, place, count }) => {
        const where = [place.lump, place.record ?? place.entity].filter((part) => part !== undefined).join(" ");
        const text = `${severity} ${code}${where ? ` (${where})` : ""}: ${message}${count > 1 ? ` (${count} times)` : ""}`;
        const to = placeOf(app.info, place);
        const go = to && make("button", { textContent: "Show", onclick: () => app.flyTo(...to) });
        return make("li", { className: severity === "error" ? "error" : "" }, text, " ", go ?? "");
    });
    element("findings").replaceChildren(...items);
    const errors = found.filter(({ severity }) => severity === "error").length;
    element("findings-count").textContent =
        found.length === 0 ? "Nothing was found." : `${count(found.length, "finding", "findings")}, ${count(errors, "error", "errors")}`;
}

export async function showFiles(app) {
    element("files").replaceChildren();
    element("files-count").textContent = "";
    const files = await app.call("files");
    const shortOf = (name) => name.split("/").pop();
    const rows = files.map((file, index) => {
        const save = () => app.run(async () => download(await app.call("file", index), shortOf(file.name)));
        const remove = () => app.run(async () => {
            await app.call("removeFile", index);
            await app.edited();
        });
        const buttons = make(
            "span",
            {},
            make("button", { textContent: "Save", ariaLabel: `Save ${file.name}`, onclick: save }),
            " ",
            make("button", { textContent: "Remove", ariaLabel: `Remove ${file.name}`, onclick: remove }),
        );
        return row(file.name, file.bytes, file.stored, file.method, buttons);
    });
    element("files").replaceChildren(...rows);
    element("files-count").textContent = count(files.length, "file", "files");
}

async function addFiles(app, files) {
    const folder = element("folder").value.replace(/\/+$/, "");
    let added = 0;
    await app.run(async () => {
        for (const file of files) {
            await app.call("addFile", folder === "" ? file.name : `${folder}/${file.name}`, file);
            added++;
        }
    });
    if (added > 0) await app.edited(added);
}

// Images come one by one, so that the page stays quick; more than a few on demand.
async function gallery(app, into, job, pictures, from) {
    const edition = app.edition;
    into.querySelector("button")?.remove();
    const shown = pictures.slice(from, from + IMAGES_AT_ONCE);
    for (const [index, picture] of shown.entries()) {
        const png = await app.call(job, from + index);
        if (edition !== app.edition) return;
        const url = urlOf(png, "image/png");
        urls.push(url);
        const size = picture.size ? ` (${picture.size.join(" × ")})` : "";
        const image = make("img", { src: url, alt: picture.name });
        into.append(make("figure", {}, image, make("figcaption", { textContent: `${picture.name}${size}` })));
    }
    const next = from + shown.length;
    if (next >= pictures.length) return;
    const more = () => app.run(() => gallery(app, into, job, pictures, next));
    into.append(make("button", { textContent: `Show more of ${pictures.length}`, onclick: more }));
}

export async function showImages(app) {
    const { textures, light, notes } = await app.call("pictures");
    list(element("image-notes"), notes);
    element("textures-head").textContent = `Textures (${textures.length})`;
    element("light-head").textContent = `Light (${light.length})`;
    element("textures").replaceChildren();
    element("lights").replaceChildren();
    await gallery(app, element("textures"), "texture", textures, 0);
    await gallery(app, element("lights"), "light", light, 0);
}

// The page of a comparison has a script, which the frame would not run and complain of.
function withoutScripts(html) {
    const page = new DOMParser().parseFromString(html, "text/html");
    page.querySelectorAll("script").forEach((script) => script.remove());
    return `<!doctype html>${page.documentElement.outerHTML}`;
}

function showCompared(html, title) {
    compared = html;
    element("compared").replaceChildren(make("iframe", { sandbox: "", title, srcdoc: withoutScripts(html) }));
    element("save-page").hidden = false;
}

export async function showSave(app) {
    const report = await app.call("report");
    const clients = report.clients ? " Clients need the new map." : "";
    element("report").textContent = report.changed ? `${report.text}.${clients}` : `Nothing changes, ${bytes(report.bytes[1])}.`;
    const notes = [report.force && `It is saved only on demand: ${report.force}.`, ...report.findings, ...report.warnings];
    list(element("report-notes"), notes.filter(Boolean));
    element("force-label").hidden = !report.force;
    const rows = report.ranges.map(([offset, length, how]) => row(offset, length, how));
    if (report.more > 0) rows.push(row("", "", `and ${report.more} more`));
    element("ranges").replaceChildren(...rows);
}

async function applyRules(app) {
    const text = new TextEncoder().encode(element("rules").value);
    const done = await app.call("applyRules", element("rule-name").value, text);
    await app.edited();
    const [matched, all] = done.rules;
    list(element("rule-results"), [`${matched} of ${count(all, "rule", "rules")} matched ${count(done.entities, "entity", "entities")}.`, ...done.said]);
}

export function start(app) {
    const chosen = (id, work) =>
        element(id).addEventListener("change", async (event) => {
            const files = [...event.target.files];
            event.target.value = "";
            if (files.length > 0) await work(files);
        });
    chosen("add-files", (files) => addFiles(app, files));
    chosen("other", ([file]) => app.run(async () => showCompared(await app.call("diff", file), `Comparison with ${file.name}`)));
    chosen("rule-file", ([file]) => app.run(async () => {
        element("rule-name").value = file.name;
        element("rules").value = await file.text();
    }));
    element("compare-edits").addEventListener("click", () =>
        app.run(async () => showCompared(await app.call("diffOfEdits"), "What the edits change")));
    element("save-page").addEventListener("click", () => download(compared, "comparison.html", "text/html"));
    element("rule-form").addEventListener("submit", (event) => {
        event.preventDefault();
        app.run(() => applyRules(app));
    });
    element("download").addEventListener("click", () =>
        app.run(async () => {
            download(await app.call("save", element("force").checked), app.info.name);
            app.saved = app.states.at(-1);
        }));
}
