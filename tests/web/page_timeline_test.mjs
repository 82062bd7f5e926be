// SPDX-License-Identifier: Apache-2.0
//
// The timeline of the page in a real browser: where it opens, captured layers, sums of a part, keys, rows, links.
import assert from "node:assert/strict";
import { test } from "node:test";
import { until } from "./browser.mjs";
import { at, browser, made, traces } from "./fixture.mjs";
import { linesOf } from "./traces.mjs";

made.decoder = traces.page("decoder", traces.recorded("decoder_sampled"));
const kLayer = "decode/layer 17";

async function timelineAt(file, more = {}, options = {}) {
  const page = await browser.open(file, at("timeline", more), options);
  await until(page, () => document.querySelector(".scroller canvas") !== null);
  return page;
}
const hashOf = (page) => new URLSearchParams(page.url().split("#")[1]);
/** Waits for a value of the link; resolves to its number. */
async function linked(page, key) {
  await until(page, (name) => new URLSearchParams(location.hash.slice(1)).has(name), key);
  return Number(hashOf(page).get(key));
}
const facts = async (page, selector) =>
  Object.fromEntries(
    await page
      .locator(`${selector} dl > div`)
      .evaluateAll((all) =>
        all.map((one) => [one.querySelector("dt").textContent, one.querySelector("dd").textContent]),
      ),
  );

/** The first place in a column of the canvas whose tip matches. */
async function tipAt(page, wanted, x = 0.55) {
  const box = await page.locator(".scroller canvas").boundingBox();
  for (let y = 54; y < box.height; y += 5) {
    // A wheel event has whole pixels.
    const place = { x: Math.round(box.x + box.width * x), y: Math.round(box.y + y) };
    await page.mouse.move(place.x, place.y);
    const [text] = await page.locator(".tip").allTextContents();
    if (text !== undefined && wanted.test(text)) return { text, ...place };
  }
  throw new Error(`no tip like ${wanted}`);
}

test("the timeline opens on the median iteration of the report", async () => {
  const page = await timelineAt(made.decoder);
  const { opening } = traces.report(traces.recorded("decoder_sampled"));
  await page.keyboard.press("m");

  const length = (await linked(page, "end")) - (await linked(page, "start"));

  // 3 % on both sides, and the launch before it.
  assert.ok(opening.wall_ns > 0);
  assert.ok(length >= 1.06 * opening.wall_ns - 2 && length <= 2 * 1.06 * opening.wall_ns, `${length}`);
  assert.equal(hashOf(page).has("from"), false);
});

test("a layer that was captured in a graph is shown in each replay, with its bytes", async () => {
  const page = await timelineAt(made.decoder, { module: kLayer });
  await page.keyboard.press("n");
  const first = await linked(page, "from");
  const { text } = await tipAt(page, /^layer 17/);

  assert.match(text, /^layer 17decode\/layer 17start\+[\d.]+ ms/);
  assert.match(text, /span on the GPU[\d.]+ us/);
  assert.match(text, /DRAM read[\d.]+ MB.*DRAM rate[\d,.]+ GB\/s, \d+\.\d % of peak/);

  await page.keyboard.press("n");
  await until(page, (before) => Number(new URLSearchParams(location.hash.slice(1)).get("from")) > before + 1e6, first);
  // A replay takes 2.31 ms.
  const apart = (await linked(page, "from")) - first;
  assert.ok(apart > 2.2e6 && apart < 2.5e6, `${apart}`);
});

test("letters work without a click, and not while one types", async () => {
  const page = await timelineAt(made.page);
  await page.keyboard.press("w");
  const from = await linked(page, "from");
  await page.keyboard.press("/");
  await page.keyboard.type("wads");
  assert.equal(await page.getByLabel("Search in the timeline").inputValue(), "wads");
  assert.equal(Number(hashOf(page).get("from")), from);
  await page.keyboard.press("Escape");
  await page.keyboard.press("?");
  await page.getByRole("dialog", { name: "Keys of the timeline" }).waitFor();
  await page.keyboard.press("Escape");
  assert.equal(await page.getByRole("dialog").count(), 0);
  await page.keyboard.press("f");
  await until(page, (before) => Number(new URLSearchParams(location.hash.slice(1)).get("from")) < before / 2, from);
});

test("a drag with Shift selects a part: its sums are those of the report's iteration", async () => {
  const trace = traces.recorded("rtdetr_sampled");
  const rows = traces.report(trace, "--section", "iterations").iterations;
  const row = rows[20];
  const from = Math.max(row.start_ns, rows[19].start_ns + rows[19].host_ns, rows[19].start_ns + rows[19].wall_ns);
  const page = await timelineAt(made.page, { from, to: from + row.wall_ns });
  const box = await page.locator(".scroller canvas").boundingBox();
  await page.keyboard.down("Shift");
  await page.mouse.move(box.x + 400, box.y + 120);
  await page.mouse.down();
  await page.mouse.move(box.x + 800, box.y + 160, { steps: 3 });
  await page.mouse.up();
  await page.keyboard.up("Shift");
  const [start, end] = [await linked(page, "start"), await linked(page, "end")];
  assert.ok(start > from && end < from + row.wall_ns);

  await page.goto(page.url().replace(/&start=.*$/, `&start=${start - 1}&end=${end + 1}`));
  const area = await facts(page, ".strip.area");
  assert.match(area["GPU busy"], /^[\d.]+ us, \d+\.\d %$/);
  assert.match(area["GPU idle"], /^[\d.]+ us, \d+\.\d %$/);
  assert.ok(Number(area["kernels"]) > 0 && Number(area["kernels"]) < row.kernels);
  const share = (key) => Number(/([\d.]+) %/.exec(area[key])[1]);
  assert.ok(Math.abs(share("GPU busy") + share("GPU idle") - 100) < 0.11);
  await page.locator(".strip.area td .link").first().click();
  await until(page, () => location.hash.includes("module="));
  await page.keyboard.press("Escape");
  await until(page, () => !location.hash.includes("start="));
});

test("the tip is that of what is under the pointer after Ctrl + wheel", async () => {
  const page = await timelineAt(made.decoder);
  const { text, x, y } = await tipAt(page, /^layer/);
  await page.keyboard.down("Control");
  for (let i = 0; i < 12; ++i) await page.mouse.wheel(0, 400);
  await page.keyboard.up("Control");

  // Zoomed out, many layers are below one pixel, and the pointer may be between two replays.
  await until(page, (before) => document.querySelector(".tip")?.textContent !== before, text);
  await page.mouse.move(x + 1, y);
  await page.mouse.move(x, y);
  const moved = (await page.locator(".tip").allTextContents())[0] ?? "";
  // Out and in again: the tip goes, and comes back when the wheel rests.
  await page.keyboard.down("Control");
  for (const by of [400, -400]) await page.mouse.wheel(0, by);
  await page.keyboard.up("Control");
  await until(page, (known) => (document.querySelector(".tip")?.textContent ?? "") === known, moved);
});

test("search finds a kernel and goes to it, Enter again to the next one", async () => {
  const page = await timelineAt(made.page);
  await page.keyboard.press("/");
  await page.keyboard.type("attention");
  assert.ok((await page.getByRole("option").count()) > 1);
  await page.keyboard.press("Enter");
  const first = await linked(page, "from");
  assert.ok(hashOf(page).has("module") || hashOf(page).has("kernel"));
  await page.keyboard.press("Enter");
  await until(page, (before) => Number(new URLSearchParams(location.hash.slice(1)).get("from")) > before, first);
  await page.getByLabel("Search in the timeline").fill("no such kernel");
  assert.match(await page.locator(".find ul").textContent(), /No module or kernel/);
});

test("rows can be hidden and pinned, and a heading folds its rows", async () => {
  const page = await timelineAt(made.page);
  const height = () => page.locator(".scroller > div").evaluate((one) => parseFloat(one.style.height));
  const all = await height();
  await page.getByRole("button", { name: "Rows" }).click();
  // Not all rows fit into the window: those of bytes are pinned.
  const dram = page.getByRole("checkbox", { name: /^Pin GPU .*: DRAM$/ });
  assert.ok(await dram.isChecked());
  const hide = page.getByRole("checkbox", { name: /^Show thread .*: NVTX ranges$/ });
  await hide.uncheck();
  const some = await height();
  assert.ok(some < all - 100);
  await page.getByRole("checkbox", { name: /^Pin GPU .*: L2$/ }).uncheck();
  assert.equal(await height(), some);
  await page.keyboard.press("Escape");
  const box = await page.locator(".scroller canvas").boundingBox();
  // Below the overview and the axis is the pinned row of 46 px, then the first heading.
  await page.mouse.click(box.x + 40, box.y + 50 + 46 + 8);
  await until(page, (before) => parseFloat(document.querySelector(".scroller > div").style.height) < before, some);
});

test("idle time of a GPU has its causes in the tip", async () => {
  const page = await timelineAt(made.decoder);
  await page.keyboard.press("f");
  const { text } = await tipAt(page, /^Nothing ran on this GPU/, 0.6);

  assert.match(text, /host (code|waiting|launching|allocating)[\d.]+ (ms|us|s)/);
});

test("the link has order, search and theme; Copy link copies it, and it restores them", async () => {
  const page = await browser.open(made.page, at("kernels"));
  await page.getByLabel("Search in Kernels").fill("conv");
  await page.getByRole("columnheader", { name: "Count" }).getByRole("button").click();
  await page.getByLabel("Colours").selectOption("dark");
  await page.getByRole("button", { name: "Copy link" }).click();
  await until(page, () => window.copied !== undefined);
  const link = await page.evaluate(() => window.copied);
  const rows = await page.locator(".body .row").allTextContents();
  for (const part of ["view=kernels", "find=conv", "sort=count", "theme=dark"]) assert.ok(link.includes(part), link);

  const other = await browser.open(made.page, "#" + link.split("#")[1]);
  await until(other, () => document.documentElement.dataset["theme"] === "dark");
  assert.deepEqual(await other.locator(".body .row").allTextContents(), rows);
  assert.equal(await other.getByLabel("Search in Kernels").inputValue(), "conv");
  // Another view has another table.
  await other.getByRole("tab", { name: "Copies" }).click();
  await until(other, () => location.hash.includes("view=copies"));
  assert.doesNotMatch(other.url(), /sort=|find=/);
});

test("the flame graph of the whole trace has the stacks of report --section stacks, with their times", async () => {
  const stack = (id, frame, caller) => ({ t: "stack", id, ...(caller === undefined ? {} : { caller }), frame });
  const frame = (id, name) => ({ t: "frame", id, function: name, file: "/opt/app.py", line: 10 * id });
  // Microseconds since the start of the line, stack, how many in a row.
  const samples = [
    [0, 2, 5],
    [5, 3, 5],
    [10, 1, 3],
  ];
  const lines = [
    ...linesOf(["step", "eval"]),
    ...[frame(1, "main"), frame(2, "load_batch"), frame(3, "train"), stack(1, 1), stack(2, 2, 1), stack(3, 3, 1)],
    { t: "stack_sample", start: 11_000, end: 24_000, thread: 5, interval: 1000, samples },
  ];
  const trace = traces.made("stacks", lines);
  const tree = traces.report(trace, "--section", "stacks").stacks_tree;
  const page = await timelineAt(traces.page("stacks", trace));
  await page.keyboard.press("f");
  await page.keyboard.press("m");
  await page.locator(".flame").first().waitFor();

  const boxes = await page
    .locator(".flame")
    .evaluateAll((all) => all.map((one) => [one.textContent, one.title.split("\n").slice(1)]));
  const shown = boxes.slice(1).map(([name, [source, time]]) => `${name} ${source} ${time.split(",")[0]}`);
  assert.deepEqual(
    shown.sort(),
    tree.map((row) => `${row.function} ${row.file}:${row.line} ${(row.total_ns / 1000).toPrecision(3)} us`).sort(),
  );
  assert.equal(tree.length, 3);
  await page.getByRole("button", { name: "load_batch" }).click();
  assert.equal(await page.locator(".flame").count(), 1);
  await page.getByRole("button", { name: "All calls" }).click();
  assert.equal(await page.locator(".flame").count(), 4);
});
