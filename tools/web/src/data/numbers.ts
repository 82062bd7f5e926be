// SPDX-License-Identifier: Apache-2.0
//
// Numbers as text, in the same form as on the command line (number_text.h).
//
//   4812 ─▶ "4,812"    48120000 ns ─▶ "48.1 ms"    8589934592 B ─▶ "8.59 GB"

/** Those of a Table in C++ (table.h), and FLOP/s. */
export type Unit =
  "text" | "count" | "ns" | "bytes" | "bytes_per_s" | "flop_per_s" | "share" | "percent" | "factor" | "number";

const grouped = new Intl.NumberFormat("en-US", { maximumFractionDigits: 0 });

/** With this number of decimals, as C++ rounds: toFixed() rounds a tie up, C++ to the even digit. */
function fixed(value: number, digits: number): string {
  const size = 10 ** digits;
  // Only multiples of 1/8 have ties at two decimals or fewer, and their products with 100 are exact.
  const isTie = Number.isInteger(value * 8) && Math.abs((value * size) % 1) === 0.5;
  return (isTie ? (2 * Math.round((value * size) / 2)) / size : value).toFixed(digits);
}

export const countText = (n: number): string => grouped.format(n);

/** Three significant digits: 4.81, 48.1, 481, 4,812. */
export function threeDigits(value: number): string {
  const size = Math.abs(value);
  if (size >= 999.5) return countText(Math.round(value));
  return fixed(value, size < 9.995 ? 2 : size < 99.95 ? 1 : 0);
}

function scaled(amount: number, units: readonly string[]): string {
  if (Math.abs(amount) < 1000) return `${Math.round(amount)} ${units[0]}`;
  let value = amount;
  let unit = 0;
  // 999.5 of a unit would be rounded to 1,000.
  while (Math.abs(value) >= 999.5 && unit + 1 < units.length) {
    value /= 1000;
    ++unit;
  }
  return `${threeDigits(value)} ${units[unit]}`;
}

export const durationText = (ns: number): string => scaled(ns, ["ns", "us", "ms", "s"]);
export const bytesText = (bytes: number): string => scaled(bytes, ["B", "kB", "MB", "GB", "TB", "PB"]);
export const flopText = (perSecond: number): string =>
  scaled(perSecond, ["FLOP/s", "kFLOP/s", "MFLOP/s", "GFLOP/s", "TFLOP/s", "PFLOP/s"]);
/** Always in GB/s, so that rows are comparable. */
export const rateText = (bytesPerSecond: number): string => `${threeDigits(bytesPerSecond / 1e9)} GB/s`;
export const percentText = (part: number): string => `${fixed(part * 100, 1)} %`;

/** A number without a unit: whole, or with two significant digits at least. */
export function plainNumber(value: number): string {
  if (Number.isInteger(value)) return countText(value);
  return Math.abs(value) < 1 ? value.toPrecision(2) : threeDigits(value);
}

export function unitText(value: number, unit: Unit): string {
  switch (unit) {
    case "ns":
      return durationText(value);
    case "bytes":
      return bytesText(value);
    case "bytes_per_s":
      return rateText(value);
    case "flop_per_s":
      return flopText(value);
    case "share":
      return percentText(value);
    case "percent":
      return percentText(value / 100);
    case "factor":
      return `${threeDigits(value)}x`;
    case "count":
      return countText(value);
    default:
      return threeDigits(value);
  }
}

/** A time on the axis, with the digits that `step` needs; `signed`: relative to another. */
export function axisText(ns: number, step: number, signed = false): string {
  const [size, unit] = step >= 1e8 ? [1e9, "s"] : step >= 1e3 ? [1e6, "ms"] : [1e3, "us"];
  const digits = Math.max(0, Math.min(3, Math.ceil(-Math.log10(step / size) - 1e-9)));
  const text = Math.abs(ns / size).toLocaleString("en-US", {
    minimumFractionDigits: digits,
    maximumFractionDigits: digits,
  });
  return `${ns < 0 ? "−" : signed && ns > 0 ? "+" : ""}${text} ${unit}`;
}
