// SPDX-License-Identifier: Apache-2.0
//
// Bytes over time: one point per module, and their least-squares line. Pure functions.
import { dramBytes, type Trace } from "../data/trace";

export interface Point {
  module: number;
  /** GPU time, ns. */
  x: number;
  bytes: number;
  depth: number;
}

export interface Fit {
  /** log10 bytes = offset + slope · log10 ns, least squares. */
  offset: number;
  slope: number;
  /** Share of the variance that the line explains. */
  r2: number;
}

/** `level` 0: modules without children; otherwise modules of that depth. */
export function pointsOf(trace: Trace, of: "dram" | "l2", level: number): Point[] {
  const out: Point[] = [];
  trace.modules.forEach((row, module) => {
    const bytes = of === "dram" ? dramBytes(row) : row.l2_bytes;
    const shown = level === 0 ? trace.children[module]!.length === 0 : row.depth === level;
    if (shown && bytes !== undefined && bytes > 0 && row.gpu_ns !== undefined && row.gpu_ns > 0)
      out.push({ module, x: row.gpu_ns, bytes, depth: row.depth });
  });
  return out;
}

export function fitOf(points: readonly Point[]): Fit | undefined {
  if (points.length < 3) return undefined;
  const xs = points.map((point) => Math.log10(point.x));
  const ys = points.map((point) => Math.log10(point.bytes));
  const mean = (values: readonly number[]): number => values.reduce((sum, value) => sum + value, 0) / values.length;
  const mx = mean(xs);
  const my = mean(ys);
  let xx = 0;
  let xy = 0;
  let yy = 0;
  xs.forEach((x, i) => {
    xx += (x - mx) ** 2;
    xy += (x - mx) * (ys[i]! - my);
    yy += (ys[i]! - my) ** 2;
  });
  if (xx === 0 || yy === 0) return undefined;
  const slope = xy / xx;
  return { slope, offset: my - slope * mx, r2: (xy * xy) / (xx * yy) };
}

/** Bytes per second over all points. */
export function rateOf(points: readonly Point[]): number {
  const ns = points.reduce((sum, point) => sum + point.x, 0);
  return ns === 0 ? 0 : (points.reduce((sum, point) => sum + point.bytes, 0) / ns) * 1e9;
}

export const deepest = (trace: Trace): number => trace.modules.reduce((max, row) => Math.max(max, row.depth), 0);
