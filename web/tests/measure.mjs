// Measures the page: measure.mjs MAP... prints how long a map takes until its lumps are there, and each part after that.
// It is not a test. BSPKIT_WEB_PACKAGES names the folder of npm's packages, as test.sh does.
import { statSync } from "node:fs";

import { basename, browser, serve, visit } from "./harness.mjs";

const server = await serve();
const chromium = await browser();
for (const map of process.argv.slice(2)) {
  const start = performance.now();
  const page = await visit(chromium, server.url);
  const times = { page: performance.now() - start };
  const time = async (name, work) => {
    const from = performance.now();
    await work();
    times[name] = performance.now() - from;
  };
  await time("open", () => page.open(map));
  for (const name of ["findings", "entities", "files"]) await time(name, () => page.tab(name));
  const isDrawn = () => document.querySelector(".viewer")?.dataset.state === "ready" || document.getElementById("error").textContent;
  await time("view", async () => {
    await page.tab("view");
    await page.page.waitForFunction(isDrawn, { polling: 20, timeout: 120_000 });
  });
  // How often the map is drawn in two seconds, and with the faces alone that are visible from where one is.
  const frames = () => page.page.evaluate(() => new Promise((done) => {
    const end = performance.now() + 2000;
    let count = 0;
    const next = (now) => (now < end ? requestAnimationFrame(next, count++) : done(count / 2));
    requestAnimationFrame(next);
  }));
  const drawn = [await frames()];
  await page.page.click("#pvs");
  drawn.push(await frames());
  const triangles = await page.page.$eval("#status", (status) => status.textContent.split(",")[0]);
  await time("edit", () => page.edit("set", "worldspawn", "message=The Place"));
  await time("report", () => page.tab("save"));
  await time("download", () => page.download(() => page.page.click("#download")));
  const shown = Object.entries(times).map(([name, ms]) => `${name} ${(ms / 1000).toFixed(2)} s`);
  const heap = await page.page.evaluate(() => performance.memory?.usedJSHeapSize ?? 0);
  console.log(`${basename(map)}, ${(statSync(map).size / 1e6).toFixed(1)} MB: ${shown.join(", ")}; ${(heap / 1e6).toFixed(0)} MB of scripts; ${triangles}, ${drawn.join(" and ")} frames per second; ${page.said.join("; ") || "console empty"}`);
  await page.close();
}
await chromium.close();
await server.close();
