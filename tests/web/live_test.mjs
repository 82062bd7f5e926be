// SPDX-License-Identifier: Apache-2.0
//
// The page of `rangefinder serve` in a real browser, with running programs and recorded traces.
//
//   node live_test.mjs RANGEFINDER REPLAY REPOSITORY BUILD      exit code 77: skipped, with the reason
//
// RANGEFINDER_TEST_SHOTS=DIR keeps pictures at 1280 and 1920 px, light and dark.
import assert from "node:assert/strict";
import { existsSync, mkdtempSync, mkdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { after, afterEach, before, test } from "node:test";
import { Browser, csvOf, requirements, until } from "./browser.mjs";
import { checkLooks, keepShots, keepsShots } from "./looks.mjs";
import { Program, Served } from "./programs.mjs";
import { linesOf, skip, Traces } from "./traces.mjs";

const [rangefinder, replay, repository, build] = process.argv.slice(2).map((path) => resolve(path));
if (build === undefined) throw new Error("live_test.mjs RANGEFINDER REPLAY REPOSITORY BUILD");
const missing =
  requirements(repository) ??
  (existsSync(join(build, "lib/librangefinder_http.so")) ? undefined : "this build has no serve");
if (missing !== undefined) skip(missing);

// A short path: the address of a socket holds at most 107 characters.
const folder = mkdtempSync(join(tmpdir(), "rf-live-"));
const runtime = join(folder, "run");
const served = join(folder, "served");
const kHostile = ["<img/src=x/onerror=alert(1)>", "</script><b>bold</b>", `"'&amp;$&`, "\u202Eevil", "x".repeat(5000)];
let browser, server, program;
mkdirSync(runtime, { mode: 0o700 });
mkdirSync(served);
const traces = new Traces({ rangefinder, replay, repository, folder: served });
traces.recordedOrSkip("multi_stream_ranges", folder);

before(async () => {
  traces.made("hostile <b> &amp; name", linesOf(["model"]));
  server = await Served.start(rangefinder, served, runtime);
  program = await Program.start(build, runtime, join(folder, "program"));
  browser = await Browser.start(repository);
});
afterEach(() => browser.closePages());
after(async () => {
  await browser?.stop();
  await program?.end();
  await server?.stop();
  rmSync(folder, { recursive: true, force: true });
});

const launchesOf = (page, name) =>
  page.evaluate((wanted) => {
    const rows = [...document.querySelectorAll('section.table[aria-label="Modules"] .body .row')];
    const row = rows.find((one) => one.firstElementChild.textContent.replace(/^[▾▸]/, "") === wanted);
    return row === undefined ? undefined : Number(row.children[3].textContent.replaceAll(",", ""));
  }, name);

async function reach(page, name, condition, what) {
  const deadline = Date.now() + 30_000;
  while (!condition(await launchesOf(page, name))) {
    assert.ok(Date.now() < deadline, `${what}: ${await launchesOf(page, name)}`);
    await page.evaluate(() => new Promise((done) => requestAnimationFrame(done)));
  }
}

async function shoot(page, name) {
  if (!keepsShots) return;
  // Lines need a few points to be visible.
  await until(page, () =>
    [...document.querySelectorAll(".rate .plot")].every((plot) => Number(/(\d+) points/.exec(plot.ariaLabel)[1]) > 5),
  );
  await keepShots(page, name);
}

test("programs and traces are listed, and a click watches a program", async () => {
  const page = await browser.open(server.url);
  await until(page, () => document.querySelectorAll(".list .body .row").length === 3);

  const [row] = await csvOf(page, "Running programs");
  assert.equal(row.name, "obedient");
  assert.equal(row.pid, String(program.pid));
  assert.deepEqual((await csvOf(page, "Traces")).map((one) => one.trace).sort(), [
    "hostile <b> &amp; name",
    "multi_stream_ranges",
  ]);
  await page.locator('section.table[aria-label="Running programs"] .body .row').click();
  await page.getByRole("button", { name: "Watch" }).click();

  await until(
    page,
    (pid) => location.hash === `#pid=${pid}` && document.querySelector(".view.live") !== null,
    program.pid,
  );
  assert.deepEqual(browser.take(), []);
});

test("table and lines follow the program, and stay unchanged while paused", async () => {
  const page = await browser.open(server.url, `#pid=${program.pid}`);
  await program.do("storm on");
  await reach(page, "storm", (n) => n > 0, "launches of the storm");
  const picture = () =>
    page.evaluate(() => [...document.querySelectorAll(".plots canvas")].map((one) => one.toDataURL()).join());
  await until(page, () => document.querySelector(".rate .u-legend").textContent.includes("storm"));
  const first = await picture();
  const deadline = Date.now() + 30_000;
  while ((await picture()) === first) assert.ok(Date.now() < deadline, "the lines do not move");

  await page.getByRole("button", { name: "Pause" }).click();
  await program.do("storm off");
  const other = await browser.open(server.url, `#pid=${program.pid}`);
  await reach(other, "storm", (n) => n === undefined || n === 0, "rest, on another page");
  assert.ok((await launchesOf(page, "storm")) > 0, "a paused page does not move");
  await page.getByRole("button", { name: "Resume" }).click();

  await reach(page, "storm", (n) => n === 0, "rest");
  assert.deepEqual(browser.take(), []);
});

test("names of modules that look like HTML or run backwards show as text", async () => {
  const page = await browser.open(server.url, `#pid=${program.pid}`);
  await until(page, () => document.querySelector(".view.live [role=status]").textContent.startsWith("Recording"));
  for (const name of kHostile) {
    await program.do(`push ${name}`);
    await program.do("launch 2");
    await program.do("pop");
  }

  const names = () =>
    page.locator('section.table[aria-label="Modules"] .body .row .cell:first-child').allTextContents();
  await until(page, () => document.querySelectorAll('section.table[aria-label="Modules"] .body .row').length >= 16);
  const shown = (await names()).map((name) => name.replace(/^[▾▸]/, ""));
  for (const name of kHostile)
    assert.ok(
      shown.some((one) => one.startsWith(name.slice(0, 1999))),
      name.slice(0, 50),
    );
  assert.equal(await page.locator("main img, main b, main script").count(), 0);
  await shoot(page, "live-hostile");
  assert.deepEqual(browser.take(), []);
});

test("a selected module shows the lines of the modules below it", async () => {
  const page = await browser.open(server.url, `#pid=${program.pid}`);
  await program.do("storm on");
  await program.do("launch 20");
  await reach(page, "step", (n) => n !== undefined, "launches of step");
  await page
    .locator('section.table[aria-label="Modules"] .body .row', { hasText: /^.?work/ })
    .first()
    .click();

  await until(page, () => document.querySelector(".rate .u-legend").textContent.includes("step"));
  assert.match(await page.locator(".rate h2").first().textContent(), /GPU ms\/s work/);
  await shoot(page, "live-selected");
  await program.do("storm off");
});

test("the trace so far and a trace of the list open as pages", async () => {
  const page = await browser.open(server.url, `#pid=${program.pid}`);
  await page.getByRole("link", { name: "Open the trace so far" }).click();
  await page.waitForSelector("main .view.overview");
  assert.match(await page.title(), /obedient/);
  await page.goto(server.url);
  await page.locator('section.table[aria-label="Traces"] .body .row', { hasText: "hostile" }).click();
  await page.getByRole("button", { name: "Open", exact: true }).click();

  await page.waitForSelector("main .view.overview");
  assert.match(await page.title(), /^app/);
  assert.deepEqual(browser.take(), []);
});

test("a click passes the exported trace to Perfetto, and nothing else leaves the page", async () => {
  const stub = `<script>addEventListener("message", (event) => {
    if (event.data === "PING") event.source.postMessage("PONG", event.origin);
    else if (event.data.perfetto) window.got = { origin: event.origin, title: event.data.perfetto.title,
      text: new TextDecoder().decode(event.data.perfetto.buffer) };
  });</script>`;
  await browser.context.route("https://ui.perfetto.dev/**", (route) =>
    route.fulfill({ contentType: "text/html", body: stub }),
  );
  const page = await browser.open(server.url);
  await page.locator('section.table[aria-label="Traces"] .body .row', { hasText: "multi_stream" }).click();
  assert.deepEqual(browser.take(), []);
  const opened = browser.context.waitForEvent("page");

  await page.getByRole("button", { name: "Open in Perfetto" }).click();

  const perfetto = await opened;
  await until(perfetto, () => window.got !== undefined);
  const got = await perfetto.evaluate(() => window.got);
  const out = join(folder, "export.json");
  traces.run(rangefinder, "export", join(served, "multi_stream_ranges"), "--to", "perfetto", "--out", out);
  assert.deepEqual(JSON.parse(got.text), JSON.parse(readFileSync(out, "utf8")));
  assert.equal(got.title, "multi_stream_ranges");
  assert.equal(got.origin, new URL(server.url).origin);
  await until(page, () => document.querySelector(".list.grows").textContent.includes("Opened in Perfetto"));
  assert.deepEqual(browser.take(), []);
});

test("text has enough contrast in light and dark, and nothing overlaps at 1280 and 1920", async () => {
  await program.do("storm on");
  for (const [name, hash] of Object.entries({ home: "", live: `#pid=${program.pid}` })) {
    await checkLooks(async (options) => {
      const page = await browser.open(server.url, hash, options);
      await until(page, () => document.querySelectorAll(".body .row").length >= 2);
      return page;
    }, name);
    await shoot(await browser.open(server.url, hash), name);
  }
  await program.do("storm off");
  assert.deepEqual(browser.take(), []);
});

test("the page reports the end of a program", async () => {
  const page = await browser.open(server.url, `#pid=${program.pid}`);
  await until(page, () => document.querySelector(".view.live [role=status]")?.textContent.startsWith("Recording"));

  await program.end();

  await until(page, () => document.querySelector(".view.live [role=status]")?.textContent.includes("has ended"));
  await page.goto(server.url);
  await until(page, () => document.querySelector(".list")?.textContent.includes("None."));
  assert.deepEqual(browser.take(), []);
});
