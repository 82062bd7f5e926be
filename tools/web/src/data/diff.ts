// SPDX-License-Identifier: Apache-2.0
//
// The comparison of the page's two traces: what `rangefinder diff --json --all` prints, worst first, with columns and
// texts. The page computes nothing of it.
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
  /** What the verdict means; absent: no change, or none that is known. */
  tone?: "worse" | "better" | "changed";
  where?: string;
  texts?: Texts;
}

export const kDiffTables = ["iteration", "modules", "kernels", "metrics", "calls"] as const;
export type DiffTable = (typeof kDiffTables)[number];

export interface Diff extends Record<Exclude<DiffTable, "metrics" | "calls">, DiffRow[]> {
  /** How the runs differ: GPU, clocks, program, arguments, … */
  set_ups?: string;
  /** How many times as fast B is. */
  ratios?: { text: string };
  verdict: { result: string; text: string };
  metrics?: DiffRow[];
  calls?: DiffRow[];
  columns: Partial<Record<DiffTable, StatedColumn[]>>;
  /** What A and B are, and what the tables mean: lines of `rangefinder diff`. */
  sides: string;
  explanation: string;
}
