// Draws docs/web.png: an own map in 3D, with a selected entity. BSPKIT_WEB_PACKAGES names the folder of npm's packages.
import { join } from "node:path";

import { browser, root, serve, visit } from "./harness.mjs";

const server = await serve();
const chromium = await browser();
const page = await visit(chromium, server.url, { width: 780, height: 500 });
await page.open(join(root, "tests/maps/goldsrc/own_rooms.bsp"));
await page.edit("set", "light", "_light=255 240 200 300");
await page.tab("view");
await page.page.waitForFunction(() => document.querySelector(".viewer")?.dataset.state === "ready", { polling: 50 });
await page.type("#bright", "5");
await page.page.mouse.click(220, 320);
await new Promise((done) => setTimeout(done, 500));
await page.page.screenshot({ path: join(root, "docs/web.png") });
await chromium.close();
await server.close();
