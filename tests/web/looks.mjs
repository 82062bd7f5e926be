// SPDX-License-Identifier: Apache-2.0
//
// Checks of a page's appearance: contrast of text, overlapping elements, cut text.
// checkContrast and checkLayout run inside the page and return problems as sentences. And pictures of the page.
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

/** Opens pages with open({ scheme, width }), light and dark, at 1280 and 1920 px, and checks both. */
export async function checkLooks(open, name) {
  for (const scheme of ["light", "dark"]) {
    for (const width of [1280, 1920]) {
      const page = await open({ scheme, width });
      assert.deepEqual(await checkContrast(page), [], `${name} ${scheme}`);
      assert.deepEqual(await checkLayout(page), [], `${name} ${width}`);
      await page.close();
    }
  }
}

/** WCAG 2.1 AA: 4.5 to 1. WCAG exempts disabled controls too. */
const checkContrast = (page) =>
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
const checkLayout = (page) =>
  page.evaluate(() => {
    const out = [];
    if (document.documentElement.scrollWidth > innerWidth)
      out.push(`the page is ${document.documentElement.scrollWidth} px wide`);
    if (document.documentElement.scrollHeight > innerHeight + 1)
      out.push(`the page is ${document.documentElement.scrollHeight} px high`);
    for (const parent of document.querySelectorAll(
      ".top .line, .tabs, .selection, .tools, .view, .beside, .chips, .row.head, .hardware, .limit, .metric",
    )) {
      const boxes = [...parent.children]
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
