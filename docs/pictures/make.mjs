// SPDX-License-Identifier: Apache-2.0
//
// Makes the pictures of this folder from recordings, with the page of `report --html` in a headless Chromium.
//
//   node docs/pictures/make.mjs RANGEFINDER REPLAY [OUT] [NAME…]     NAME: only these files
//
// SVG is what the page's button makes; the others are parts of its overview and of its timeline.
import { cpSync, mkdtempSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { Browser, requirements } from "../../tests/web/browser.mjs";
import { Traces } from "../../tests/web/traces.mjs";

const kMaxBytes = 120_000;
const here = dirname(fileURLToPath(import.meta.url));
const repository = resolve(here, "../..");
const [rangefinder, replay, out = here] = process.argv.slice(2, 5).map((path) => resolve(path));
const wanted = process.argv.slice(5);
if (replay === undefined) throw new Error("node docs/pictures/make.mjs RANGEFINDER REPLAY [OUT] [NAME…]");
const missing = requirements(repository);
if (missing !== undefined) throw new Error(missing);

const kPictures = [
  // One replay of a decoder's CUDA graph, byte by byte.
  {
    name: "decoder_replay.svg",
    make: replayPicture("decoder_sampled", "light"),
  },
  {
    name: "decoder_replay_dark.svg",
    make: replayPicture("decoder_sampled", "dark"),
  },
  // One step of a compiled decoder.
  {
    name: "compiled_step.svg",
    make: replayPicture("compiled_modules", "light"),
  },
  // The overview of Hugging Face's RT-DETR.
  {
    name: "rtdetr_overview.png",
    make: overview("hf_rtdetr_sampled"),
    max: 200_000,
  },
  // An iteration of RT-DETR whose attention is not fused.
  {
    name: "rtdetr_unfused.png",
    make: timeline("rtdetr_r18_unfused", 526, { folds: true }),
  },
  // A GPU that waits for the DataLoader.
  { name: "starved_gpu.png", make: timeline("resnet_workers_1", 486) },
  // Rank 0 waits for rank 1 in an all-reduce.
  { name: "slow_rank.png", make: timeline("host/rank=0", 428) },
  // Iterations of BERT in mixed precision, and in FP32.
  { name: "regression.png", make: strips("case_bert_amp", "case_bert_fp32") },
];

const folder = mkdtempSync(join(tmpdir(), "rangefinder-pictures-"));
const traces = new Traces({ rangefinder, replay, repository, folder });
const browser = await Browser.start(repository);
// The page shows the folder of its trace.
process.chdir(folder);

/** The page of a recording, or of a rank of a recorded job. */
function open(recording, view, scheme = "light") {
  const [job, rank] = recording.split("/");
  if (rank !== undefined)
    cpSync(join(repository, "tests/unit/analysis/ranks/recorded_jobs", job, rank), join(folder, job, rank), {
      recursive: true,
    });
  else traces.recorded(recording);
  const page = traces.page(recording.replace("/", "_"), recording);
  return browser.open(page, `#view=${view}`, {
    width: 1080,
    height: 1000,
    scheme,
  });
}

/** What the button of the picture makes. */
function replayPicture(recording, scheme) {
  return async (file) => {
    const page = await open(recording, "overview", scheme);
    const [made] = await Promise.all([
      page.waitForEvent("download"),
      page.locator(".picture").getByRole("button", { name: "SVG", exact: true }).click(),
    ]);
    await made.saveAs(file);
  };
}

/** Without the page's head, to the end of the strips: the rows of its layers are below. */
function overview(recording) {
  return async (file) => {
    const page = await open(recording, "overview");
    const [y, end] = await page.evaluate((row) => {
      const head = [...document.querySelectorAll(".picture text")].find((one) => one.textContent.startsWith(row));
      return [document.querySelector(".view"), head].map((one) => Math.floor(one.getBoundingClientRect().top));
    }, "DRAM bytes in each");
    await page.screenshot({
      path: file,
      clip: { x: 0, y, width: 1080, height: end - 4 - y },
    });
  };
}

/** The median iteration: the uppermost rows. `folds`: without those of the first thread. */
function timeline(recording, height, { folds = false } = {}) {
  return async (file) => {
    const page = await open(recording, "timeline");
    const { x, y, width } = await page.locator(".timeline .scroller").boundingBox();
    if (folds) await page.mouse.click(x + 80, y + 60);
    await page.screenshot({ path: file, clip: { x, y, width, height } });
  };
}

/** The bars of the iterations of two recordings, one below the other. */
function strips(...recordings) {
  return async (file) => {
    const images = [];
    for (const recording of recordings) {
      const page = await open(recording, "overview");
      images.push((await page.locator(".overview > section:last-child").screenshot()).toString("base64"));
    }
    const page = await browser.context.newPage();
    const shown = recordings.map((name, i) => `<b>${name}</b><br><img src="data:image/png;base64,${images[i]}"><br>`);
    await page.setViewportSize({ width: 1080, height: 600 });
    await page.setContent(`<body style="margin: 12px; font: 14px sans-serif"><div>${shown.join("<br>")}</div></body>`);
    await page.locator("div").screenshot({ path: file });
  };
}

try {
  for (const { name, make, max = kMaxBytes } of kPictures) {
    if (wanted.length > 0 && !wanted.includes(name)) continue;
    const file = join(out, name);
    await make(file);
    const { size } = statSync(file);
    console.log(`${file}: ${size} bytes`);
    if (size > max) throw new Error(`${file} is larger than ${max} bytes`);
  }
  const problems = browser.take();
  if (problems.length > 0) throw new Error(problems.join("\n"));
} finally {
  await browser.stop();
  rmSync(folder, { recursive: true, force: true });
}
