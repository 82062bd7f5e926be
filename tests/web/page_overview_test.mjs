// SPDX-License-Identifier: Apache-2.0
//
// The overview of a page in a real browser: lines, findings, bars and the picture of a replay; pointer and keys.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { until } from "./browser.mjs";
import { at, browser, made, traces } from "./fixture.mjs";

const spaced = (text) => text.replace(/\s+/g, " ").trim();

test("the page opens on the overview: each opening line and finding of the report, with links to the evidence", async () => {
  const page = await browser.open(made.page);
  const words = ["report", "--wide", "--color", "never", made.trace];
  const text = spaced(traces.run(traces.rangefinder, ...words));
  const { findings } = traces.report(made.trace);

  assert.equal(await page.getByRole("tab", { selected: true }).textContent(), "Overview");
  assert.ok(text.startsWith(spaced(await page.locator(".opening h2").textContent())));
  const lines = await page.locator(".opening dl > div").all();
  assert.ok(lines.length >= 4, `${lines.length} lines`);
  for (const line of lines) {
    const cells = [...(await line.locator("dt, dd.value").allTextContents())];
    cells.push(await line.locator("dd.about > bdi").textContent());
    assert.ok(text.includes(spaced(cells.join(" "))), cells.join(" "));
  }
  const titles = await page.locator(".headlines li > bdi").allTextContents();
  assert.deepEqual(
    titles,
    findings.map(({ title }) => title.replaceAll("`", "")),
  );
  for (const item of await page.locator(".headlines li").all())
    assert.ok((await item.locator("button.link").count()) > 0, await item.textContent());

  await page.locator(".headlines li").first().getByText("in the timeline").click();
  await until(page, () => /view=timeline/.test(location.hash) && /from=\d+&to=\d+/.test(location.hash));
  assert.deepEqual(browser.take(), []);
});

test("a bar of an iteration goes to the timeline at it, with the pointer and with keys", async () => {
  const { iterations } = traces.report(made.trace, "--section", "iterations");
  const isIn = async (page, row) => {
    await until(page, () => /view=timeline/.test(location.hash) && /to=/.test(location.hash));
    const hash = new URLSearchParams((await page.evaluate(() => location.hash)).slice(1));
    const [from, to] = ["from", "to"].map((key) => Number(hash.get(key)));
    const end = row.start_ns + row.wall_ns;
    assert.ok(to - from < 1.3 * row.wall_ns && from <= row.start_ns && to >= end * (1 - 1e-9), `${from} ${to}`);
  };
  let page = await browser.open(made.page, at("overview"));
  const box = await page.locator(".bars svg[role=slider]").boundingBox();
  await page.locator(".bars svg[role=slider]").click({ position: { x: box.width - 8, y: box.height / 2 } });
  await isIn(page, iterations.at(-1));

  page = await browser.open(made.page, at("overview"));
  await page.locator(".bars svg[role=slider]").focus();
  for (const key of ["Home", "ArrowRight", "ArrowRight", "Enter"]) await page.keyboard.press(key);
  await isIn(page, iterations[2]);
});

/** The decoder's page, and the part of its picture over time. */
async function decoder(hash = at("overview")) {
  made.decoder ??= traces.page("decoder", traces.recorded("decoder_sampled"));
  const page = await browser.open(made.decoder, hash);
  const svg = page.locator(".picture svg[role=group]");
  await svg.scrollIntoViewIfNeeded();
  return { page, svg };
}

test("in the picture of a replay a layer lights up everywhere, a click selects it, and keys do the same", async () => {
  const { page, svg } = await decoder();
  assert.match(await page.locator(".picture h2").textContent(), /^decode\/layer \* .*52\.9 % of the DRAM peak/);
  const labels = svg.locator("text", { hasText: /^layer 17$/ });
  const { x, y } = await labels.last().boundingBox();

  await page.mouse.move(x + 5, y + 5);
  await until(page, () => document.querySelectorAll(".picture g.live rect").length === 2);
  assert.match(await page.locator(".tip").textContent(), /^decode\/layer 17DRAM 169 MB ± 4\.8 %/);
  await page.mouse.click(x + 5, y + 5);
  await until(page, () => location.hash.includes("module=decode%2Flayer+17"));

  await svg.focus();
  await page.keyboard.press("ArrowDown");
  await page.keyboard.press("Enter");
  await until(page, () => location.hash.includes("module=decode%2Flayer+18"));
  await page.keyboard.press("ArrowRight");
  await until(page, () => location.hash.includes("replay="));
  const number = await page.evaluate(() => /replay=(\d+)/.exec(location.hash)[1]);
  assert.match(await page.locator(".picture .tools").textContent(), new RegExp(`replay ${number}, `));
  await page.keyboard.press("Shift+ArrowRight");
  assert.match(await page.locator(".sums").textContent(), /^Selected: 46\.\d us; DRAM .* MB read/);
  await page.keyboard.press("Escape");
  assert.match(await page.locator(".sums").textContent(), /^Drag over/);
  assert.deepEqual(browser.take(), []);
});

test("a drag over a whole replay sums its busy and idle time, as in the report, and a cell shows another replay", async () => {
  const { page, svg } = await decoder();
  const { iterations } = traces.report(traces.recorded("decoder_sampled"), "--section", "iterations");
  const box = await svg.boundingBox();
  const drag = async () => {
    await page.mouse.move(box.x + 113, box.y + 60);
    await page.mouse.down();
    await page.mouse.move(box.x + box.width / 2, box.y + 70);
    await page.mouse.move(box.x + box.width + 5, box.y + 70);
    await page.mouse.up();
    return page.locator(".sums").textContent();
  };
  const text = await drag();
  const shown = Number(/replay (\d+)/.exec(await page.locator(".picture .tools").textContent())[1]);
  const row = iterations[shown];
  const [, busy, idle] = /busy ([\d.]+) ms, idle ([\d.]+) us/.exec(text).map(Number);
  assert.ok(Math.abs(busy - row.gpu_busy_ns / 1e6) < 0.01, text);
  assert.ok(Math.abs(idle - (row.wall_ns - row.gpu_busy_ns) / 1e3) < 3, text);

  const cells = await page.locator(".picture svg[role=group]").boundingBox();
  await page.mouse.click(box.x + 115, cells.y + cells.height - 8);
  await until(page, () => location.hash.includes("replay=1"));
  assert.match(await page.locator(".picture .tools").textContent(), /replay 1, 2\.31 ms/);
});

test("the picture is kept as SVG and PNG, with headline and caption", async () => {
  const { page } = await decoder();
  const kept = async (name) => {
    const [file] = await Promise.all([
      page.waitForEvent("download"),
      page.locator(".picture").getByRole("button", { name, exact: true }).click(),
    ]);
    return readFileSync(await file.path());
  };
  const svg = (await kept("SVG")).toString();
  const texts = [...svg.matchAll(/<text[^>]*>([^<]*)</g)].map(([, text]) => text);
  assert.match(svg, /^<svg [^>]*xmlns="http:\/\/www\.w3\.org\/2000\/svg"/);
  assert.ok(svg.length < 200_000, `${svg.length} bytes`);
  for (const part of [/52\.9 % of the DRAM peak/, /NVIDIA H100.*2026-11-27.*± 1\.6 %/, /^layer 17$/])
    assert.ok(
      texts.some((text) => part.test(text)),
      `${part}`,
    );
  const png = await kept("PNG");
  assert.equal(png.subarray(1, 4).toString(), "PNG");
  assert.ok(png.readUInt32BE(16) > 2000, "twice as wide as the page");
  assert.deepEqual(browser.take(), []);
});
