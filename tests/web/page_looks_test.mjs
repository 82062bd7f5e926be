// SPDX-License-Identifier: Apache-2.0
//
// The page of `report --html` in a real browser: every view, contrast and layout.
//
// RANGEFINDER_TEST_SHOTS=DIR keeps a picture of every view at 1280 and 1920 px, light and dark.
import assert from "node:assert/strict";
import { statSync } from "node:fs";
import { test } from "node:test";
import { csvOf, until } from "./browser.mjs";
import { at, browser, kModule, kViews, made, metricTrace, traces } from "./fixture.mjs";
import { checkLooks, keepShots } from "./looks.mjs";
import { linesOf } from "./traces.mjs";

async function unpacked(file, hash, options) {
  const page = await browser.open(file, hash, options);
  await until(page, () => !document.getElementById("page").textContent.includes("Unpacking"));
  return page;
}

test("the page of RT-DETR is smaller than 2 MB", () => {
  assert.ok(statSync(made.page).size < 2e6, `${statSync(made.page).size} bytes`);
});

test("every view shows without an error, a request or a violated policy", async () => {
  for (const view of kViews) {
    const page = await unpacked(made.page, at(view));
    await keepShots(page, view);
    await page.close();
    assert.deepEqual(browser.take(), [], view);
  }
});

test("names that look like HTML, run backwards or are 100 kB long show as text", async () => {
  const names = [
    "</script><img src=x onerror=alert(1)>",
    `"quoted" 'name' & <b>bold</b>`,
    "\u202Eevil\u202C שלום",
    "x".repeat(100_000),
    "a/b\\c",
    "@rangefinder-timeline@",
    "$& $1",
  ];
  const file = traces.page("hostile", traces.made("hostile", linesOf(names)));
  for (const view of ["overview", "modules", "kernels", "timeline", "limits", "findings", "iterations"]) {
    const page = await unpacked(file, at(view, { module: names[0].replace("/", "\\/") }));
    assert.equal(await page.locator("main img, main b b, main script").count(), 0, view);
    if (view === "kernels")
      assert.deepEqual((await csvOf(page, "Kernels")).map((row) => row.name).sort(), [...names].sort());
    if (view === "modules") assert.equal(await page.locator(".details h2").textContent(), names[0]);
    assert.deepEqual(browser.take(), [], view);
    await page.close();
  }
});

test("findings are those of report --section findings, with evidence and a link to the module", async () => {
  const page = await browser.open(made.page, at("findings"));
  const report = traces.report(made.trace, "--section", "findings").findings;
  assert.ok(report.length > 0);
  assert.equal(await page.locator(".finding").count(), report.length);
  for (const [i, finding] of report.entries()) {
    const card = page.locator(".finding").nth(i);
    assert.ok((await card.textContent()).includes(finding.title.replaceAll("`", "")), finding.title);
    assert.equal(await card.locator(".evidence dt").count(), Object.keys(finding.evidence).length);
  }
  await page.locator(".finding button.link").first().click();

  await until(page, () => /module=|kernel=/.test(location.hash) && !location.hash.includes("view=findings"));
});

test("every view shows the loss", async () => {
  const lines = [...linesOf(["model"]), { t: "flush", at: 1e6, records: 3, loss: { events_dropped: 7 } }];
  const page = await browser.open(traces.page("loss", traces.made("loss", lines)), at("kernels"));

  assert.match(await page.locator(".chips").textContent(), /7 lost or incomplete.*no end/);
});

test("text has enough contrast in light and dark, and nothing overlaps or is cut at 1280 and 1920", async () => {
  for (const view of kViews)
    await checkLooks((options) => unpacked(made.page, at(view, { module: kModule }), options), view);
});

test("hardware metrics and the roofline have enough contrast, and nothing overlaps", async () => {
  const file = traces.page("metrics", metricTrace());
  for (const [view, more] of [
    ["modules", { module: "model/mlp" }],
    ["kernels", { kernel: "_Zsoftmax" }],
    ["limits", { module: "model/mlp" }],
    ["limits", { plot: "kernels", kernel: "_Zsoftmax" }],
    ["kernel", { kernel: "_Zsoftmax" }],
  ]) {
    const open = async (options) => {
      const page = await unpacked(file, at(view, more), options);
      if (["modules", "kernels"].includes(view)) await page.getByRole("radio", { name: "metrics" }).click();
      for (const summary of await page.locator("summary").all()) await summary.click();
      return page;
    };
    await keepShots(await open({}), `metrics-${view}`);
    await checkLooks(open, `metrics ${view}`);
    assert.deepEqual(browser.take(), [], view);
  }
});

test("in print the table shows its rows and no buttons", async () => {
  const page = await browser.open(made.page, at("kernels"));
  await page.emulateMedia({ media: "print" });
  const report = traces.report(made.trace, "--section", "kernels").kernels;

  await until(page, (n) => document.querySelectorAll(".body .row").length === n, report.length);
  assert.equal(await page.locator(".tools button").first().isVisible(), false);
});
