// SPDX-License-Identifier: Apache-2.0
//
// Tables and the icicle in a real browser: order, folding, search, columns that hide, resize and stay; boxes, hues, keys.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { inflateSync } from "node:zlib";
import { csvOf, until } from "./browser.mjs";
import { at, browser, made, traces } from "./fixture.mjs";
import { loader } from "./parts.mjs";
import { linesOf } from "./traces.mjs";

const load = await loader(traces.repository);
const { fitting, Trace, layoutOf, neighbour, hueColor } = await load(
  "ui/table.tsx",
  "data/trace.ts",
  "views/icicle_layout.ts",
  "theme.ts",
);

const kLayer = "iteration/model/decoder/layers/3";
const table = (page, label = "Modules") => page.locator(`section.table[aria-label="${label}"]`);
const names = (page) => page.locator(".body .row > :first-child").allTextContents();
const status = (page) => table(page).getByRole("status").textContent();
const heads = (page) => page.getByRole("columnheader").locator("button").allTextContents();

/** The tables inside a page. */
const dataOf = (file) =>
  JSON.parse(inflateSync(Buffer.from(/id="tables">([^<]*)</.exec(readFileSync(file, "utf8"))[1], "base64")));
function traceOf(file, i = 0) {
  const { traces: all, columns, diff } = dataOf(file);
  return new Trace(all[i], i, { metrics: [], topics: [] }, columns, diff);
}

test("iterations come first, unfolded to their third level; what runs outside of them is folded at the end", async () => {
  const page = await browser.open(made.page, at("modules"));
  const shown = (await names(page)).map((name) => name.replace(/^[▾▸]/, ""));
  assert.deepEqual(shown.slice(0, 3), ["iteration", "model", "backbone"]);
  assert.deepEqual(shown.slice(-3), ["H2D", "warmup", "D2H"]);
  assert.ok(!shown.includes("layers"));
  assert.match(await status(page), /^16 of 556 rows$/);
  await page.getByRole("button", { name: "Unfold all" }).click();
  assert.match(await status(page), /^556 rows$/);
  await page.getByRole("button", { name: "Fold all" }).click();
  assert.match(await status(page), /^4 of 556 rows$/);
  const rows = await csvOf(page, "Modules");
  assert.equal(rows.length, 556, "a folded row is copied too");
});

test("replays of a graph have no module: the heaviest one comes first", async () => {
  const page = await browser.open(traces.page("decoder", traces.recorded("decoder_sampled")), at("modules"));
  assert.equal((await names(page))[0], "▾decode");
});

test("a module that is selected elsewhere is unfolded, and the arrow keys fold and go to the parent", async () => {
  const page = await browser.open(made.page, at("modules", { module: kLayer }));
  const selected = page.locator(".body .row.selected");
  await until(page, () => document.querySelector(".body .row.selected") !== null);
  assert.equal(await selected.getAttribute("aria-expanded"), "false");
  await page.locator(".scroll[role=treegrid]").focus();
  await page.keyboard.press("ArrowRight");
  assert.equal(await selected.getAttribute("aria-expanded"), "true");
  await page.keyboard.press("ArrowLeft");
  await page.keyboard.press("ArrowLeft");
  await until(page, () => /module=iteration%2Fmodel%2Fdecoder%2Flayers(&|$)/.test(location.hash));
});

test("a search keeps what is above its matches, and says where there are none", async () => {
  const page = await browser.open(made.page, at("modules"));
  const search = page.getByLabel("Search in Modules");
  await search.fill("decoder/layers/3/self_attn");
  await until(page, () => document.querySelector(".body").textContent.includes("self_attn"));
  const found = (await names(page)).map((name) => name.replace(/^[▾▸]/, ""));
  assert.deepEqual(found.slice(0, 5), ["iteration", "model", "decoder", "layers", "3"]);
  await search.fill("no such module");
  assert.equal(await page.locator(".sheet .empty").textContent(), "No match for “no such module”.");
  await search.fill("");
  await until(page, () => document.querySelectorAll(".body .row").length === 16);
});

test("a click on a title sorts siblings, the largest first, then the smallest, then as they ran", async () => {
  const page = await browser.open(made.page, at("modules"));
  const before = await names(page);
  const title = page.getByRole("columnheader").getByRole("button", { name: "GPU time" });
  const times = async () => {
    const { modules } = traces.report(made.trace);
    const gpu = new Map(modules.map((row) => [row.path, row.gpu_ns]));
    return (await names(page))
      .filter((name) => gpu.has(`iteration/model/${name.replace(/^[▾▸]/, "")}`))
      .map((name) => gpu.get(`iteration/model/${name.replace(/^[▾▸]/, "")}`));
  };
  await title.click();
  const down = await times();
  assert.ok(down.length >= 9);
  assert.deepEqual(
    down,
    [...down].sort((a, b) => b - a),
  );
  await until(page, () => location.hash.includes("sort=gpu_ns"));
  await title.click();
  assert.deepEqual(await times(), [...down].reverse());
  await until(page, () => location.hash.includes("sort=-gpu_ns"));
  await title.click();
  assert.deepEqual(await names(page), before);
});

test("columns without room are hidden, the least important first, and named; a chosen one stays, also in the link", async () => {
  const page = await browser.open(made.page, at("modules"), { width: 1280 });
  const hidden = await table(page).locator("summary").textContent();
  assert.match(hidden, /^[1-9] columns? hidden$/);
  const note = await table(page).locator(".note").textContent();
  assert.match(note, /Hidden columns: .*Host time/);
  assert.ok((await heads(page)).includes("DRAM read"));
  assert.ok(!(await heads(page)).includes("Host time"));
  await table(page).locator("summary").click();
  await page.getByRole("checkbox", { name: "Host time" }).check();
  await page.getByRole("checkbox", { name: "Calls" }).uncheck();
  await until(page, () => location.hash.includes("columns="));
  const chosen = await heads(page);
  assert.ok(chosen.includes("Host time") && !chosen.includes("Calls"), chosen.join());

  await page.getByRole("tab", { name: "Kernels" }).click();
  await until(page, () => !location.hash.includes("columns="));
  await page.getByRole("tab", { name: "Modules" }).click();
  assert.deepEqual(await heads(page), chosen);
  await until(page, () => location.hash.includes("columns="));
  const other = await browser.open(made.page, new URL(page.url()).hash);
  assert.deepEqual(await heads(other), chosen);
  await table(page).locator("summary").click();
  await page.getByRole("button", { name: "As many as fit" }).click();
  assert.ok(!(await heads(page)).includes("Host time"));
});

test("columns that the user wants beyond the edge are counted, and the name stays while they scroll", async () => {
  const columns = "calls,kernels,gpu_ns,dram_read_bytes,dram_write_bytes,l2_bytes";
  const page = await browser.open(made.page, at("modules", { columns }), { width: 390, height: 844 });
  assert.match(await status(page), /, [1-9] more columns? to the right$/);
  const left = () =>
    page.evaluate(() => document.querySelector(".body .row > :first-child").getBoundingClientRect().left);
  const before = await left();
  await page.evaluate(() => document.querySelector(".scroll").scrollTo(10_000, 0));
  await until(page, () => !document.querySelector(".table [role=status]").textContent.includes("to the right"));
  assert.ok(Math.abs((await left()) - before) < 2);
});

test("a column is resized by its edge, also after another view, and a double click undoes it", async () => {
  const page = await browser.open(made.page, at("modules"));
  const head = page.getByRole("columnheader").nth(1);
  const width = async () => Math.round((await head.boundingBox()).width);
  const before = await width();
  const edge = await head.locator(".grip").boundingBox();
  await page.mouse.move(edge.x + 3, edge.y + 8);
  await page.mouse.down();
  await page.mouse.move(edge.x + 43, edge.y + 8, { steps: 4 });
  await page.mouse.up();
  assert.ok(Math.abs((await width()) - before - 40) <= 1, `${before} to ${await width()}`);
  await page.getByRole("tab", { name: "Kernels" }).click();
  await page.getByRole("tab", { name: "Modules" }).click();
  assert.ok(Math.abs((await width()) - before - 40) <= 1);
  await head.locator(".grip").dblclick();
  assert.equal(await width(), before);
});

test("the columns that fit are the most important ones, in their order", () => {
  const column = (key, importance, width = 100) => ({ key, width, ...(importance && { importance }) });
  const all = [column("name", undefined, 200), column("a", 20), column("b"), column("c", 90), column("d", 50)];

  assert.deepEqual(fitting(all, 600), ["name", "a", "b", "c", "d"]);
  assert.deepEqual(fitting(all, 500), ["name", "b", "c", "d"]);
  assert.deepEqual(fitting(all, 399), ["name", "b", "c"]);
  assert.deepEqual(fitting(all, 100), ["name"]);
});

test("a link to a module shows the end of its path", async () => {
  const page = await browser.open(made.page, at("kernels"));
  await page.locator(".body .row").first().click();
  const button = page.locator(".details ul.links:not(.names) button").first();
  const cut = await button.evaluate((one) => {
    const [box, text] = [one, one.querySelector("bdi")].map((part) => part.getBoundingClientRect());
    return { start: text.left < box.left, end: text.right <= box.right + 1 };
  });
  assert.deepEqual(cut, { start: true, end: true });
});

test("modules whose paths differ by numbers only are a family, and no others", () => {
  for (const file of [made.page, join(traces.folder, "decoder.html")]) {
    const { modules } = dataOf(file).traces[0];
    const families = new Map();
    for (const { path, family } of modules) {
      const name = path.replace(/(^|[/ _.-])\d+(?=\/|$)/g, "$1*");
      if (!families.has(name)) families.set(name, family);
      assert.equal(families.get(name), family, path);
    }
    assert.equal(new Set(families.values()).size, families.size);
  }
});

test("hues of brothers are far apart, and no two of 500 families have one hue", () => {
  const hue = (number) => Number(/ ([\d.]+)\)$/.exec(hueColor({ dark: false }, number, false))[1]);
  const far = (a, b) => Math.min(Math.abs(hue(a) - hue(b)), 360 - Math.abs(hue(a) - hue(b)));
  for (let i = 0; i < 100; ++i) for (let k = 1; k < 8; ++k) assert.ok(far(i, i + k) > 30, `${i} and ${i + k}`);
  assert.equal(new Set(Array.from({ length: 500 }, (_, i) => hue(i).toFixed(3))).size, 500);
});

test("the savings of findings are divided over their modules", () => {
  const file = join(traces.folder, "decoder.html");
  const [{ modules, findings }] = dataOf(file).traces;
  const most = Math.max(...findings.map((one) => one.saving_per_iteration_ns ?? 0));
  const layers = modules.filter((row) => row.saving_ns !== undefined);
  assert.equal(layers.length, 24);
  for (const { path } of layers) assert.match(path, /^decode\/layer \d+$/);
  const sum = layers.reduce((all, row) => all + row.saving_ns, 0);
  assert.ok(most > 0 && Math.abs(sum - most) <= layers.length, `${sum} of ${most}`);
  const boxes = layoutOf(traceOf(file), "saving", -2);
  assert.ok(Math.abs(boxes[0].value - sum) < 1);
});

test("kernels are leaves of the icicle: a module's time is that of its boxes, bytes of whole kernels only", () => {
  const trace = traceOf(made.page);
  const boxes = layoutOf(trace, "gpu", -2);
  const leaves = boxes.filter((box) => box.kernel !== undefined);
  assert.equal(leaves.length, trace.pairs.filter((pair) => pair.total_ns > 0).length);
  const inside = leaves.filter((box) => box.module === trace.byPath.get(kLayer));
  for (const box of leaves) {
    const parent = boxes.find((one) => one.module === box.module && one.kernel === undefined);
    assert.equal(box.depth, parent.depth + 1);
    assert.ok(box.x0 >= parent.x0 - 1e-9 && box.x1 <= parent.x1 + 1e-9);
  }
  assert.equal(inside.length, trace.pairs.filter((pair) => pair.module === trace.byPath.get(kLayer)).length);
  for (const box of layoutOf(trace, "dram", -2)) {
    if (box.kernel === undefined) continue;
    const pair = trace.pairs.find((one) => one.kernel === box.kernel && one.module === box.module);
    assert.equal(pair.count, trace.tables.kernels[box.kernel].count);
  }
  const [first] = boxes.filter((box) => box.depth === 1).sort((a, b) => b.value - a.value);
  assert.equal(neighbour(boxes, undefined, "ArrowDown"), first);
});

/** Colours of the icicle's boxes with their names, by pixels in their middles: [name, module, kernel, colour]. */
async function colours(page, trace, metric = "gpu") {
  const boxes = layoutOf(trace, metric, -2).filter((box) => box.x1 - box.x0 > 0.01);
  const read = await page.evaluate(
    (places) =>
      new Promise((done) =>
        requestAnimationFrame(() =>
          requestAnimationFrame(() => {
            const canvas = document.querySelector(".icicle canvas");
            const context = canvas.getContext("2d");
            done(
              places.map(([x, y]) =>
                context.getImageData(x * canvas.clientWidth * devicePixelRatio, y * devicePixelRatio, 1, 1).data.join(),
              ),
            );
          }),
        ),
      ),
    // Left of the label and of the selection's frame.
    boxes.map(({ x0, depth }) => [x0 + 0.0025, depth * 22 + 18]),
  );
  return boxes.map((box, i) => ({ ...box, path: trace.modules[box.module]?.path, colour: read[i] }));
}

test("a width by host time, saving or change is there if the trace has it", async () => {
  let page = await browser.open(made.page, at("modules"));
  const widths = () => page.locator(".view.modules > .tools [role=radio]").allTextContents();
  assert.deepEqual(await widths(), ["GPU time", "DRAM bytes", "L2 bytes", "host time", "saving"]);
  const pair = traces.page("two", traces.recorded("rtdetr_r18"), traces.recorded("rtdetr_r18_unfused"));
  page = await browser.open(pair, at("modules"));
  assert.equal((await widths()).at(-1), "change");
  const trace = traceOf(pair);
  const boxes = layoutOf(trace, "change", -2);
  const leaves = boxes.filter(
    (box) => box.module >= 0 && !boxes.some((one) => trace.modules[one.module]?.parent === box.module),
  );
  assert.ok(leaves.length >= 5, `${leaves.length} changed modules`);
  for (const { module, value } of leaves)
    assert.equal(value, Math.abs(trace.changes.get(trace.modules[module].path).difference));
  await page.getByRole("radio", { name: "change" }).click();
  assert.match(await page.locator(".view.modules > .tools").textContent(), /orange: slower in B/);
  for (const { path, colour } of (await colours(page, trace, "change")).filter((box) => box.path !== undefined)) {
    const [red, , blue] = colour.split(",").map(Number);
    assert.equal(red > blue && red > 100, trace.changes.get(path).difference > 0, `${path} ${colour}`);
  }
  assert.deepEqual(browser.take(), []);
});

test("numbered layers have one hue, the encoder and the decoder two, kernels a pale one; a search dims the rest", async () => {
  const page = await browser.open(made.page, at("modules"), { width: 1440 });
  const trace = traceOf(made.page);
  const all = await colours(page, trace);
  const of = (path) => all.find((box) => box.path === path && box.kernel === undefined).colour;
  assert.equal(of("iteration/model/decoder/layers/0"), of("iteration/model/decoder/layers/1"));
  assert.notEqual(of("iteration/model/encoder"), of("iteration/model/decoder"));
  for (const leaf of all.filter((box) => box.kernel !== undefined && box.module >= 0)) {
    const own = all.find((box) => box.module === leaf.module && box.kernel === undefined);
    assert.notEqual(leaf.colour, own.colour);
  }

  await page.getByLabel("Search in Modules").fill("model/decoder");
  await until(page, () => location.hash.includes("find="));
  for (const { path, colour } of await colours(page, trace)) {
    const isDim = Number(colour.split(",")[3]) < 255;
    assert.equal(isDim, !(path ?? "").includes("model/decoder"), path);
  }
});

test("a click on a kernel's box selects the kernel and its module; arrows begin at the heaviest module", async () => {
  const page = await browser.open(made.page, at("modules"));
  const canvas = page.locator(".icicle canvas");
  await canvas.focus();
  await page.keyboard.press("ArrowRight");
  await until(page, () => /module=iteration(&|$)/.test(location.hash));
  const [leaf] = layoutOf(traceOf(made.page), "gpu", -2)
    .filter((box) => box.kernel !== undefined)
    .sort((a, b) => b.x1 - b.x0 - (a.x1 - a.x0));
  const size = await canvas.boundingBox();
  const place = { x: ((leaf.x0 + leaf.x1) / 2) * size.width, y: leaf.depth * 22 + 11 };
  await canvas.click({ position: place });
  await until(page, () => location.hash.includes("kernel=") && /module=iteration%2F/.test(location.hash));
  await canvas.hover({ position: place });
  assert.match(await page.locator(".tip").textContent(), /GPU time: /);
  await page.keyboard.press("ArrowUp");
  await until(page, () => !location.hash.includes("kernel="));
});

test("a link keeps the module that the icicle shows, and a search that finds nothing in it says so", async () => {
  const path = "iteration/model/decoder";
  const page = await browser.open(made.page, at("modules", { module: path }));
  await page.locator(".icicle canvas").focus();
  await page.keyboard.press("Enter");
  await until(page, () => location.hash.includes("zoom=iteration%2Fmodel%2Fdecoder"));

  const again = await browser.open(made.page, at("modules", { zoom: path, find: "backbone" }));
  assert.equal(await again.getByRole("button", { name: "Show all modules" }).count(), 1);
  assert.equal(await again.getByText("The search finds nothing in this module.").count(), 1);
  await again.getByRole("button", { name: "Show all modules" }).click();
  await until(again, () => !location.hash.includes("zoom="));
});

test("a table of 2,000 rows has few elements, and End goes to the last", async () => {
  const names = Array.from({ length: 2000 }, (_, i) => `part ${i}`);
  const page = await browser.open(traces.page("many", traces.made("many", linesOf(names))), at("modules"));
  assert.match(await status(page), /2,000 rows/);
  assert.ok((await page.locator(".body .row").count()) < 60);
  await page.locator(".scroll[role=treegrid]").focus();
  await page.keyboard.press("End");
  await until(page, () => location.hash.includes("module=part+1999"));
});
