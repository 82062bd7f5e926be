// SPDX-License-Identifier: Apache-2.0
//
// The comparison of the page's two traces: what `rangefinder diff --json --all` prints. The page computes nothing of it.
import type { Unit } from "./numbers";

export interface DiffRow {
  /** Of a module or a call; of a kernel; neither: the iteration. */
  path?: string;
  name?: string;
  quantity: string;
  a?: number;
  b?: number;
  difference?: number;
  relative?: number;
  /** Half the 95 % confidence interval of `relative`. */
  relative_interval?: number;
  p?: number;
  n_a?: number;
  n_b?: number;
  verdict: string;
  where?: string;
}

export interface DiffSide {
  trace: string;
  iteration_path: string;
  iterations: number;
  counters: string;
  batches: number;
}

export const kDiffTables = ["iteration", "modules", "kernels", "calls"] as const;
export type DiffTable = (typeof kDiffTables)[number];

export interface Diff extends Record<Exclude<DiffTable, "calls">, DiffRow[]> {
  a: DiffSide;
  b: DiffSide;
  differences: string[];
  verdict: { result: string; text: string };
  calls?: DiffRow[];
}

export const unitOf = (quantity: string): Unit =>
  quantity.endsWith("_ns") ? "ns" : quantity.endsWith("_bytes") ? "bytes" : "count";

/** "gpu_idle_launch_ns" as "GPU idle launch". */
export const quantityText = (quantity: string): string =>
  quantity
    .replace(/_(ns|bytes)$/, "")
    .replaceAll("_", " ")
    .replace(/\b(gpu|dram|l2)\b/g, (word) => word.toUpperCase());

export const isChange = (row: DiffRow): boolean => !["same", "untested", "unclear", "too few"].includes(row.verdict);
