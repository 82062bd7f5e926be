// SPDX-License-Identifier: Apache-2.0
//
// Checks of a page's appearance: contrast of text, overlapping elements, cut text, what the keyboard reaches.
// They run inside the page and return problems as sentences. And pictures of the page.
import assert from "node:assert/strict";
import { join } from "node:path";

const shots = process.env.RANGEFINDER_TEST_SHOTS;
export const keepsShots = shots !== undefined;

/** With RANGEFINDER_TEST_SHOTS=DIR: pictures at 1280 and 1920 px, light and dark. */
export async function keepShots(page, name) {
  if (!keepsShots) return;
  for (const width of [1280, 1920]) {
    for (const colorScheme of ["light", "dark"]) {
      await page.setViewportSize({ width, height: width === 1280 ? 800 : 1080 });
      await page.emulateMedia({ colorScheme });
      await page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))));
      await page.screenshot({ path: join(shots, `${name}-${width}-${colorScheme}.png`) });
    }
  }
}

/** Opens a page with open({ scheme, width }), light and narrow, dark and wide, and checks both. */
export async function checkLooks(open, name) {
  for (const [scheme, width] of [
    ["light", 1280],
    ["dark", 1920],
  ]) {
    const page = await open({ scheme, width });
    await checkShown(page, `${name} ${scheme} ${width}`);
    await page.close();
  }
}

/** Contrast, layout, cut text and columns beyond the edge as shown now. */
export async function checkShown(page, name) {
  assert.deepEqual(await checkEdges(page), [], name);
  assert.deepEqual(await checkContrast(page), [], name);
  assert.deepEqual(await checkLayout(page), [], name);
  assert.deepEqual(await checkClipped(page), [], name);
}

/** A table with columns beyond its right edge says so, and one with hidden columns names them. */
export const checkEdges = (page) =>
  page.evaluate(() =>
    [...document.querySelectorAll("section.table")].flatMap((table) => {
      const { scrollWidth, clientWidth } = table.querySelector(".scroll");
      const out = [];
      if (
        scrollWidth > clientWidth + 1 &&
        !/columns? to the right/.test(table.querySelector("[role=status]").textContent)
      )
        out.push(`${table.ariaLabel} has columns beyond its edge`);
      const isCounted = /hidden/.test(table.querySelector("summary")?.textContent ?? "");
      if (isCounted !== /Hidden columns: ./.test(table.querySelector(".note").textContent))
        out.push(`${table.ariaLabel} does not name its hidden columns`);
      return out;
    }),
  );

/** WCAG 2.1 AA: 4.5 to 1. WCAG exempts disabled controls too. */
export const checkContrast = (page) =>
  page.evaluate(() => {
    const numbers = (color) => (color.match(/[\d.]+/g) ?? []).map(Number);
    const luminance = ([r, g, b]) => {
      const linear = (value) => ((value /= 255) <= 0.03928 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4);
      return 0.2126 * linear(r) + 0.7152 * linear(g) + 0.0722 * linear(b);
    };
    const ground = (element) => {
      for (let at = element; at !== null; at = at.parentElement) {
        const [r, g, b, alpha = 1] = numbers(getComputedStyle(at).backgroundColor);
        if (alpha > 0.5) return [r, g, b];
      }
      return [255, 255, 255];
    };
    const out = new Set();
    for (const element of document.querySelectorAll("#page *")) {
      const own = [...element.childNodes].some((node) => node.nodeType === 3 && node.textContent.trim() !== "");
      if (
        !own ||
        element.disabled ||
        element.closest("label")?.querySelector(":disabled") ||
        element.getClientRects().length === 0
      )
        continue;
      const [a, b] = [luminance(numbers(getComputedStyle(element).color)), luminance(ground(element))];
      const ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
      if (ratio < 4.5) out.add(`${element.tagName}.${element.className}: ${ratio.toFixed(2)} to 1`);
    }
    return [...out];
  });

/** Neighbours in bars and columns must not overlap. The page itself must not scroll. */
export const checkLayout = (page) =>
  page.evaluate(() => {
    const out = [];
    if (document.documentElement.scrollWidth > innerWidth)
      out.push(`the page is ${document.documentElement.scrollWidth} px wide`);
    // On a phone the page scrolls.
    if (innerWidth > 700 && document.documentElement.scrollHeight > innerHeight + 1)
      out.push(`the page is ${document.documentElement.scrollHeight} px high`);
    for (const parent of document.querySelectorAll(
      ".top .line, .tabs, .selection, .tools, .view, .beside, .chips, .row.head, .hardware, .limit, .metric",
    )) {
      const boxes = [...parent.children]
        // The sheet of a phone lies over the page.
        .filter((child) => getComputedStyle(child).position !== "fixed")
        .map((child) => [child, child.getBoundingClientRect()])
        .filter(([, box]) => box.width > 0 && box.height > 0);
      boxes.forEach(([one, a], i) => {
        for (const [other, b] of boxes.slice(i + 1)) {
          const wide = Math.min(a.right, b.right) - Math.max(a.left, b.left);
          const high = Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top);
          if (wide > 1.5 && high > 1.5)
            out.push(
              `${one.className || one.tagName} and ${other.className || other.tagName} overlap in ${parent.className}`,
            );
        }
      });
    }
    for (const button of document.querySelectorAll(
      ".tools button, .tabs button, .chips button, .ways button, .row.head button, .top .name",
    )) {
      if (button.scrollWidth > button.clientWidth + 1) out.push(`"${button.textContent}" is cut`);
    }
    return out;
  });

/**
 * Text that leaves its box and cannot be scrolled to, or is cut without an ellipsis. A cut text with an ellipsis needs a
 * title, or is a cell of a table, which has its row's details.
 */
export const checkClipped = (page) =>
  page.evaluate(() => {
    const out = new Set();
    const nameOf = (element) => `${element.tagName.toLowerCase()}.${String(element.className).replaceAll(" ", ".")}`;
    const hides = (style) => ["hidden", "clip"].includes(style.overflowX);
    const scrolls = (style) => ["auto", "scroll"].includes(style.overflowX);
    const texts = document.createTreeWalker(document.querySelector("#page"), NodeFilter.SHOW_TEXT);
    for (let node = texts.nextNode(); node !== null; node = texts.nextNode()) {
      if (node.textContent.trim() === "") continue;
      const own = node.parentElement;
      if (!own.checkVisibility({ visibilityProperty: true }) || own.closest("option, .offscreen, .u-legend")) continue;
      const range = document.createRange();
      range.selectNodeContents(node);
      const text = range.getBoundingClientRect();
      if (text.width === 0) continue;
      const place = own.getBoundingClientRect();
      const { display, overflowX } = getComputedStyle(own);
      if (!display.startsWith("inline") && overflowX === "visible" && text.right > place.right + 1.5)
        out.add(`"${node.textContent.slice(0, 40)}" leaves ${nameOf(own)}`);
      for (let box = own; ; box = box.parentElement) {
        const style = getComputedStyle(box);
        const bounds = box === document.body ? { left: 0, right: innerWidth } : box.getBoundingClientRect();
        const isCut = text.right > bounds.right + 1.5 || text.left < bounds.left - 1.5;
        if (box !== document.body && (!hides(style) || !isCut) && !scrolls(style)) continue;
        if (isCut && !scrolls(style)) {
          const isKnown = box.closest("[title], [role=gridcell], [role=columnheader], .flame") !== null;
          if (style.textOverflow !== "ellipsis" || !isKnown)
            out.add(`"${node.textContent.slice(0, 40)}" is cut by ${nameOf(box)}`);
        }
        break;
      }
    }
    return [...out].slice(0, 12);
  });

/** Everything that a click uses gets the focus by Tab, or is in a group with arrow keys. */
export async function checkReach(page) {
  await page.evaluate(() => {
    window.reached = new Set();
    document.addEventListener("focusin", (event) => window.reached.add(event.target));
    document.activeElement?.blur();
  });
  const most = await page.evaluate(() => document.querySelectorAll("#page *").length);
  for (let i = 0; i < Math.min(most, 400); ++i) {
    await page.keyboard.press("Tab");
    if (i > 0 && (await page.evaluate(() => document.activeElement === document.body))) break;
  }
  return page.evaluate(() => {
    const wanted = "button, a[href], input, select, summary, [tabindex]";
    const missed = [...document.querySelectorAll("#page :is(" + wanted + ")")].filter(
      (one) =>
        !window.reached.has(one) &&
        !one.disabled &&
        one.checkVisibility() &&
        // Tabs have arrow keys, titles of columns are beside a table with keys, calls of a flame graph are many.
        one.closest("[role=tablist], .flame-rows") === null,
    );
    return [...new Set(missed.map((one) => `Tab does not reach ${one.tagName} "${one.textContent.slice(0, 30)}"`))];
  });
}
