// SPDX-License-Identifier: Apache-2.0
//
// Every view of the page, light and dark, at 1440, 1280 and 390 px: no error, contrast, nothing cut or overlapping, the
// keyboard reaches everything, values of report --json, reference pictures. For .ci/run: it takes two minutes.
//
//   node page_matrix_test.mjs RANGEFINDER REPLAY REPOSITORY      exit code 77: skipped, with the reason
//
// RANGEFINDER_TEST_UPDATE=1 writes the reference pictures (tests/web/pictures/). Look at them before they are kept.
import assert from "node:assert/strict";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { csvOf, until } from "./browser.mjs";
import { at, browser, kModule, kViews, made, metricTrace, traces } from "./fixture.mjs";
import { checkClipped, checkReach, checkShown } from "./looks.mjs";
import { linesOf, torchMemory } from "./traces.mjs";

const kWidths = [1440, 1280, 390];
const kSchemes = ["light", "dark"];
const kHeights = { 390: 844 };

async function shown(view, more = {}, { width = 1280, scheme = "light", file = made.page } = {}) {
  const page = await browser.open(file, at(view, more), { width, height: kHeights[width] ?? 800, scheme });
  await until(page, () => !document.getElementById("page").textContent.includes("Unpacking"));
  return page;
}
/** Two frames: canvases draw in the first one. */
const drawn = (page) =>
  page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))));

/** The middle of an iteration of the recording, selected. */
const kPart = { start: 1165237494, end: 1166023192 };
const kShown = [
  ...kViews.map((view) => [view, { module: kModule }]),
  ["timeline", kPart],
  ["kernels", { kernel: "no such kernel" }],
  ["limits", { plot: "l2", module: kModule }],
  ["limits", {}, "metrics"],
  ["limits", { plot: "kernels", kernel: "_Zsoftmax" }, "metrics"],
  ["kernel", { kernel: "_Zsoftmax" }, "metrics"],
  ["findings", {}, "gemm"],
  ["iterations", {}, "power"],
  ["memory", {}, "torch"],
  ["diff", {}, "diff"],
  ["kernels", { grouped: "1", sort: "-p95_ns" }],
  ["modules", { module: `${kModule}/layers/3/self_attn`, metric: "dram" }],
  ["modules", { find: "no such module", metric: "saving" }],
  ["modules", { columns: "calls,kernels,gpu_ns,gpu_ns_exclusive,host_ns,dram_read_bytes,dram_write_bytes,l2_bytes" }],
];
/** Of a page of two traces. */
const kPair = ["rtdetr_r18", "rtdetr_r18_unfused"];
const kRecorded = { gemm: ["case_gemm_metrics"], power: ["gemm_power"], diff: kPair };

/** The page with this name, made once. */
function fileOf(name) {
  if (name === "metrics" && made.metrics === undefined) made.metrics = traces.page(name, metricTrace());
  if (name === "torch" && made.torch === undefined) {
    const trace = traces.made("torch", linesOf(["step", "step/model", "step/model/head"]));
    writeFileSync(join(trace, "torch_memory.json"), torchMemory());
    made.torch = traces.page(name, trace);
  }
  return (made[name] ??= traces.page(name, ...kRecorded[name].map((one) => traces.recorded(one))));
}

test("the checks of looks find a text that is cut, that leaves its box, and a button that Tab does not reach", async () => {
  const page = await shown("about");
  await page.evaluate(() => {
    const add = (parent, tag, style, text) => {
      const one = document.createElement(tag);
      Object.assign(one.style, style);
      one.textContent = text;
      return parent.appendChild(one);
    };
    const view = document.querySelector(".view");
    add(view, "p", { width: "30px", overflow: "hidden", whiteSpace: "nowrap" }, "a text that is cut");
    add(view, "p", { width: "30px", whiteSpace: "nowrap" }, "a text that leaves its box");
    add(view, "button", {}, "not reached").tabIndex = -1;
  });

  const cut = (await checkClipped(page)).join();
  assert.match(cut, /"a text that is cut" is cut by p/);
  assert.match(cut, /"a text that leaves its box" leaves p/);
  assert.match((await checkReach(page)).join(), /BUTTON "not reached"/);
});

for (const [view, more, name = "page"] of kShown)
  test(`${view} ${Object.keys(more).join(", ")} ${name}: contrast, nothing cut or overlapping, in six forms`, async () => {
    const page = await shown(view, more, { file: fileOf(name) });
    for (const width of kWidths) {
      await page.setViewportSize({ width, height: kHeights[width] ?? 800 });
      for (const colorScheme of kSchemes) {
        await page.emulateMedia({ colorScheme });
        await drawn(page);
        await checkShown(page, `${view} ${width} ${colorScheme}`);
      }
    }
    assert.deepEqual(browser.take(), [], view);
  });

test("the keyboard reaches everything in every view", async () => {
  for (const [view, more, name = "page"] of kShown) {
    const page = await shown(view, more, { file: fileOf(name) });
    assert.deepEqual(await checkReach(page), [], `${view} ${name}`);
    await page.close();
  }
});

/** View, label of its table, section of the report, its rows, values, and how many. */
const kValues = [
  ["modules", "Modules", "modules", "modules", ["calls", "kernels", "gpu_ns", "host_ns", "l2_bytes"], 500],
  ["kernels", "Kernels", "kernels", "kernels", ["count", "total_ns", "mean_ns", "p95_ns", "max_ns"], 20],
  ["copies", "Copies", "memcpy", "memcpy", ["count", "bytes", "gpu_ns"], 2],
  ["iterations", "Iterations", "iterations", "iterations", ["host_ns", "wall_ns", "gpu_busy_ns", "launches"], 60],
  ["memory", "Memory", "memory", "memory", ["peak_bytes", "allocations", "frees"], 5],
];

for (const [view, label, section, table, keys, least] of kValues)
  test(`${view}: ${keys.join(", ")} of each row are those of report --json`, async () => {
    const page = await shown(view);
    if (view === "modules") await page.getByLabel("full paths").check();
    const rows = await csvOf(page, label);
    const report = traces.report(made.trace, "--section", section)[table];
    assert.ok(rows.length >= least, `${rows.length} rows`);
    assert.equal(rows.length, report.length);
    const isTree = rows[0].path !== undefined;
    for (const [i, row] of report.entries()) {
      const cells = isTree ? rows.find((one) => one.path === (row.path ?? "")) : rows[i];
      for (const key of keys) assert.equal(cells[key], String(row[key] ?? ""), `${row.path ?? i} ${key}`);
    }
  });

for (const name of ["page", "gemm"])
  test(`${name}: every link of a finding leads to the module or kernel that it names`, async () => {
    const page = await shown("findings", {}, { file: fileOf(name) });
    const links = page.locator(".finding button.link");
    const count = await links.count();
    assert.ok(count > 1, `${count} links`);
    const seen = { modules: 0, kernel: 0 };
    for (let i = 0; i < count; ++i) {
      const text = await links.nth(i).textContent();
      await links.nth(i).click();
      await until(page, () => !location.hash.includes("view=findings"));
      const to = new URLSearchParams(new URL(page.url()).hash.slice(1));
      ++seen[to.get("view")];
      // A `*` is a number, or what only numbers tell apart.
      const named = text.split("*").map((part) => part.replace(/[.+?^${}()|[\]\\]/g, "\\$&"));
      const title = await page.locator(".details h2").first().textContent();
      if (to.get("view") === "modules") assert.match(to.get("module"), new RegExp(`^${named.join("[^/]*")}$`), text);
      else assert.ok(title.replace(/^void /, "").startsWith(text), `${text}: ${title}`);
      await page.goBack();
      await until(page, () => location.hash.includes("view=findings"));
    }
    assert.ok(seen.modules > 0 && (name === "page" || seen.kernel > 0), JSON.stringify(seen));
  });

test("the evidence of a finding in the overview leads to that finding", async () => {
  const page = await shown("overview", {}, { file: fileOf("gemm") });
  const evidence = page.getByRole("button", { name: "evidence", exact: true });
  const last = (await evidence.count()) - 1;
  assert.ok(last > 0, `${last}`);
  const title = await page.locator(".headlines li > bdi").allTextContents();
  await evidence.nth(last).click();
  const current = page.locator(".finding[aria-current] h2 bdi");
  await current.waitFor();
  assert.ok(title.includes(await current.textContent()), `${title}`);
  const number = new URLSearchParams(new URL(page.url()).hash.slice(1)).get("finding");
  assert.equal(number, String(last));
  assert.ok(await current.isVisible());
});

test("the page of a difference has the verdicts of diff --json, worst first, and colours what got worse or better", async () => {
  const page = await shown("diff", {}, { file: fileOf("diff") });
  const pair = kPair.map((name) => traces.recorded(name));
  const diff = JSON.parse(traces.run(traces.rangefinder, "diff", "--json", ...pair));
  const keyOf = (row) => [row.path ?? row.name, row.quantity].join();
  const tones = { worse: /^(worse|slower|more)$/, better: /^(better|faster|less|fewer)$/ };

  assert.equal(await page.locator(".verdict").textContent(), diff.verdict.text);
  for (const table of ["iteration", "modules", "kernels"]) {
    await page.getByRole("radio", { name: table, exact: true }).click();
    const rows = await csvOf(page, "Difference");
    assert.equal(rows.length, diff[table].length, table);
    const wanted = new Map(diff[table].map((row) => [keyOf(row), row.verdict]));
    for (const row of rows) {
      const [key, { verdict }] = [[row.path ?? row.name, row.quantity].join(), row];
      assert.equal(verdict, wanted.get(key), `${table} ${key}`);
    }
    if (table !== "iteration") {
      const worse = rows.map(({ verdict }) => tones.worse.test(verdict));
      assert.equal(worse.lastIndexOf(true) + 1, worse.filter((one) => one).length, table);
    }
    const shownRows = await page
      .locator('section[aria-label="Difference"] [role="gridcell"]')
      .evaluateAll((cells) => cells.map((cell) => [cell.textContent, cell.className]));
    for (const [tone, words] of Object.entries(tones)) {
      for (const [text, name] of shownRows.filter(([one]) => words.test(one)))
        assert.ok(name.split(" ").includes(tone), `${table}: ${text} has the class ${name}`);
    }
  }
});

test("a page of sampled and exact counters says so in place of a verdict on time", async () => {
  const pair = ["decoder_sampled", "decoder_exact"].map((name) => traces.recorded(name));
  const page = await shown("diff", {}, { file: traces.page("counters", ...pair) });

  assert.match(await page.locator(".verdict").textContent(), /^No verdict on time: .*exact counters run launches one/);
  assert.match(await page.locator(".view.diff").textContent(), /Set-ups differ: counters sampled and exact/);
});

test("a view without data is no tab", async () => {
  const tabs = async (name) =>
    (await (await shown("about", {}, { file: fileOf(name) })).locator(".tabs button").allTextContents()).join();

  assert.match(await tabs("gemm"), /Limits,Timeline,Kernels,Copies,Memory,Iterations/);
  assert.doesNotMatch(await tabs("power"), /Limits/);
  assert.doesNotMatch(await tabs("torch"), /Limits|Copies/);
});

/** Name, view, what is shown in it, width, theme, page. */
const kPictures = [
  ["timeline-light", "timeline", {}, 1440, "light"],
  ["timeline-dark", "timeline", { module: kModule }, 1280, "dark"],
  ["timeline-part", "timeline", kPart, 1280, "light"],
  ["timeline-phone", "timeline", {}, 390, "dark"],
  ["modules-light", "modules", { module: kModule }, 1440, "light"],
  ["modules-phone", "modules", { module: kModule }, 390, "light"],
  ["icicle-dark", "modules", { find: "decoder", metric: "dram" }, 1280, "dark"],
  ["kernels-dark", "kernels", {}, 1280, "dark"],
  ["overview-light", "overview", {}, 1440, "light"],
  ["limits-light", "limits", { module: "gemm/fp16/1024" }, 1440, "light", "gemm"],
  ["kernel-dark", "kernel", { kernel: "_Zsoftmax" }, 1280, "dark", "metrics"],
];
/** Pictures are compared at a quarter of their size, where fonts of other machines differ little. */
const kScale = 4;
/** A pixel differs if a channel differs by more, of 255; at most this share of the pixels may. */
const kMaxChannel = 40;
const kMaxShare = 0.03;

/** In the browser: the picture at a quarter of its size, and the share of its pixels that differ from `reference`. */
const compared = (page, png, reference) =>
  page.evaluate(
    async ({ png, reference, scale, most }) => {
      const pixels = async (base64, by) => {
        const image = new Image();
        image.src = `data:image/png;base64,${base64}`;
        await image.decode();
        const canvas = document.createElement("canvas");
        canvas.width = Math.round(image.width / by);
        canvas.height = Math.round(image.height / by);
        const context = canvas.getContext("2d");
        context.imageSmoothingQuality = "high";
        context.drawImage(image, 0, 0, canvas.width, canvas.height);
        return { canvas, data: context.getImageData(0, 0, canvas.width, canvas.height).data };
      };
      const one = await pixels(png, scale);
      const small = one.canvas.toDataURL("image/png").split(",")[1];
      if (reference === undefined) return { small, share: 1 };
      const other = await pixels(reference, 1);
      if (other.data.length !== one.data.length) return { small, share: 1 };
      let differ = 0;
      for (let i = 0; i < one.data.length; i += 4)
        if ([0, 1, 2].some((at) => Math.abs(one.data[i + at] - other.data[i + at]) > most)) ++differ;
      return { small, share: differ / (one.data.length / 4) };
    },
    { png, reference, scale: kScale, most: kMaxChannel },
  );

for (const [name, view, more, width, scheme, of = "page"] of kPictures)
  test(`the picture ${name} is the reference, up to ${100 * kMaxShare} % of its pixels`, async () => {
    const place = join(traces.repository, "tests/web/pictures", `${name}.png`);
    const page = await shown(view, more, { width, scheme, file: fileOf(of) });
    await drawn(page);
    const png = (await page.screenshot()).toString("base64");
    const blank = await browser.context.newPage();
    const isUpdate = process.env.RANGEFINDER_TEST_UPDATE === "1";
    const reference = isUpdate || !existsSync(place) ? undefined : readFileSync(place).toString("base64");
    const { small, share } = await compared(blank, png, reference);
    if (isUpdate) writeFileSync(place, Buffer.from(small, "base64"));
    else assert.ok(share <= kMaxShare, `${(100 * share).toFixed(1)} % of the pixels differ from ${place}`);
  });

test("the picture of another view is not the reference", async () => {
  const page = await shown("kernels", {}, { width: 1440 });
  await drawn(page);
  const png = (await page.screenshot()).toString("base64");
  const reference = readFileSync(join(traces.repository, "tests/web/pictures/timeline-light.png")).toString("base64");
  const { share } = await compared(await browser.context.newPage(), png, reference);

  assert.ok(share > 2 * kMaxShare && share < 1, `${share}`);
});
