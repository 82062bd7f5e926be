// SPDX-License-Identifier: Apache-2.0
//
// GPU time over bytes at one depth, as `report --section modules --fit` computes it. Pure functions; no fit is
// computed here.
import { unitText } from "../data/numbers";
import type { ByteFit } from "../data/rows";

export type Level = "dram" | "l2";
export const kLevels: readonly Level[] = ["dram", "l2"];
export const levelTitle: Record<Level, string> = { dram: "DRAM", l2: "L2" };

export interface FitPoint {
  /** Index in the trace's modules. */
  module: number;
  /** A call. */
  bytes: number;
  ns: number;
  far: boolean;
}

/** The row of that depth; by default the one with the most modules. */
export function fitAt(fits: readonly ByteFit[], depth: number): ByteFit | undefined {
  const most = (a: ByteFit, b: ByteFit): ByteFit => (b.modules > a.modules ? b : a);
  return fits.find((fit) => fit.depth === depth) ?? (fits.length === 0 ? undefined : fits.reduce(most));
}

export function fitPoints(fit: ByteFit, level: Level): FitPoint[] {
  const { points } = fit;
  return points.module.map((module, i) => ({
    module,
    bytes: points[`${level}_bytes`][i]!,
    ns: points.ns[i]!,
    far: points[`${level}_far`][i]!,
  }));
}

/** Time at `bytes` on the fitted line; undefined: there is no line, because all times or bytes are equal. */
export function lineAt(fit: ByteFit, level: Level): ((bytes: number) => number) | undefined {
  const slope = fit[`${level}_us_per_mb`];
  const intercept = fit[`${level}_intercept_ns`];
  if (slope === undefined || intercept === undefined) return undefined;
  return (bytes) => intercept + (slope / 1e3) * bytes;
}

/** "r 0.97, 1.2 us per MB, 3 outliers" */
export function lineText(fit: ByteFit, level: Level): string {
  const r = fit[`${level}_r`];
  const slope = fit[`${level}_us_per_mb`];
  if (r === undefined || slope === undefined) return "no line: all times or all bytes are equal";
  const far = fit[`${level}_outliers`] ?? 0;
  const sign = (value: number): string => (value < 0 ? "-" : "") + unitText(Math.abs(value), "number");
  return `r ${sign(r)}, ${sign(slope)} us per MB, ${far} ${far === 1 ? "outlier" : "outliers"}`;
}
