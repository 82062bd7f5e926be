// SPDX-License-Identifier: Apache-2.0
//
// The page of `report --html` in a real browser: numbers, clicks and keys.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { csvOf, until } from "./browser.mjs";
import { at, browser, kModule, made, traces } from "./fixture.mjs";

/** A value of a report as text, as in the CSV of a table; absent: "". */
const as = (row, key) => (row[key] === undefined ? "" : String(row[key]));

test("the table of modules has the numbers of report --json", async () => {
  const page = await browser.open(made.page, at("modules"));
  await page.getByLabel("full paths").check();

  const shown = await csvOf(page, "Modules");

  const report = traces.report(made.trace).modules;
  assert.equal(shown.length, report.length);
  const keys = Object.keys(shown[0]).filter((key) => key !== "limit_share");
  assert.ok(keys.length >= 9, keys.join());
  const byPath = new Map(shown.map((row) => [row.path, row]));
  for (const row of report)
    for (const key of keys) assert.equal(byPath.get(row.path)[key], as(row, key), `${row.path} ${key}`);
  await page.close();
});

test("the table of kernels has the numbers of report --section kernels --json", async () => {
  const page = await browser.open(made.page, at("kernels"));

  const shown = await csvOf(page, "Kernels");

  const report = traces.report(made.trace, "--section", "kernels").kernels;
  assert.equal(shown.length, report.length);
  shown.forEach((row, i) => {
    for (const key of Object.keys(row)) assert.equal(row[key], as(report[i], key), `${report[i].name} ${key}`);
  });
  await page.close();
});

test("the table of copies has the numbers of report --json", async () => {
  const page = await browser.open(made.page, at("copies"));

  const shown = await csvOf(page, "Copies");

  const report = traces.report(made.trace).memcpy;
  assert.equal(shown.length, report.length);
  for (const row of report) {
    const same = shown.find((one) => one.kind === row.kind && one.src === row.src);
    for (const key of ["count", "bytes", "total_ns"]) assert.equal(same[key], as(row, key), `${row.kind} ${key}`);
  }
  await page.close();
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
  for (const view of ["Bytes × time", "Timeline", "Kernels", "Iterations"]) {
    await page.getByRole("tab", { name: view }).click();
    assert.match(await page.locator(".selection .crumbs").textContent(), /iteration \/ model/, view);
  }
  await page.goBack();
  assert.match(page.url(), /view=kernels/);
  await page.close();
});

test("a link restores the view, the module and its kernels", async () => {
  const page = await browser.open(made.page, at("kernels", { module: kModule, within: "1" }));

  const shown = await csvOf(page, "Kernels");

  const launches = shown.reduce((sum, row) => sum + Number(row.count), 0);
  const report = traces.report(made.trace).modules.find((row) => row.path === kModule);
  assert.equal(launches, report.kernels);
  assert.equal(
    shown.reduce((sum, row) => sum + Number(row.total_ns), 0),
    report.gpu_ns,
  );
  await page.close();
});

test("a kernel can be found by text, selected with the arrow keys, and shows all its values", async () => {
  const page = await browser.open(made.page, at("kernels"));
  await page.getByLabel("Search in Kernels").fill("attention");
  await page.locator(".scroll[role=grid]").focus();
  await page.keyboard.press("ArrowDown");

  await until(page, () => document.querySelector(".details h2.code") !== null);
  const text = await page.locator(".details").textContent();
  for (const part of ["attention", "95th percentile", "Durations", "Launch configurations", "Runs in", "mangled"])
    assert.ok(text.includes(part), part);
  await page.close();
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
      await page.mouse.move(box.x + box.width * x, box.y + y);
      if (
        /correlation/.test(
          (await page
            .locator(".tip")
            .textContent({ timeout: 50 })
            .catch(() => "")) ?? "",
        )
      ) {
        await page.mouse.down();
        await page.mouse.up();
        strip = await page.locator(".strip").textContent();
      }
    }
  }

  assert.match(strip, /launch to start/);
  assert.match(strip, /duration.*(us|ns)/);
  assert.match(strip, /grid.*block/);
  await until(page, (before) => location.href !== before, hash);
  await page.close();
});

test("keys zoom and move the timeline and F shows everything again", async () => {
  const page = await browser.open(made.page, at("timeline"));
  await page.locator(".scroller").focus();
  for (const key of ["w", "w", "d"]) await page.keyboard.press(key);
  await until(page, () => location.hash.includes("from="));
  const zoomed = page.url();
  await page.keyboard.press("a");
  await until(page, (before) => location.href !== before, zoomed);
  await page.keyboard.press("f");

  await until(page, () => !location.hash.includes("from="));
  await page.close();
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
  await until(page, () => location.hash.includes("view=scatter"));
  await page.close();
});

test("the scatter has a point for every module of a level that moved bytes, and a click selects one", async () => {
  const page = await browser.open(made.page, at("scatter", { level: "3" }));
  const report = traces
    .report(made.trace)
    .modules.filter((row) => row.depth === 3 && row.gpu_ns > 0 && row.dram_read_bytes + row.dram_write_bytes > 0);
  assert.match(await page.locator(".scatter .tools").textContent(), new RegExp(`${report.length} modules, together`));
  const box = await page.locator(".plot-box .u-over").boundingBox();
  for (let x = 0.02; x < 1 && !page.url().includes("module="); x += 0.02) {
    for (let y = 0.02; y < 1; y += 0.04) {
      await page.mouse.move(box.x + box.width * x, box.y + box.height * y);
      if ((await page.locator(".tip").count()) === 0) continue;
      await page.mouse.down();
      await page.mouse.up();
      await until(page, () => location.hash.includes("module="));
      break;
    }
  }

  assert.match(page.url(), /module=/);
  await page.close();
});

test("iterations are those of the trace, and one opens in the timeline", async () => {
  const page = await browser.open(made.page, at("iterations"));
  const shown = await csvOf(page, "Iterations");
  const module = traces.report(made.trace).modules.find((row) => row.path === "iteration");
  assert.equal(shown.length, module.calls);
  assert.equal(
    shown.reduce((sum, row) => sum + Number(row.gpu_ns), 0),
    module.gpu_ns,
  );
  assert.equal(
    shown.reduce((sum, row) => sum + Number(row.kernels), 0),
    module.kernels,
  );

  await page.locator(".body .row").nth(2).dblclick();

  await until(page, () => location.hash.includes("view=timeline") && location.hash.includes("from="));
  await page.close();
});

test("the page of two traces shows their difference by module", async () => {
  const other = traces.recorded("rtdetr_exact");
  const page = await browser.open(traces.page("diff", made.trace, other));
  await page.getByRole("checkbox", { name: /per iteration/ }).uncheck();

  const shown = await csvOf(page, "Difference");

  const [a, b] = [made.trace, other].map(
    (trace) => new Map(traces.report(trace).modules.map((row) => [row.path, row])),
  );
  const row = shown.find((one) => one.name === "backbone");
  const path = [...a.keys()].find((one) => one.endsWith("/backbone"));
  assert.equal(row.a_gpu_ns, String(a.get(path).gpu_ns));
  assert.equal(row.b_gpu_ns, String(b.get(path).gpu_ns));
  assert.equal(Number(row.change_gpu_ns), b.get(path).gpu_ns - a.get(path).gpu_ns);
  assert.deepEqual(browser.take(), []);
  await page.close();
});

test("a page that cannot be written gives an error and leaves no file", () => {
  const place = join(traces.folder, "no such folder", "page.html");
  const done = spawnSync(traces.rangefinder, ["report", "--html", place, made.trace], { encoding: "utf8" });

  assert.equal(done.status, 3);
  assert.match(done.stderr, /cannot write .*page\.html: No such file/);
  assert.equal(done.stdout, "");
});

test("a page of a part of the trace is refused", () => {
  const place = join(traces.folder, "part.html");
  const words = ["report", "--html", place, "--range", "iteration", made.trace];
  const done = spawnSync(traces.rangefinder, words, { encoding: "utf8" });

  assert.equal(done.status, 2);
  assert.match(done.stderr, /--html shows the whole trace/);
  assert.equal(existsSync(place), false);
});
