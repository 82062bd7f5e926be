// SPDX-License-Identifier: Apache-2.0
//
// The page of `report --html` in a real browser: numbers, clicks and keys.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { csvOf, until } from "./browser.mjs";
import { at, browser, kModule, made, metricTrace, traces } from "./fixture.mjs";
import { linesOf, torchMemory } from "./traces.mjs";

/** A value of a report as text, as in the CSV of a table; absent: "". */
const as = (row, key) => (row[key] === undefined ? "" : String(row[key]));

const sumOf = (rows, key) => rows.reduce((sum, row) => sum + Number(row[key]), 0);

/** Both have the same rows, which `identity` distinguishes, with the same values of `keys`. */
function checkRows(shown, report, keys, identity) {
  assert.equal(shown.length, report.length);
  const rows = new Map(shown.map((row, i) => [identity(row, i), row]));
  for (const [i, row] of report.entries())
    for (const key of keys) assert.equal(rows.get(identity(row, i))[key], as(row, key), `${identity(row, i)} ${key}`);
}

/** Texts of a column by the beginning of its title; undefined: there is none. */
const cells = async (page, column) => {
  const heads = await page.getByRole("columnheader").allTextContents();
  const at = heads.findIndex((text) => text.startsWith(column));
  if (at < 0) return undefined;
  const rows = await page.locator(".body .row").all();
  return Promise.all(rows.map(async (row) => row.getByRole("gridcell").nth(at).textContent()));
};

test("the tables of modules, kernels and copies have the numbers of report --json", async () => {
  let page = await browser.open(made.page, at("modules"));
  await page.getByLabel("full paths").check();
  const modules = await csvOf(page, "Modules");
  const keys = Object.keys(modules[0]).filter((key) => key !== "limit_share");
  assert.ok(keys.length >= 9, keys.join());
  checkRows(modules, traces.report(made.trace).modules, keys, (row) => row.path);

  page = await browser.open(made.page, at("kernels"));
  const kernels = await csvOf(page, "Kernels");
  const wanted = traces.report(made.trace, "--section", "kernels").kernels;
  checkRows(kernels, wanted, Object.keys(kernels[0]), (_, i) => i);

  page = await browser.open(made.page, at("copies"));
  const copies = traces.report(made.trace).memcpy.map((row) => ({ ...row, gpu_ns: row.total_ns }));
  checkRows(await csvOf(page, "Copies"), copies, ["count", "bytes", "gpu_ns"], (row) => `${row.kind} ${row.src}`);
});

test("memory has PyTorch's allocator by module, as report --section memory, and a row selects its module", async () => {
  const trace = traces.made("torch", linesOf(["step"]));
  writeFileSync(join(trace, "torch_memory.json"), torchMemory());
  const page = await browser.open(traces.page("torch", trace), at("memory"));
  const wanted = traces.report(trace, "--section", "memory").torch_memory;

  const shown = await csvOf(page, "Memory");

  assert.equal(wanted.length, 4);
  checkRows(shown, wanted, Object.keys(wanted[1]), (row) => row.path);
  assert.deepEqual(await cells(page, "Growth/call"), ["", "2.10 MB", "0 B", ""]);
  await page.getByRole("gridcell", { name: "step", exact: true }).click();
  await until(page, () => location.hash.includes("module=step"));
});

test("a module selected in the icicle is selected in every other view and in the link", async () => {
  const page = await browser.open(made.page, at("modules"));
  const canvas = page.locator(".icicle canvas");
  const box = await canvas.boundingBox();
  // The third row has the models; its right part belongs to the iterations.
  await canvas.click({ position: { x: box.width * 0.6, y: 2.5 * 22 } });

  await until(page, () => location.hash.includes("module=iteration%2Fmodel"));
  assert.equal(await page.locator(".body .row.selected").count(), 1);
  assert.match(await page.locator(".details h2").textContent(), /model/);
  for (const view of ["Limits", "Timeline", "Kernels", "Iterations"]) {
    await page.getByRole("tab", { name: view }).click();
    assert.match(await page.locator(".selection .crumbs").textContent(), /iteration \/ model/, view);
  }
  await page.goBack();
  assert.match(page.url(), /view=kernels/);
});

test("a link restores the view, the module and its kernels", async () => {
  const page = await browser.open(made.page, at("kernels", { module: kModule, within: "1" }));

  const shown = await csvOf(page, "Kernels");

  const report = traces.report(made.trace).modules.find((row) => row.path === kModule);
  assert.equal(sumOf(shown, "count"), report.kernels);
  assert.equal(sumOf(shown, "total_ns"), report.gpu_ns);
});

test("a kernel can be found by text, selected with the arrow keys, and shows all its values", async () => {
  const page = await browser.open(made.page, at("kernels"));
  await page.getByLabel("Search in Kernels").fill("attention");
  await page.locator(".scroll[role=grid]").focus();
  await page.keyboard.press("ArrowDown");

  await until(page, () => document.querySelector(".details h2.code") !== null);
  const text = await page.locator(".details").textContent();
  for (const part of ["attention", "p95", "Durations", "Launch configurations", "Runs in", "mangled"])
    assert.ok(text.includes(part), part);
});

test("the timeline zooms to a kernel, which shows its values and its launch when clicked", async () => {
  const page = await browser.open(made.page, at("timeline", { module: kModule }));
  await page.getByRole("button", { name: "Next instance" }).click();
  await until(page, () => location.hash.includes("from="));
  const canvas = page.locator(".scroller canvas");
  const box = await canvas.boundingBox();
  const hash = page.url();
  let strip = "";
  for (let x = 0.3; x < 0.9 && strip === ""; x += 0.05) {
    for (let y = 60; y < box.height && strip === ""; y += 8) {
      const place = [box.x + box.width * x, box.y + y];
      await page.mouse.move(...place);
      const tip = page.locator(".tip").textContent({ timeout: 50 });
      if (!(await tip.catch(() => "")).includes("correlation")) continue;
      await page.mouse.click(...place);
      strip = await page.locator(".strip").textContent();
    }
  }

  assert.match(strip, /launch to start/);
  assert.match(strip, /duration.*(us|ns)/);
  assert.match(strip, /grid.*block/);
  await until(page, (before) => location.href !== before, hash);
});

test("keys zoom and move the timeline and F shows everything", async () => {
  const page = await browser.open(made.page, at("timeline"));
  await page.locator(".scroller").focus();
  for (const key of ["w", "w", "d"]) await page.keyboard.press(key);
  await until(page, () => location.hash.includes("from="));
  const zoomed = page.url();
  await page.keyboard.press("a");
  await until(page, (before) => location.href !== before, zoomed);
  await page.keyboard.press("f");

  // The recording takes 0.8 s.
  await until(page, () => {
    const link = new URLSearchParams(location.hash.slice(1));
    return link.get("to") - link.get("from") > 0.7e9;
  });
});

test("tabs, tables, icicle and timeline can be reached and used with the keyboard alone", async () => {
  const page = await browser.open(made.page, at("modules"));
  const reached = new Set();
  for (let i = 0; i < 40; ++i) {
    await page.keyboard.press("Tab");
    reached.add(
      await page.evaluate(() => document.activeElement?.getAttribute("role") ?? document.activeElement?.tagName),
    );
  }
  for (const role of ["tab", "radio", "application", "treegrid"])
    assert.ok(reached.has(role), `${role} in ${[...reached].join()}`);
  await page.locator(".icicle canvas").focus();
  await page.keyboard.press("ArrowDown");
  await page.keyboard.press("ArrowDown");
  await until(page, () => location.hash.includes("module="));
  await page.locator('[role="tab"][aria-selected="true"]').focus();
  await page.keyboard.press("ArrowRight");
  await until(page, () => location.hash.includes("view=limits"));
});

test("time over bytes has the modules of report --fit without warm-up, its line, and none below ten modules", async () => {
  const [first] = traces.report(made.trace, "--section", "iterations").iterations.filter((row) => !row.warm_up);
  const words = ["--section", "modules", "--fit", "--iterations", `${first.iteration}:`];
  const report = traces.report(made.trace, ...words).byte_fit;
  assert.ok(report.some(({ modules }) => modules < 10) && report.some(({ modules }) => modules >= 10));
  for (const of of ["dram", "l2"]) {
    const page = await browser.open(made.page, at("limits", { plot: of }));
    for (const row of report) {
      await page.getByRole("radio", { name: String(row.depth), exact: true }).click();
      const label = await page.locator(".limits .plot").getAttribute("aria-label");
      const line = new RegExp(`fit: r .* us per MB, ${row[`${of}_outliers`]} outlier`);
      if (row.modules < 10) assert.doesNotMatch(label, /fit: r/, `${of} ${row.depth}`);
      else assert.match(label, line, `${of} ${row.depth}`);
    }
    await page.close();
  }
});

test("a click on a point of Limits selects its module", async () => {
  const page = await browser.open(made.page, at("limits", { level: "3" }));
  const box = await page.locator(".plot-box .u-over").boundingBox();
  for (let x = 0.02; x < 1 && !page.url().includes("module="); x += 0.02) {
    for (let y = 0.02; y < 1; y += 0.04) {
      const place = [box.x + box.width * x, box.y + box.height * y];
      await page.mouse.move(...place);
      if ((await page.locator(".tip").count()) === 0) continue;
      await page.mouse.click(...place);
      await until(page, () => location.hash.includes("module="));
      break;
    }
  }

  assert.match(page.url(), /module=/);
});

test("iterations are those of the trace, and one opens in the timeline", async () => {
  const page = await browser.open(made.page, at("iterations"));
  const shown = await csvOf(page, "Iterations");
  const module = traces.report(made.trace).modules.find((row) => row.path === "iteration");
  assert.equal(shown.length, module.calls);
  assert.equal(sumOf(shown, "gpu_ns"), module.gpu_ns);
  assert.equal(sumOf(shown, "kernels"), module.kernels);
  const section = traces.report(made.trace, "--section", "iterations").iterations;
  for (const key of ["gpu_ns", "gpu_busy_ns"])
    assert.deepEqual(
      shown.map((row) => row[key]),
      section.map((row) => as(row, key)),
    );

  await page.locator(".body .row").nth(2).dblclick();

  await until(page, () => location.hash.includes("view=timeline") && location.hash.includes("from="));
});

test("sampled bytes have an error of 100 % at most or no number, exact ones have carry-over", async () => {
  let page = await browser.open(made.page, at("modules"));
  const errors = await cells(page, "DRAM ±");
  assert.ok(errors.some((text) => text.endsWith(" %")));
  for (const text of errors) assert.match(text, /^(\d{1,2}(\.\d+)? %|100 %|too short|)$/);
  assert.equal(await cells(page, "Carry-over"), undefined);

  const exact = traces.page("exact", traces.recorded("rtdetr_exact"));
  page = await browser.open(exact, at("modules", { module: "D2H" }));
  assert.equal(await cells(page, "DRAM ±"), undefined);
  assert.ok((await cells(page, "DRAM write")).some((text) => text.endsWith("†")));
  assert.match(await page.locator(".view.modules").textContent(), /†: L2 writes back late/);
  const details = await page.locator(".details").textContent();
  assert.match(details, /Carry-over/);
  assert.match(details, /DRAM \/ declared–/);
  assert.match(await page.locator(".chips").textContent(), /exact bytes/);
});

test("hardware metrics are those of the report, by topic, the busiest first", async () => {
  const trace = metricTrace();
  made.metrics = traces.page("metrics", trace);
  const page = await browser.open(made.metrics, at("modules", { module: "model/mlp" }));
  const { named } = traces.report(trace).modules.find((row) => row.path === "model/mlp");
  const part = page.locator(".hardware");

  const limits = await part.locator(".limit").allTextContents();
  assert.deepEqual(limits, [
    "compute throughput61.2 %busiest: tensor pipe",
    "memory throughput47.0 %busiest: L1 wavefronts",
  ]);
  const texts = (selector) => part.locator(selector).allTextContents();
  const pipes = await texts(".topic:has(h4:text-is('Pipes')) .metric");
  assert.equal(pipes[0], "tensor61.2 %");
  const shares = (await texts(".topic:has(h4:text-is('Pipes')) .metric > :last-child")).map(parseFloat);
  assert.deepEqual(
    shares,
    [...shares].sort((a, b) => b - a),
  );
  const stalls = await texts(".topic:has(h4:has-text('Stall')) .metric");
  assert.equal(stalls[0], `GMMA${named.stall_gmma.toFixed(1)} %`);
  assert.equal(stalls.length, Object.keys(named).filter((name) => name.startsWith("stall_")).length - 1);
  assert.equal(await part.locator(".metric:visible", { hasText: /Tex Throttle/ }).count(), 0);
  await part.getByText("12 more").click();
  assert.equal(await part.locator(".metric:visible", { hasText: /Tex Throttle/ }).count(), 1);
  assert.match(await part.locator(".metric", { hasText: "GMMA" }).getAttribute("title"), /tensor core product/);
  assert.match(await part.textContent(), /achieved occupancy18\.8 %.*L1 hit rate70\.0 %.*605 TFLOP\/s/);
  assert.equal(await part.locator(".missing").count(), 0);
});

test("the columns of metrics have the report's values, of modules and of kernels", async () => {
  const trace = join(traces.folder, "metrics");
  const report = traces.report(trace, "--section", "metrics", "--wide");
  let page = await browser.open(made.metrics, at("modules"));
  await page.getByLabel("full paths").check();
  await page.getByRole("radio", { name: "metrics" }).click();
  const modules = (await csvOf(page, "Modules")).filter((row) => row.compute_throughput !== "");
  assert.deepEqual(modules.map((row) => row.path).sort(), report.metrics.map((row) => row.path).sort());

  page = await browser.open(made.metrics, at("kernels"));
  await page.getByRole("radio", { name: "metrics" }).click();
  const kernels = await csvOf(page, "Kernels");
  const keys = Object.keys(report.metrics[0]).filter((key) => key in modules[0] && key in kernels[0]);
  assert.ok(keys.length >= 20, keys.join());
  const check = (shown, row) => {
    for (const key of keys) {
      if (typeof row[key] !== "number") assert.equal(shown[key], as(row, key), key);
      else assert.ok(Math.abs(Number(shown[key]) - row[key]) <= 1e-3 * Math.abs(row[key]) + 1e-4, `${key} ${row[key]}`);
    }
  };
  for (const row of report.metrics)
    check(
      modules.find(({ path }) => path === row.path),
      row,
    );
  assert.equal(report.metrics_kernels.length, 2);
  for (const row of report.metrics_kernels)
    check(
      kernels.find(({ name }) => name === row.kernel),
      row,
    );
});

test("kernels in a module have metrics if the module has all their launches", async () => {
  const metricsOf = async (file, module) => {
    const page = await browser.open(file, at("kernels", { module, within: "1" }));
    await page.getByRole("radio", { name: "metrics" }).click();
    return (await csvOf(page, "Kernels")).map((row) => row.tensor_pipe);
  };
  assert.deepEqual(await metricsOf(made.metrics, "model/mlp"), ["61.2"]);
  const some = await metricsOf(traces.page("rotated", traces.recorded("rtdetr_rotated")), "warmup");
  assert.ok(some.length > 1);
  assert.ok(some.includes(undefined) || some.includes(""), some.join());
});

test("what was not measured is named, with the option that measures it", async () => {
  let page = await browser.open(made.metrics, at("kernels", { kernel: "_Zcopy" }));
  assert.match(
    await page.locator(".hardware .missing").textContent(),
    /^Not measured, .*--counters exact --metrics all$/,
  );

  const rotated = traces.page("rotated", traces.recorded("rtdetr_rotated"));
  page = await browser.open(rotated, at("modules", { module: "warmup/model/backbone" }));
  assert.match(await page.locator(".hardware").textContent(), /achieved occupancy14\.7 %.*tensor17\.6 %/);
  const [text] = await page.locator(".hardware .missing").allTextContents();
  assert.match(text, /: speed-of-light, memory, .*--metrics speed-of-light,memory,/);
  assert.doesNotMatch(text, /occupancy|pipes/);
  page = await browser.open(rotated, at("modules", { module: "warmup/model/encoder" }));
  const partly = (await page.locator(".hardware .missing").allTextContents()).join(" ");
  assert.match(partly, /Not all kernels were measured with the metric set compute\./);
  page = await browser.open(rotated, at("limits"));
  assert.match(await page.locator(".note").textContent(), /--counters exact --metrics roofline/);
});

test("the roofline has a point for every module with operations, with its roof", async () => {
  const page = await browser.open(made.metrics, at("limits"));
  const rows = traces.report(join(traces.folder, "metrics"), "--section", "roofline").roofline;
  const leaves = rows.filter((row) => row.path !== "model");
  assert.match(await page.locator(".limits .tools").textContent(), new RegExp(`${leaves.length} modules`));
  const box = await page.locator(".plot-box .u-over").boundingBox();
  const tips = new Set();
  // A point reaches 14 px.
  for (let x = 0; x < 1 && tips.size < leaves.length; x += 20 / box.width) {
    for (let y = 0; y < 1; y += 20 / box.height) {
      await page.mouse.move(box.x + box.width * x, box.y + box.height * y);
      for (const text of await page.locator(".tip").allTextContents()) tips.add(text);
    }
  }
  assert.deepEqual([...tips].sort(), [
    "model/attention1.90 TFLOP/s at 0.50 FLOP per DRAM byte (carry-over up to 196.9 %), 31.7 per L2 byte (ring)79.2 % of its roof: DRAM at 2.40 TFLOP/s",
    "model/mlp605 TFLOP/s at 850 FLOP per DRAM byte (carry-over up to 196.9 %), 10,083 per L2 byte (ring)61.2 % of its roof: compute at 989 TFLOP/s",
  ]);
  const shares = Object.fromEntries(leaves.map((row) => [row.path, row.of_roof]));
  assert.ok(Math.abs(shares["model/attention"] - 0.792) < 1e-3 && Math.abs(shares["model/mlp"] - 0.612) < 1e-3);
});

/** What `diff` says of two traces. */
const diffOf = (...words) => JSON.parse(traces.run(traces.rangefinder, "diff", "--json", ...words));

test("the page of two traces begins with the verdict of diff, and its rows are those of diff", async () => {
  const pair = [traces.recorded("case_starved_pinned"), traces.recorded("case_starved_one")];
  const page = await browser.open(traces.page("starved", ...pair));
  const diff = diffOf("--all", ...pair);

  assert.equal(await page.locator(".verdict").textContent(), diff.verdict.text);
  assert.match(diff.verdict.text, /^Slower: an iteration takes 48\.0 ms instead of 6\.00 ms/);
  assert.match(await page.locator(".view.diff").textContent(), /Set-ups differ: arguments --workers 8/);
  const keys = ["a", "b", "difference", "relative", "relative_interval", "verdict"];
  checkRows(await csvOf(page, "Difference"), diff.iteration, keys, (_, i) => i);
  assert.deepEqual((await cells(page, "What")).slice(0, 3), ["wall time", "wall time, p95", "GPU busy"]);
  assert.deepEqual(await cells(page, "Change"), [
    "+700.4 %",
    "+675.1 %",
    "0.0 %",
    "+1400.9 %",
    "+519.1 %",
    "+1686.7 %",
    "+700.4 %",
    "0.0 %",
    "0.0 %",
    "0.0 %",
  ]);
  assert.deepEqual(browser.take(), []);
});

test("by default a module without a change is not in the difference, and set-up is not divided by iterations", async () => {
  const pair = [made.trace, traces.recorded("rtdetr_exact")];
  const page = await browser.open(traces.page("diff", ...pair));
  const [some, all] = [diffOf(...pair), diffOf("--all", ...pair)];
  const keys = ["a", "b", "difference", "relative", "verdict"];
  const identity = (row) => `${row.path}: ${row.quantity}`;

  await page.getByRole("radio", { name: "modules" }).click();
  checkRows(await csvOf(page, "Difference"), some.modules, keys, identity);
  await page.getByRole("checkbox", { name: "rows without a change" }).check();
  checkRows(await csvOf(page, "Difference"), all.modules, keys, identity);
  await page.getByRole("radio", { name: "calls" }).click();
  const calls = await csvOf(page, "Difference");
  checkRows(calls, all.calls, keys, identity);
  // The same convolution of three warm-ups, in both.
  const [row] = calls.filter(
    ({ path, quantity }) => path === "warmup/model/backbone/model/embedder/embedder/0" && quantity === "gpu_ns",
  );
  assert.ok(Math.abs(Number(row.relative)) < 0.1, JSON.stringify(row));
  assert.deepEqual(browser.take(), []);
});

test("a page that cannot be written, or of a part of the trace, gives an error and leaves no file", () => {
  for (const [name, status, message, ...words] of [
    ["no such folder/page.html", 3, /cannot write .*page\.html: No such file/],
    ["part.html", 2, /--html shows the whole trace/, "--range", "iteration"],
  ]) {
    const place = join(traces.folder, name);
    const all = ["report", "--html", place, ...words, made.trace];
    const done = spawnSync(traces.rangefinder, all, { encoding: "utf8" });

    assert.equal(done.status, status);
    assert.match(done.stderr, message);
    assert.equal(done.stdout, "");
    assert.equal(existsSync(place), false);
  }
});
