// What the tests share: a server of static files, a browser, and the page as a user has it.
import { execFileSync } from "node:child_process";
import { createServer } from "node:http";
import { existsSync, mkdtempSync, readFileSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, extname, join, resolve } from "node:path";
import { createRequire } from "node:module";

// npm's packages are in the target folder.
const require = createRequire(join(process.env.BSPKIT_WEB_PACKAGES ?? import.meta.dirname, "package.json"));
const { launch } = require("puppeteer-core");

export const root = resolve(import.meta.dirname, "../..");
const dist = join(root, "web/dist");
export const program = process.env.BSPKIT_PROGRAM ?? join(root, "target/debug/bspkit");
const TYPES = { ".html": "text/html", ".js": "text/javascript", ".css": "text/css", ".wasm": "application/wasm", ".svg": "image/svg+xml", ".txt": "text/plain", ".webmanifest": "application/manifest+json" };
const PATHS = ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"];

export const fixtures = readdirSync(join(root, "tests/maps"), { withFileTypes: true })
  .filter((entry) => entry.isDirectory() && entry.name !== "src")
  .flatMap(({ name }) => readdirSync(join(root, "tests/maps", name)).filter((file) => file.endsWith(".bsp")).map((file) => join(root, "tests/maps", name, file)));

// The program; its status may be 1, which says that something was found.
export function run(...args) {
  try {
    return execFileSync(program, args, { maxBuffer: 1 << 28, stdio: ["ignore", "pipe", "ignore"] });
  } catch (error) {
    if (error.status === 1) return error.stdout;
    throw error;
  }
}
export const json = (...args) => JSON.parse(run(...args, "--json").toString());

export async function serve() {
  const server = createServer((request, response) => {
    const path = new URL(request.url, "http://x").pathname;
    const file = join(dist, path === "/" ? "index.html" : path);
    if (!file.startsWith(dist) || !existsSync(file)) return response.writeHead(404).end();
    response.writeHead(200, { "content-type": TYPES[extname(file)] ?? "application/octet-stream", "cache-control": "no-store" });
    response.end(readFileSync(file));
  });
  await new Promise((done) => server.listen(0, "127.0.0.1", done));
  const close = () => new Promise((done) => {
    server.close(done);
    server.closeAllConnections();
  });
  return { url: `http://127.0.0.1:${server.address().port}/`, close };
}

export async function browser() {
  const executablePath = process.env.BSPKIT_CHROMIUM ?? PATHS.find((path) => existsSync(path));
  // Without a display 3D is drawn by the processor.
  const args = ["--no-sandbox", "--disable-dev-shm-usage", "--use-angle=swiftshader", "--enable-unsafe-swiftshader", "--force-prefers-reduced-motion"];
  return launch({ executablePath, args, protocolTimeout: 120_000 });
}

// A page of the browser with all that it says on its console.
export async function visit(browser, url, size = { width: 1200, height: 900 }) {
  const context = await browser.createBrowserContext();
  const page = await context.newPage();
  await page.setViewport(size);
  const said = [];
  page.on("console", (message) => said.push(`${message.type()}: ${message.text()}`));
  page.on("pageerror", (error) => said.push(`error: ${error.message}`));
  // A download of a blob ends its request.
  page.on("requestfailed", (request) => request.url().startsWith("blob:") || said.push(`failed: ${request.url()}`));
  page.on("dialog", (dialog) => dialog.accept());
  const folder = mkdtempSync(join(tmpdir(), "bspkit-web-"));
  const session = await browser.target().createCDPSession();
  const downloads = { behavior: "allowAndName", browserContextId: context.id, downloadPath: folder, eventsEnabled: true };
  await session.send("Browser.setDownloadBehavior", downloads);
  await page.goto(url);
  return new Visit(page, said, folder, session, context);
}

export class Visit {
  constructor(page, said, folder, session, context) {
    Object.assign(this, { page, said, folder, session, context });
  }

  async close() {
    await this.context.close();
    rmSync(this.folder, { recursive: true, force: true });
  }

  // Until no job is left.
  async idle() {
    await this.page.waitForFunction(() => document.body.dataset.state === "ready", { polling: 20, timeout: 60_000 });
  }

  async text(selector) {
    return this.page.$eval(selector, (element) => element.textContent);
  }

  async texts(selector) {
    return this.page.$$eval(selector, (all) => all.map((element) => element.textContent));
  }

  async error() {
    return this.page.$eval("#error", (element) => (element.hidden ? "" : element.textContent));
  }

  async pick(selector, ...paths) {
    const input = await this.page.$(selector);
    await input.uploadFile(...paths);
  }

  // Opens a map; the error, if it cannot be opened.
  async open(path) {
    await this.page.evaluate(() => {
      delete document.body.dataset.map;
      document.getElementById("error").textContent = "";
    });
    await this.pick("#pick", path);
    const isDone = () => document.body.dataset.map || document.getElementById("error").textContent;
    await this.page.waitForFunction(isDone, { polling: 20, timeout: 60_000 });
    await this.idle();
    return this.error();
  }

  async tab(name) {
    // A sentence about an error may move the tabs between the parts of a click.
    await this.page.$eval(`#tab-${name}`, (tab) => tab.click());
    await this.page.waitForFunction((name) => !document.getElementById(`panel-${name}`).hidden, { polling: 20 }, name);
    // Until what the tab shows is there.
    await this.settled();
  }

  async settled() {
    await this.page.evaluate(() => new Promise((done) => setTimeout(done, 30)));
    await this.idle();
  }

  async type(selector, text) {
    await this.page.$eval(selector, (input, text) => {
      input.value = text;
      input.dispatchEvent(new Event("input", { bubbles: true }));
    }, text);
  }

  async select(text) {
    await this.type("#selector", text);
    await this.page.evaluate(() => new Promise((done) => setTimeout(done, 230)));
    await this.idle();
  }

  // Edits all that the selector matches, by the form.
  async edit(how, selector, ...words) {
    await this.tab("entities");
    await this.select(selector);
    await this.page.select("#how", how);
    if (words.length > 0) await this.type("#words", words.join("\n"));
    await this.page.click("#bulk button");
    await this.settled();
    return this.error();
  }

  // The bytes of what a click downloads, and the name.
  async download(click) {
    const done = new Promise((resolve, reject) => {
      let name = "";
      const timer = setTimeout(() => reject(new Error("nothing was downloaded")), 30_000);
      const begin = (event) => (name = event.suggestedFilename);
      const progress = (event) => {
        if (event.state === "inProgress") return;
        clearTimeout(timer);
        this.session.off("Browser.downloadWillBegin", begin);
        this.session.off("Browser.downloadProgress", progress);
        if (event.state === "completed") resolve({ name, bytes: readFileSync(join(this.folder, event.guid)) });
        else reject(new Error(event.state));
      };
      this.session.on("Browser.downloadWillBegin", begin);
      this.session.on("Browser.downloadProgress", progress);
    });
    await click();
    return done;
  }

  async save() {
    await this.tab("save");
    return this.download(() => this.page.click("#download"));
  }
}

// What the program makes of a map; the file is removed.
export function made(folder, args, name = "made.bsp") {
  const path = join(folder, name);
  run(...args, "-o", path);
  const bytes = readFileSync(path);
  rmSync(path);
  rmSync(`${path}.rules.json`, { force: true });
  return bytes;
}

export { basename };
