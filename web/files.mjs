// Writes what is put together of several files: files.mjs DIST. index.html has the controls of the viewer, licences.txt the
// licences of all that is in the page, and sw.js the names of the files and a sum of them.
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { readFileSync, readdirSync, statSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";

const here = import.meta.dirname ?? dirname(new URL(import.meta.url).pathname);
const [dist] = process.argv.slice(2);
const text = (path) => readFileSync(join(here, path), "utf8");
const write = (name, content) => writeFileSync(join(dist, name), content);

write("index.html", text("page/index.html").replace("{{controls}}", () => text("../crates/see/page/controls.html")));

// The crates in the module, with the texts that they have.
function licences() {
  const cargo = (...args) => execFileSync("cargo", args, { cwd: here, encoding: "utf8", maxBuffer: 1 << 28 });
  const target = ["--filter-platform", "wasm32-unknown-unknown"];
  const { packages } = JSON.parse(cargo("metadata", "--locked", "--format-version", "1", ...target));
  const tree = cargo("tree", "--locked", "-p", "bspkit-web", "-e", "normal", "--prefix", "none", "--target", target[1]);
  const used = new Set(tree.split("\n").map((line) => line.split(" ").slice(0, 2).join(" ")));
  const texts = new Map();
  const add = (said, title) => texts.set(said.trim(), [...(texts.get(said.trim()) ?? []), title]);
  for (const { name, version, license, manifest_path } of packages) {
    if (name.startsWith("bspkit") || !used.has(`${name} v${version}`)) continue;
    const folder = dirname(manifest_path);
    const isText = (file) => /^(licen[cs]e|copying|copyright|notice|unlicense)/i.test(file) && statSync(join(folder, file)).isFile();
    const files = readdirSync(folder).sort().filter(isText);
    if (files.length === 0) console.error(`notice: ${name} ${version} has no text of its licence, ${license}`);
    const title = `${name} ${version}, ${license}`;
    if (files.length === 0) add(`The package has no text of its licence: ${license}`, title);
    for (const file of files) add(readFileSync(join(folder, file), "utf8"), title);
  }
  add(text("../crates/see/page/three.LICENSE"), "three.js");
  add(text("../LICENSE"), "bspkit");
  const rule = "-".repeat(80);
  return [...texts].map(([said, titles]) => `${rule}\n${titles.join("\n")}\n\n${said}\n`).join("\n");
}
write("licences.txt", `What is in this page.\n\n${licences()}`);

const names = readdirSync(dist).filter((name) => name !== "sw.js").sort();
const sum = createHash("sha256");
for (const name of names) sum.update(name).update(readFileSync(join(dist, name)));
const files = JSON.stringify(["./", ...names]);
write("sw.js", text("page/sw.js").replace("{{sum}}", sum.digest("hex").slice(0, 16)).replace("{{files}}", () => files));
