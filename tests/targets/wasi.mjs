// The program under WASI does what it does on this machine: what it prints, its exit statuses, and the files that it writes.
// wasi.mjs PROGRAM.wasm PROGRAM FIXTURES; by itself as wasi.mjs --run FOLDER PROGRAM.wasm ARGUMENT...
import { spawnSync } from "node:child_process";
import { cpSync, mkdtempSync, readFileSync, readdirSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

if (process.argv[2] === "--run") {
  const { WASI } = await import("node:wasi");
  const [folder, program, ...rest] = process.argv.slice(3);
  const wasi = new WASI({ version: "preview1", args: ["bspkit", ...rest], env: { COLUMNS: "100" }, preopens: { ".": folder } });
  const module = await WebAssembly.compile(readFileSync(program));
  process.exit(wasi.start(await WebAssembly.instantiate(module, wasi.getImportObject())));
}

const [module, program, fixtures] = process.argv.slice(2);
const lines = `
info q2.bsp q3.bsp source.bsp
info goldsrc.bsp --json
ls source.bsp
ent list q3.bsp light --json
ent set q3.bsp worldspawn message=new -o out.bsp
ent set q2.bsp worldspawn message=new --in-place --backup
ent set q2.bsp worldspawn message=newer --in-place --dry-run
diff q3.bsp out.bsp
verify q2.bsp q3.bsp goldsrc.bsp source.bsp out.bsp
check q2.bsp source.bsp
get q3.bsp planes[0] models[*]
set q3.bsp planes[0].distance=8 -o set.bsp --force
dump q2.bsp planes --format csv
pak add source.bsp cfg/map.cfg=q2.bsp -o pak.bsp
pak list pak.bsp --json
pak extract pak.bsp -o files
compress source.bsp -o small.bsp
decompress small.bsp -o large.bsp
unpack q3.bsp -o folder
pack folder -o packed.bsp
light export q2.bsp -o light
tex export goldsrc.bsp -o images
vis fill q2.bsp -o vis.bsp
model list q2.bsp
prune q2.bsp -o pruned.bsp
rename source.bsp other -o other.bsp
ent rm q3.bsp light -o rm.bsp
checksum q3.bsp
info none.bsp
ent set q3.bsp
ent set q3.bsp nothing_there a=b -o no.bsp
`;

function room() {
  const folder = mkdtempSync(join(tmpdir(), "bspkit-wasi-"));
  for (const [name, map] of [
    ["q2.bsp", "q2/own_rooms.bsp"],
    ["q3.bsp", "q3/own_rooms.bsp"],
    ["goldsrc.bsp", "goldsrc/own_rooms.bsp"],
    ["source.bsp", "source/room_v20.bsp"],
  ]) {
    cpSync(join(fixtures, map), join(folder, name));
  }
  return folder;
}

function files(folder) {
  const paths = readdirSync(folder, { recursive: true }).filter((path) => statSync(join(folder, path)).isFile());
  return new Map(paths.sort().map((path) => [path, readFileSync(join(folder, path)).toString("latin1")]));
}

const [here, there] = [room(), room()];
let differ = 0;
const commands = lines.trim().split("\n");
for (const line of commands) {
  const words = line.split(" ");
  const one = spawnSync(program, words, { cwd: here, env: { COLUMNS: "100" } });
  const other = spawnSync(process.execPath, ["--no-warnings", import.meta.filename, "--run", there, module, ...words]);
  const texts = [one, other].map((run) =>
    // The numbers of errors are those of the system.
    `exit ${run.status}\n${run.stdout.toString("latin1")}${run.stderr.toString("latin1")}`.replace(/os error \d+/g, "os error"),
  );
  const [old, now] = [files(here), files(there)];
  const changed = [...new Set([...old.keys(), ...now.keys()])].filter((path) => old.get(path) !== now.get(path));
  if (texts[0] !== texts[1] || changed.length > 0) {
    differ += 1;
    console.log(`bspkit ${line}\n--- here\n${texts[0]}\n--- WASI\n${texts[1]}\n--- files that differ: ${changed}\n`);
  }
}
rmSync(here, { recursive: true });
rmSync(there, { recursive: true });
console.log(`wasi: ${commands.length - differ} commands of ${commands.length} do the same as on this machine`);
process.exit(differ > 0 ? 1 : 0);
