// SPDX-License-Identifier: Apache-2.0
//
// Makes the pictures of this folder from recordings, with the page of `report --html` in a headless Chromium.
//
//   node docs/pictures/make.mjs RANGEFINDER REPLAY [OUT]
//
//   decoder_replay.svg   one replay of a decoder's CUDA graph, byte by byte: the page's own SVG
//   rtdetr_overview.png  the overview of Hugging Face's RT-DETR
import { mkdtempSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { Browser, requirements } from "../../tests/web/browser.mjs";
import { Traces } from "../../tests/web/traces.mjs";

const kMaxBytes = 200_000;
const here = dirname(fileURLToPath(import.meta.url));
const repository = resolve(here, "../..");
const [rangefinder, replay, out = here] = process.argv.slice(2).map((path) => resolve(path));
if (replay === undefined) throw new Error("node docs/pictures/make.mjs RANGEFINDER REPLAY [OUT]");
const missing = requirements(repository);
if (missing !== undefined) throw new Error(missing);

/** Saves what the button of the picture makes. */
async function keepPicture(page, button, file) {
  const [made] = await Promise.all([
    page.waitForEvent("download"),
    page.locator(".picture").getByRole("button", { name: button, exact: true }).click(),
  ]);
  await made.saveAs(file);
}

const folder = mkdtempSync(join(tmpdir(), "rangefinder-pictures-"));
const traces = new Traces({ rangefinder, replay, repository, folder });
const browser = await Browser.start(repository);
// The page shows the folder of its trace.
process.chdir(folder);
const pageOf = (name) => (traces.recorded(name), traces.page(name, name));
try {
  const files = [join(out, "decoder_replay.svg"), join(out, "rtdetr_overview.png")];
  const options = { width: 1080, height: 1000, scheme: "light" };
  await keepPicture(await browser.open(pageOf("decoder_sampled"), "#view=overview", options), "SVG", files[0]);
  const page = await browser.open(pageOf("hf_rtdetr_sampled"), "#view=overview", options);
  // Without the page's head, to the end of the strips: the rows of its layers are below.
  const [y, end] = await page.evaluate((row) => {
    const head = [...document.querySelectorAll(".picture text")].find((one) => one.textContent.startsWith(row));
    return [document.querySelector(".view"), head].map((one) => Math.floor(one.getBoundingClientRect().top));
  }, "DRAM bytes in each");
  await page.screenshot({ path: files[1], clip: { x: 0, y, width: options.width, height: end - 4 - y } });
  for (const file of files) {
    const { size } = statSync(file);
    console.log(`${file}: ${size} bytes`);
    if (size > kMaxBytes) throw new Error(`${file} is larger than ${kMaxBytes} bytes`);
  }
  const problems = browser.take();
  if (problems.length > 0) throw new Error(problems.join("\n"));
} finally {
  await browser.stop();
  rmSync(folder, { recursive: true, force: true });
}
