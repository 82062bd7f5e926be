// SPDX-License-Identifier: Apache-2.0
//
// The comparison of the page's two traces: what `rangefinder diff --json --all` prints, with columns and texts. The page
// computes nothing of it.
import type { StatedColumn, Texts } from "../ui/stated_columns";

export interface DiffRow {
  /** Of a module or a call; of a kernel; neither: the iteration. */
  path?: string;
  name?: string;
  quantity?: string;
  /** Of the table of metrics, in place of `quantity`. */
  metric?: string;
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
  texts?: Texts;
}

export interface DiffSide {
  trace: string;
  iteration_path: string;
  iterations: number;
  counters: string;
  batches: number;
}

export const kDiffTables = ["iteration", "modules", "kernels", "metrics", "calls"] as const;
export type DiffTable = (typeof kDiffTables)[number];

export interface Diff extends Record<Exclude<DiffTable, "metrics" | "calls">, DiffRow[]> {
  a: DiffSide;
  b: DiffSide;
  /** How the runs differ: GPU, clocks, program, arguments, … */
  set_ups?: string;
  /** How many times as fast B is. */
  ratios?: { text: string };
  verdict: { result: string; text: string };
  metrics?: DiffRow[];
  calls?: DiffRow[];
  columns: Partial<Record<DiffTable, StatedColumn[]>>;
}

export const isChange = (row: DiffRow): boolean =>
  !["same", "untested", "unclear", "too few", "fused"].includes(row.verdict);
