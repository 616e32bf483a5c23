// Every job of the page, on the maps of every family: what it shows is what the program prints, and what it saves is byte
// for byte what the program writes.
import assert from "node:assert/strict";
import { copyFileSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { after, before, test } from "node:test";

import { basename, browser, fixtures, json, made, run, serve, visit } from "./harness.mjs";

let server, chromium, own;
before(async () => {
  [server, chromium] = await Promise.all([serve(), browser()]);
  own = mkdtempSync(join(tmpdir(), "bspkit-maps-"));
});
after(async () => {
  await chromium?.close();
  await server?.close();
  rmSync(own, { recursive: true, force: true });
});

// One page for all maps, as a user would have it.
let page;
const RULES = 'add:\n{\n"classname" "light"\n"origin" "0 0 64"\n}\nmodify:\n{\nmatch:\n{\n"classname" "worldspawn"\n}\nreplace:\n{\n"message" "by rules"\n}\n}\n';

const same = (found, expected, what) => assert.ok(Buffer.compare(found, expected) === 0, `${what}: ${found.length} bytes are not the ${expected.length} of the program`);

for (const map of fixtures) {
  const name = basename(map);
  test(`${basename(dirname(map))}/${name}`, async (t) => {
    page ??= await visit(chromium, server.url);
    const { page: tab } = page;
    assert.equal(await page.open(map), "");
    const entities = json("ent", "list", map).entities;

    await t.test("the overview is that of info", async () => {
      const info = json("info", map);
      const title = await page.text("#title");
      assert.ok(title.includes(`(${info.dialect})`) && title.includes(info.bytes.toLocaleString("en")), title);
      const rows = await tab.$$eval("#lumps tr", (rows) => rows.map((row) => [row.cells[0].textContent, Number(row.cells[1].textContent)]));
      assert.deepEqual(rows, info.lumps.map((lump) => [lump.name, lump.offset]));
    });

    await t.test("the findings are those of check", async () => {
      await page.tab("findings");
      const found = json("check", map).findings ?? [];
      const shown = await page.texts("#findings li");
      assert.equal(shown.length, found.length);
      found.forEach((finding, index) => assert.ok(shown[index].includes(finding.message) && shown[index].includes(finding.code), shown[index]));
    });

    await t.test("a selector finds what it finds for the program", async () => {
      await page.tab("entities");
      await page.select("light*");
      const lights = entities.filter(({ pairs }) => pairs.some(({ key, value }) => key === "classname" && value.startsWith("light")));
      assert.equal(await page.text("#entities-count"), `${lights.length} ${lights.length === 1 ? "entity" : "entities"} of ${entities.length}`);
      await page.select("[");
      assert.notEqual(await page.error(), "");
      await page.select("");
      assert.equal(await page.error(), "");
    });

    await t.test("edits are those of the program, and undo takes them back", async () => {
      const steps = [
        ["set", "worldspawn", "message=The Place", "sounds=1"],
        ["set", "[origin]", "origin+=0 0 8"],
        ["unset", "worldspawn", "sounds"],
        ["rename", "worldspawn", "message", "text"],
        ["add", "", "classname=light", "origin=0 0 64"],
        ["copy", "#1"],
        ["remove", "#1"],
      ];
      const commands = { rename: "rename-key", remove: "rm", copy: "dup" };
      let path = map;
      for (const [index, [how, selector, ...words]] of steps.entries()) {
        assert.equal(await page.edit(how, selector, ...words), "", how);
        const next = join(own, `${index}.bsp`);
        run("ent", commands[how] ?? how, path, ...(how === "add" ? words : [selector, ...words]), "-o", next);
        path = next;
      }
      const saved = await page.save();
      assert.equal(saved.name, name);
      // The program has saved after each step; the page saves once. So the entities are compared, and one edit byte for byte.
      writeFileSync(join(own, "page.bsp"), saved.bytes);
      same(run("ent", "list", join(own, "page.bsp")), run("ent", "list", path), "entities");
      for (let count = steps.length; count > 0; count--) {
        assert.equal(await page.text("#undo"), `Undo (${count})`);
        await tab.click("#undo");
        await page.settled();
      }
      assert.match(await page.text("#report"), /^Nothing changes/);
      same((await page.save()).bytes, readFileSync(map), "without edits");
    });

    await t.test("one edit is saved as the program saves it, and the report is the program's", async () => {
      await page.edit("set", "worldspawn", "message=The Place");
      const saved = await page.save();
      const args = ["ent", "set", map, "worldspawn", "message=The Place"];
      same(saved.bytes, made(own, args), "set");
      const { report } = json(...args, "--dry-run");
      assert.ok((await page.text("#report")).startsWith(report), `${await page.text("#report")} and ${report}`);
      await tab.click("#undo");
      await page.settled();
    });

    await t.test("a value that is typed is set", async () => {
      await page.tab("entities");
      await page.select("#0");
      const key = "message";
      await tab.$$eval("#entities .entity label", (labels) => {
        const input = labels.at(-1).querySelector("input");
        input.value = "message=typed";
        input.dispatchEvent(new Event("change"));
      });
      await page.settled();
      await tab.$$eval("#entities .entity label", (labels) => {
        const label = labels.find((label) => label.textContent === "message");
        const input = label.querySelector("input");
        input.value = "a=b \\xe9";
        input.dispatchEvent(new Event("change"));
      });
      await page.settled();
      assert.equal(await page.error(), "");
      same((await page.save()).bytes, made(own, ["ent", "set", map, "#0", "--pair", key, "a=b \\xe9"]), "typed");
      for (const _ of [0, 1]) {
        await tab.click("#undo");
        await page.settled();
      }
    });

    await t.test("rules do what ent apply does", async () => {
      await page.tab("rules");
      await page.type("#rules", RULES);
      await tab.click("#rule-form button");
      await page.settled();
      assert.equal(await page.error(), "");
      const path = join(own, "rules.cfg");
      writeFileSync(path, RULES);
      same((await page.save()).bytes, made(own, ["ent", "apply", map, "--rules", path]), "rules");
      await tab.click("#undo");
      await page.settled();
    });

    await t.test("embedded files are listed, saved, added and removed", async () => {
      await page.tab("files");
      const hasPak = json("info", map).dialect.startsWith("source") || map.includes("/source/");
      if (!hasPak) return assert.notEqual(await page.error(), "");
      const files = json("pak", "list", map).files;
      assert.deepEqual(await tab.$$eval("#files tr", (rows) => rows.map((row) => row.cells[0].textContent)), files.map(({ name }) => name));
      const added = join(own, "New.txt");
      writeFileSync(added, "a file\n".repeat(99));
      await page.type("#folder", "Materials/My");
      await page.pick("#add-files", added);
      await page.settled();
      assert.equal(await page.error(), "");
      same((await page.save()).bytes, made(own, ["pak", "add", map, `Materials/My/New.txt=${added}`]), "pak add");
      await page.tab("files");
      const got = await page.download(() => tab.click('[aria-label="Save materials/my/new.txt"]'));
      same(got.bytes, readFileSync(added), "an embedded file");
      await tab.click("#undo");
      await page.settled();
      if (files.length > 0) {
        await tab.$eval("#files tr button:last-child", (button) => button.click());
        await page.settled();
        same((await page.save()).bytes, made(own, ["pak", "rm", map, files[0].name]), "pak rm");
        await tab.click("#undo");
        await page.settled();
      }
    });

    await t.test("the pages of light are those of light export", async () => {
      await page.tab("images");
      const shown = await tab.$$eval("#lights img", (images) => Promise.all(images.map(async (image) => [image.alt, [...new Uint8Array(await (await fetch(image.src)).arrayBuffer())], image.naturalWidth])));
      const folder = join(own, "light");
      let expected = [];
      try {
        run("light", "export", map, "-o", folder);
        expected = readdirSync(folder, { recursive: true }).filter((file) => String(file).endsWith(".png")).map(String).sort();
      } catch {
        assert.equal(shown.length, 0);
      }
      assert.deepEqual(shown.map(([alt]) => alt).sort(), expected);
      for (const [alt, bytes, wide] of shown) {
        same(Buffer.from(bytes), readFileSync(join(folder, alt)), alt);
        assert.ok(wide > 0);
      }
      rmSync(folder, { recursive: true, force: true });
      const textures = await tab.$$eval("#textures img", (images) => images.map((image) => image.naturalWidth));
      assert.ok(textures.every((wide) => wide > 0));
      // Quake and GoldSrc have their textures in the map.
      if (/(q1|bsp2|goldsrc).own_rooms/.test(map)) assert.ok(textures.length > 0);
    });

    await t.test("the map is drawn, and one flies to an entity", async () => {
      await page.tab("view");
      await tab.waitForFunction(() => document.querySelector(".viewer")?.dataset.state === "ready", { polling: 50 });
      const copy = join(own, name);
      copyFileSync(map, copy);
      const exported = json("export", copy, "-o", join(own, "made.glb"), "--overwrite");
      assert.equal(await page.text("#status"), `${exported.triangle_count} triangles, ${exported.entity_count} entities, ${exported.prop_count} props`);
      const png = await (await tab.$("#view")).screenshot({ encoding: "base64" });
      const colors = await tab.evaluate(async (png) => {
        const image = new Image();
        image.src = `data:image/png;base64,${png}`;
        await image.decode();
        const small = new OffscreenCanvas(100, 100).getContext("2d");
        small.drawImage(image, 0, 0, 100, 100);
        return new Set(new Uint32Array(small.getImageData(0, 0, 100, 100).data.buffer)).size;
      }, png);
      assert.ok(colors > 10, `${colors} colors`);
      for (const layer of ["leafs", "portals"]) await tab.click(`#layers input[name=${layer}]`);
      assert.match(await page.text("#portals"), /^\d+ portals$/);
      await tab.click("#pvs");
      assert.match(await page.text("#seen"), /^leaf \w+(: all is shown| sees \d+ of \d+ leafs, \d+ triangles)$/);
      await tab.click("#pvs");
      await page.tab("entities");
      await page.select("#1");
      await tab.$$eval("#entities button", (buttons) => buttons.find((button) => button.textContent === "Fly there").click());
      await page.settled();
      assert.ok((await page.text("#info")).includes("#1"));
    });

    await t.test("a comparison is the page of diff", async () => {
      const newer = join(own, "newer.bsp");
      run("ent", "set", map, "worldspawn", "message=newer", "-o", newer);
      await page.tab("compare");
      await page.pick("#other", newer);
      await page.settled();
      await tab.waitForSelector("iframe", { timeout: 20_000 });
      const html = (await page.download(() => tab.click("#save-page"))).bytes;
      const file = join(own, "page.html");
      run("diff", map, newer, "--html", file);
      same(html, readFileSync(file), "the page of diff");
      const frame = await (await tab.$("iframe")).contentFrame();
      assert.ok((await frame.evaluate(() => document.body.textContent)).includes("newer"));
    });

    assert.deepEqual(page.said, []);
  });
}

test("the page is closed", async () => {
  await page?.close();
});
