// SPDX-License-Identifier: Apache-2.0
//
// Colours for canvases, which cannot use CSS: read from the page's custom properties, and again when the
// preferred or chosen theme changes.
import { useEffect, useState } from "preact/hooks";
import type { ShownLayer } from "./data/overview";

export interface Theme {
  text: string;
  dim: string;
  line: string;
  panel: string;
  page: string;
  accent: string;
  warn: string;
  unknown: string;
  dark: boolean;
  /** Ten distinct colours for names. */
  names: string[];
  /** Colour of text on them. */
  onNames: string;
}

/** Hues of limitColor(). */
const kLimits = 4;

export const kChoices = ["auto", "light", "dark"] as const;
export type Choice = (typeof kChoices)[number];

function read(): Theme {
  const style = getComputedStyle(document.documentElement);
  const of = (name: string): string => style.getPropertyValue(`--${name}`).trim();
  return {
    text: of("text"),
    dim: of("dim"),
    line: of("line"),
    panel: of("panel"),
    page: of("page"),
    accent: of("accent"),
    warn: of("warn"),
    unknown: of("unknown"),
    dark: of("dark") === "1",
    onNames: of("on-names"),
    names: Array.from({ length: 10 }, (_, i) => of(`name-${i}`)),
  };
}

let theme: Theme | undefined;
const listeners = new Set<() => void>();
export const currentTheme = (): Theme => (theme ??= read());

export function chooseTheme(choice: Choice): void {
  if (choice === "auto") delete document.documentElement.dataset["theme"];
  else document.documentElement.dataset["theme"] = choice;
  again();
}

function again(): void {
  theme = read();
  for (const listener of [...listeners]) listener();
}

export function startTheme(): void {
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", again);
  // Paper is white, also with a dark theme.
  matchMedia("print").addEventListener("change", again);
}

export function useTheme(): Theme {
  const [seen, see] = useState(currentTheme);
  useEffect(() => {
    const listener = (): void => see(currentTheme());
    listeners.add(listener);
    return () => void listeners.delete(listener);
  }, []);
  return seen;
}

function hashOf(text: string): number {
  let hash = 2166136261;
  for (let i = 0; i < text.length && i < 400; ++i) hash = Math.imul(hash ^ text.charCodeAt(i), 16777619);
  return (hash ^ (hash >>> 15)) >>> 0;
}

export const nameColor = (of: Theme, text: string): string => of.names[hashOf(text) % of.names.length] ?? of.unknown;

const channels = (hex: string): number[] => [1, 3, 5].map((at) => parseInt(hex.slice(at, at + 2), 16));

/** `part` of `other` in a colour: both as #rrggbb. */
export function mixed(color: string, other: string, part: number): string {
  const [a, b] = [channels(color), channels(other)];
  return `#${a
    .map((value, i) =>
      Math.round(value + (b[i]! - value) * part)
        .toString(16)
        .padStart(2, "0"),
    )
    .join("")}`;
}

/**
 * Hue by the name of the family, or the next free one: the heaviest choose first, so that two traces agree. The first
 * hues are those of what limits kernels, so they come last. Lightness by number in the family.
 */
export function layerColors(of: Theme, layers: readonly ShownLayer[]): string[] {
  const weights = new Map<number, number>();
  for (const { family, gpu_ns } of layers) weights.set(family, (weights.get(family) ?? 0) + gpu_ns);
  const hues = new Map<number, number>();
  const taken = new Set<number>();
  for (const [family] of [...weights].sort((a, b) => b[1] - a[1])) {
    const name = layers.find((one) => one.family === family)!.path.replace(/\d+/g, "*");
    let hue = kLimits + (hashOf(name) % (of.names.length - kLimits));
    while (taken.size < of.names.length && taken.has(hue)) hue = (hue + 1) % of.names.length;
    hues.set(family, hue);
    taken.add(hue);
  }
  return layers.map(({ family, member, members }) => {
    const place = members > 1 ? member / (members - 1) - 0.5 : 0;
    return mixed(of.names[hues.get(family)!] ?? of.unknown, place < 0 ? "#ffffff" : "#000000", Math.abs(place) * 0.5);
  });
}

/** A hue for each number, neighbours far apart: the golden angle. Text has the colour of the page's. */
export const hueColor = (of: Theme, number: number, pale: boolean): string =>
  `oklch(${of.dark ? (pale ? 0.33 : 0.45) : pale ? 0.93 : 0.84} ${pale ? 0.04 : 0.09} ${(number * 137.508) % 360})`;
