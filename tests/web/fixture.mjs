// SPDX-License-Identifier: Apache-2.0
//
// Fixture of page_test.mjs and page_looks_test.mjs: the RT-DETR recording as a page, and a browser.
//
//   node page_test.mjs RANGEFINDER REPLAY REPOSITORY      exit code 77: skipped, with the reason
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { after, afterEach, before } from "node:test";
import { Browser, requirements } from "./browser.mjs";
import { metricLines, skip, Traces } from "./traces.mjs";

const [rangefinder, replay, repository] = process.argv.slice(2).map((path) => resolve(path));
if (repository === undefined) throw new Error(`${process.argv[1]} RANGEFINDER REPLAY REPOSITORY`);
const missing = requirements(repository);
if (missing !== undefined) skip(missing);

export const kViews = [
  "overview",
  "modules",
  "limits",
  "timeline",
  "kernels",
  "copies",
  "memory",
  "iterations",
  "findings",
  "about",
];
export const kModule = "iteration/model/decoder";
export const at = (view, more = {}) => "#" + new URLSearchParams({ view, ...more });

const folder = mkdtempSync(join(tmpdir(), "rangefinder-page-"));
export const traces = new Traces({ rangefinder, replay, repository, folder });
export const made = {};
export let browser;
made.trace = traces.recordedOrSkip("rtdetr_sampled");

/** A trace with all named metrics, of the chip GH100. */
export function metricTrace() {
  const words = ["metrics", "--json", "--chip", "GH100", "--set", "all"];
  const { sets } = JSON.parse(traces.run(traces.rangefinder, ...words));
  return traces.made("metrics", metricLines(sets[0].groups));
}

before(async () => {
  made.page = traces.page("sampled", made.trace);
  browser = await Browser.start(repository);
});
afterEach(() => browser.closePages());
after(async () => {
  await browser?.stop();
  rmSync(folder, { recursive: true, force: true });
});
