// The entities: found by a selector, edited one by one or all at once.
import { count, element, make } from "./dom.js";

const AT_ONCE = 100;
const HELP = {
    set: "KEY=VALUE, light*=1.5, origin+=0 0 8, target~s/^old/new/",
    unset: "KEY, or KEY=VALUE",
    rename: "the old key, then the new one",
    add: "KEY=VALUE; classname first",
};
let listed = 0;
let turn = 0;

// A sentence about an edit is under the form until the next one.
function say(done) {
    const more = done.said.length > 0 ? ` ${done.said.join("; ")}` : "";
    element("entities-count").textContent = `${count(done.entities, "entity was", "entities were")} edited.${more}`;
}

async function edit(app, job, ...args) {
    return app.run(async () => {
        const done = await app.call(job, ...args);
        await app.edited();
        if ("entities" in done) say(done);
    });
}

function pairRow(app, entity, [key, value], nth) {
    const input = make("input", { value, spellcheck: false, autocomplete: "off" });
    input.addEventListener("change", () => edit(app, "setPair", entity.index, key, nth, input.value));
    return make("label", {}, make("span", { textContent: key }), input);
}

function card(app, entity, isOpen) {
    const name = entity.pairs.find(([key]) => key === "targetname");
    const title = `#${entity.index} ${entity.class ?? "without a class"}${name ? ` (${name[1]})` : ""}`;
    const details = make("details", { className: "entity" }, make("summary", { textContent: title }));
    details.dataset.entity = entity.index;
    const fill = () => {
        if (details.childElementCount > 1) return;
        const seen = new Map();
        for (const pair of entity.pairs) {
            // Of equal keys each has its number.
            seen.set(pair[0], (seen.get(pair[0]) ?? 0) + 1);
            details.append(pairRow(app, entity, pair, seen.get(pair[0])));
        }
        const added = make("input", { placeholder: "KEY=VALUE", spellcheck: false, autocomplete: "off" });
        const own = `#${entity.index}`;
        added.addEventListener("change", () => edit(app, "edit", "set", own, [added.value]));
        details.append(
            make("label", {}, make("span", { textContent: "another pair" }), added),
            make(
                "p",
                {},
                make("button", { textContent: "Fly there", onclick: () => app.flyTo("entity", entity.index) }),
                " ",
                make("button", { textContent: "Copy", onclick: () => edit(app, "edit", "copy", own, []) }),
                " ",
                make("button", { textContent: "Remove", onclick: () => edit(app, "edit", "remove", own, []) }),
            ),
        );
    };
    details.addEventListener("toggle", () => details.open && fill());
    if (isOpen) {
        fill();
        details.open = true;
    }
    return details;
}

async function load(app, from) {
    const own = ++turn;
    const found = await app.call("entities", element("selector").value, from, AT_ONCE);
    // A later search has answered already.
    if (own !== turn) return;
    const holder = element("entities");
    const open = new Set([...holder.querySelectorAll("details[open]")].map((details) => details.dataset.entity));
    const cards = found.entities.map((entity) => card(app, entity, open.has(String(entity.index)) || found.matched === 1));
    if (from === 0) holder.replaceChildren(...cards);
    else holder.append(...cards);
    listed = from + cards.length;
    element("entities-count").textContent = `${count(found.matched, "entity", "entities")} of ${found.total}`;
    element("more-entities").hidden = listed >= found.matched;
}

export async function show(app) {
    await load(app, 0);
}

// Shows one entity in the list.
export async function open(app, number) {
    element("selector").value = `#${number}`;
    await app.show("entities");
    await app.run(() => load(app, 0));
    element("entities").querySelector("summary")?.focus();
}

export function start(app) {
    let timer = 0;
    element("selector").addEventListener("input", () => {
        clearTimeout(timer);
        timer = setTimeout(() => app.run(() => load(app, 0)), 200);
    });
    element("more-entities").addEventListener("click", () => app.run(() => load(app, listed)));
    const help = () => {
        const text = HELP[element("how").value];
        element("words-help").textContent = text ?? "nothing";
        element("words").hidden = text === undefined;
    };
    element("how").addEventListener("change", help);
    help();
    element("bulk").addEventListener("submit", (event) => {
        event.preventDefault();
        const how = element("how").value;
        const words = element("words").hidden ? [] : element("words").value.split("\n").filter((line) => line !== "");
        const selector = element("selector").value.trim() || "*";
        edit(app, "edit", how, selector, words);
    });
}
