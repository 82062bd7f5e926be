// SPDX-License-Identifier: Apache-2.0
//
// Shared by the tests of the page: a browser without network access, which collects problems.
//
//   Needs node 20.19, `npm ci` in tools/web (playwright-core) and a Chromium: `tools/setup --web` installs
//   them. If one is missing, requirements() names it, and the test is skipped.
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

const kChromiums = [
  process.env.RANGEFINDER_TEST_CHROMIUM,
  "/usr/bin/chromium",
  "/usr/bin/chromium-browser",
  "/usr/bin/google-chrome",
];
const kFlags = [
  "--no-sandbox",
  "--disable-gpu",
  "--disable-quic",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
];

const chromium = () => kChromiums.find((path) => path && existsSync(path));

/** The reason why the tests cannot run; undefined: they can. */
export function requirements(repository) {
  const [major, minor] = process.versions.node.split(".").map(Number);
  if (major < 20 || (major === 20 && minor < 19)) return `node ${process.versions.node} is too old, 20.19 is needed`;
  if (!existsSync(join(repository, "tools/web/node_modules/playwright-core")))
    return "no playwright-core: tools/setup --web";
  if (chromium() === undefined) return "no Chromium: tools/setup --web";
  return undefined;
}

export class Browser {
  /** Errors of console and page, policy violations, and requests to anything but the page itself. */
  problems = [];

  static async start(repository) {
    const out = new Browser();
    const { chromium: playwright } = createRequire(join(repository, "tools/web/package.json"))("playwright-core");
    out.profile = mkdtempSync(join(tmpdir(), "rangefinder-chromium-"));
    out.context = await playwright.launchPersistentContext(out.profile, {
      executablePath: chromium(),
      args: kFlags,
      headless: true,
      viewport: { width: 1280, height: 800 },
    });
    // Tests read what the page copies. Do not touch the machine's clipboard.
    await out.context.addInitScript(() => {
      Object.defineProperty(navigator, "clipboard", {
        value: { writeText: (text) => ((window.copied = text), Promise.resolve()) },
      });
    });
    return out;
  }

  /** Opens `file`, or the page of a server, at `hash`. */
  async open(file, hash = "", options = {}) {
    const page = await this.context.newPage();
    if (options.width !== undefined)
      await page.setViewportSize({ width: options.width, height: options.height ?? 800 });
    if (options.scheme !== undefined) await page.emulateMedia({ colorScheme: options.scheme });
    const served = file.startsWith("http:");
    const url = served ? file : pathToFileURL(file).href;
    const isOwn = (asked) => asked === url || (served && new URL(asked).origin === new URL(url).origin);
    page.on("console", (message) => message.type() === "error" && this.problems.push(`console: ${message.text()}`));
    page.on("pageerror", (error) => this.problems.push(`error: ${error.message}`));
    page.on("request", (request) => {
      const asked = request.url().split("#")[0];
      if (!isOwn(asked) && !asked.startsWith("data:") && !asked.startsWith("blob:"))
        this.problems.push(`request: ${asked}`);
    });
    await page.goto(url + hash);
    await page.waitForSelector("main .view");
    return page;
  }

  /** Problems since the last call. */
  take() {
    return this.problems.splice(0);
  }

  /** Closes all but the first page, without which the browser would end. */
  async closePages() {
    for (const page of this.context.pages().slice(1)) await page.close();
  }

  async stop() {
    await this.context.close();
    rmSync(this.profile, { recursive: true, force: true });
  }
}

/** Resolves when `condition` holds in the page; throws after ten seconds. */
export const until = (page, condition, argument) => page.waitForFunction(condition, argument, { timeout: 10_000 });

/** Rows of the table with this label, read with its button "Copy CSV". */
export async function csvOf(page, label) {
  await page.evaluate(() => delete window.copied);
  await page.locator(`section.table[aria-label="${label}"] button`, { hasText: "Copy CSV" }).click();
  await until(page, () => window.copied !== undefined);
  return parseCsv(await page.evaluate(() => window.copied));
}

export function parseCsv(text) {
  const rows = [];
  let row = [];
  for (const match of text.matchAll(/("(?:[^"]|"")*"|[^,\r\n]*)(,|\r\n)/g)) {
    row.push(match[1].startsWith('"') ? match[1].slice(1, -1).replaceAll('""', '"') : match[1]);
    if (match[2] === ",") continue;
    rows.push(row);
    row = [];
  }
  const [keys, ...values] = rows;
  return values.map((cells) => Object.fromEntries(keys.map((key, i) => [key, cells[i]])));
}
