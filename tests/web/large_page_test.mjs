// SPDX-License-Identifier: Apache-2.0
//
// The page of a trace of ten million kernels: size, time to the first table, frame rate.
//
//   node large_page_test.mjs RANGEFINDER TRACE_MAKER REPOSITORY [KERNELS]
//
// For .ci/run: it makes a trace of 3 GB and takes a minute. Exit code 77: skipped, with the reason. Prints the
// measured values. The limits are for a machine with two cores and no GPU, where the CPU draws the canvas.
import assert from "node:assert/strict";
import { mkdtempSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { Browser, requirements, until } from "./browser.mjs";
import { skip, Traces } from "./traces.mjs";

const kMaxBytes = 6e6;
const kFirstPaintMs = 1500;
const kMedianFrameMs = 33;
const kZooms = 160;
const kRounds = 5;

const [rangefinder, maker, repository] = process.argv.slice(2, 5).map((path) => resolve(path));
if (repository === undefined) throw new Error("large_page_test.mjs RANGEFINDER TRACE_MAKER REPOSITORY");
const kernels = process.argv[5] ?? "10000000";
const missing = requirements(repository);
if (missing !== undefined) skip(missing);

const atShare = (values, share) =>
  [...values].sort((a, b) => a - b)[Math.min(values.length - 1, Math.floor(values.length * share))];
const median = (values) => atShare(values, 0.5);

/**
 * Zooms with the wheel in and out at several places of the trace, one step per frame. Measures the time from
 * frame to frame, which includes the browser's painting of the previous drawing.
 */
const zoomAbout = (page) =>
  page.evaluate(async (steps) => {
    const scroller = document.querySelector(".scroller");
    const box = scroller.getBoundingClientRect();
    const frame = () => new Promise((done) => requestAnimationFrame(done));
    const wheel = { ctrlKey: true, clientY: box.top + 100, cancelable: true, bubbles: true };
    const frames = [];
    let before = await frame();
    for (let i = 0; i < steps; ++i) {
      const clientX = box.left + box.width * (0.25 + 0.2 * Math.floor(i / 40));
      scroller.dispatchEvent(new WheelEvent("wheel", { ...wheel, clientX, deltaY: i % 40 < 24 ? -240 : 360 }));
      const now = await frame();
      frames.push(now - before);
      before = now;
    }
    return { frames, draws: performance.getEntriesByName("timeline-draw").map((entry) => entry.duration) };
  }, kZooms);

const folder = mkdtempSync(join(tmpdir(), "rangefinder-large-"));
let browser;
try {
  const traces = new Traces({ rangefinder, repository, folder });
  const trace = join(folder, "trace");
  traces.run(maker, "--kernels", kernels, "--out", trace);
  const began = performance.now();
  const file = traces.page("large", trace);
  const made = (performance.now() - began) / 1000;
  const { size } = statSync(file);

  browser = await Browser.start(repository);
  let page = await browser.open(file, "#view=modules");
  const paint = await page.evaluate(
    () => performance.getEntriesByName("first-contentful-paint")[0]?.startTime ?? Infinity,
  );
  const rows = await page.evaluate(() => performance.now());
  await page.close();
  page = await browser.open(file, "#view=timeline");
  await until(page, () => document.querySelector(".scroller canvas") !== null);
  await page.keyboard.press("f");
  const frames = [];
  const draws = [];
  const slowDraws = [];
  for (let round = 0; round < kRounds; ++round) {
    await page.evaluate(() => performance.clearMeasures("timeline-draw"));
    const one = await zoomAbout(page);
    frames.push(...one.frames);
    draws.push(...one.draws);
    slowDraws.push(atShare(one.draws, 0.95));
  }

  console.log(
    `${kernels} kernels: page made in ${made.toFixed(1)} s, ${(size / 1e6).toFixed(2)} MB; first paint ${paint.toFixed(0)} ms, table visible after at most ${rows.toFixed(0)} ms; ` +
      `${frames.length} frames while zooming, median ${median(frames).toFixed(1)} ms, longest ${Math.max(...frames).toFixed(1)} ms, of it our drawing ${median(draws).toFixed(1)} ms, p95 ${median(slowDraws).toFixed(1)} ms (median of ${kRounds} rounds)`,
  );
  assert.ok(size < kMaxBytes, `the page has ${size} bytes`);
  assert.ok(rows < kFirstPaintMs, `the table of modules was visible after ${rows} ms`);
  assert.ok(draws.length >= kZooms / 2, `only ${draws.length} draws`);
  assert.ok(median(frames) < kMedianFrameMs, `the median frame took ${median(frames)} ms`);
  assert.deepEqual(browser.take(), []);
} finally {
  await browser?.stop();
  rmSync(folder, { recursive: true, force: true });
}
