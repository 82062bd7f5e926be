// SPDX-License-Identifier: Apache-2.0
//
// The roofline: one point per module, the DRAM's line and the compute peaks. Pure functions.
//
//   FLOP/s │        ______ peak of a type
//          │      /
//          │    /   x      attained
//          │  / FLOP/byte * DRAM peak
//          └──────────── FLOP per DRAM byte
import { namedValue } from "../data/named";
import type { Trace } from "../data/trace";

export interface RooflinePoint {
  module: number;
  /** FLOP per DRAM byte. */
  x: number;
  /** FLOP/s. */
  y: number;
  /** The peak of the types that the module computes with, FLOP/s; undefined: unknown. */
  computeRoof?: number;
}

/** `level` 0: modules without children; otherwise modules of that depth. */
export function rooflinePoints(trace: Trace, level: number): RooflinePoint[] {
  const out: RooflinePoint[] = [];
  trace.modules.forEach((row, module) => {
    const shown = level === 0 ? trace.children[module]!.length === 0 : row.depth === level;
    const x = row.flop_per_dram_byte;
    const y = namedValue(row, "flops");
    if (!shown || x === undefined || x <= 0 || y === undefined || y <= 0) return;
    const { compute_peak_share: share } = row;
    out.push({ module, x, y, ...(share !== undefined && share > 0 ? { computeRoof: y / share } : {}) });
  });
  return out;
}

/** The lower roof of a point; undefined: one of them is unknown. */
export function roofOf(
  point: RooflinePoint,
  peakDram: number | undefined,
): { flops: number; is: "DRAM" | "compute" } | undefined {
  if (peakDram === undefined || point.computeRoof === undefined) return undefined;
  const memory = point.x * peakDram;
  return memory <= point.computeRoof ? { flops: memory, is: "DRAM" } : { flops: point.computeRoof, is: "compute" };
}

export interface Peak {
  title: string;
  flops: number;
}

/** Peaks closer than this cannot be distinguished in the plot. */
const kSame = 1.05;

/** Highest first; equal ones share a line. */
export function peakLines(peaks: Readonly<Record<string, number>>): Peak[] {
  const out: Peak[] = [];
  for (const [type, flops] of Object.entries(peaks).sort(([, a], [, b]) => b - a)) {
    const title = type.replace(/^[a-z]+/, (letters) => letters.toUpperCase()).replaceAll("_", " ");
    const last = out[out.length - 1];
    if (last !== undefined && last.flops < flops * kSame) last.title += `, ${title}`;
    else out.push({ title, flops });
  }
  return out;
}
