// The laws of the library in WebAssembly without a system: laws.mjs MODULE MAP...
import { readFileSync, writeSync } from "node:fs";

const [module, ...maps] = process.argv.slice(2);
const { exports, module: compiled } = await WebAssembly.instantiate(readFileSync(module)).then(
  ({ instance, module }) => ({ exports: instance.exports, module }),
);
if (WebAssembly.Module.imports(compiled).length > 0) {
  throw new Error("the library needs something of its host");
}
const reports = maps.map((path, number) => {
  const map = readFileSync(path);
  // The memory may grow, and has another buffer then.
  const place = exports.input(map.length);
  new Uint8Array(exports.memory.buffer, place, map.length).set(map);
  const size = exports.report(number);
  return Buffer.from(new Uint8Array(exports.memory.buffer, exports.output(), size));
});
let rest = Buffer.concat(reports);
while (rest.length > 0) {
  rest = rest.subarray(writeSync(1, rest));
}
