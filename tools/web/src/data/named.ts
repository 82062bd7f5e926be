// SPDX-License-Identifier: Apache-2.0
//
// Named metrics of modules and kernels: values in the rows, the table of metrics once in the page. Titles, units and
// meanings are those of profiler/metrics/named_metrics.h. Pure functions.
import { bytesText, flopText, percentText, threeDigits } from "./numbers";

export interface NamedMetric {
  /** Key in Named: "achieved_occupancy". */
  name: string;
  title: string;
  /** The title in a column. */
  column: string;
  unit: string;
  /** Also the metric set that measures it: "speed-of-light". */
  topic: string;
  /** Title, meaning, and whether more is better. */
  tip: string;
}

/** Values by name; of a throughput also the title of its busiest part, as NAME_part. */
export type Named = Record<string, number | string>;

/** A module or a kernel. */
export interface HasNamed {
  named?: Named;
  /** Metric sets with which not all kernels of a module were measured. Their values are not in `named`. */
  missing_sets?: string[];
}

export interface NamedTable {
  /** Those that a row of the page has. */
  metrics: readonly NamedMetric[];
  /** Of all metrics, measured or not. */
  topics: readonly string[];
}

export interface NamedValue {
  metric: NamedMetric;
  value: number;
  part?: string;
}

export function namedValue(row: HasNamed, name: string): number | undefined {
  const value = row.named?.[name];
  return typeof value === "number" ? value : undefined;
}

/** Values of a topic in the order of the table. */
export function valuesOf(table: NamedTable, row: HasNamed, topic: string): NamedValue[] {
  const out: NamedValue[] = [];
  for (const metric of table.metrics) {
    const value = metric.topic === topic ? namedValue(row, metric.name) : undefined;
    if (value === undefined) continue;
    const part = row.named?.[`${metric.name}_part`];
    out.push({ metric, value, ...(typeof part === "string" ? { part } : {}) });
  }
  return out;
}

export const largestFirst = (values: readonly NamedValue[]): NamedValue[] =>
  [...values].sort((a, b) => b.value - a.value);

/** Largest first, without stall_selected: a warp that issues is not stalled. */
export const stallsOf = (table: NamedTable, row: HasNamed): NamedValue[] =>
  largestFirst(valuesOf(table, row, "stalls").filter(({ metric }) => metric.name !== "stall_selected"));

/** Topics without any value. */
export const notMeasured = (table: NamedTable, row: HasNamed): string[] =>
  table.topics.filter((topic) => valuesOf(table, row, topic).length === 0);

/** The option of `rangefinder run` that measures topics. */
export const optionFor = (topics: readonly string[]): string => `--counters exact --metrics ${topics.join(",")}`;

export function namedText({ metric, value }: NamedValue): string {
  switch (metric.unit) {
    case "%":
      return percentText(value / 100);
    case "bytes":
      return bytesText(value);
    case "FLOP/s":
      return flopText(value);
    default:
      // Not "sectors per load: 4.00 sectors".
      return threeDigits(value) + (metric.title.includes(metric.unit) ? "" : ` ${metric.unit}`);
  }
}

/** What it means, and the busiest part. */
export const namedTip = ({ metric, part }: { metric: NamedMetric; part?: string }): string =>
  metric.tip + (part === undefined ? "" : ` Busiest part: ${part}.`);
