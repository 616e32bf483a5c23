// Elements of the page. Text is always text: nothing here reads HTML.
export const element = (id) => document.getElementById(id);

export function make(tag, properties = {}, ...children) {
    const made = document.createElement(tag);
    for (const [name, value] of Object.entries(properties)) {
        if (name.startsWith("on")) made.addEventListener(name.slice(2), value);
        else if (name in made) made[name] = value;
        else made.setAttribute(name, value);
    }
    made.append(...children);
    return made;
}

export const row = (...cells) => make("tr", {}, ...cells.map((cell) => (cell instanceof Node ? make("td", {}, cell) : make("td", typeof cell === "number" ? { className: "number" } : {}, String(cell ?? "")))));

export const list = (into, sentences, className = "") => into.replaceChildren(...sentences.map((text) => make("li", { className, textContent: text })));

// Whatever a reader of words and a URL needs of bytes: the caller revokes it.
export const urlOf = (bytes, type) => URL.createObjectURL(new Blob([bytes], { type }));

export function download(bytes, name, type = "application/octet-stream") {
    const url = urlOf(bytes, type);
    make("a", { href: url, download: name }).click();
    setTimeout(() => URL.revokeObjectURL(url), 60_000);
}

export const count = (number, one, many) => `${number.toLocaleString("en")} ${number === 1 ? one : many}`;
export const bytes = (number) => count(number, "byte", "bytes");
