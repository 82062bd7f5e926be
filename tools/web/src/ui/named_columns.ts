// SPDX-License-Identifier: Apache-2.0
//
// Columns of named metrics, for the tables of modules and kernels: the most useful first, of the stalls the largest.
import { namedText, namedTip, namedValue, stallsOf, type HasNamed, type NamedTable } from "../data/named";
import { threeDigits } from "../data/numbers";
import type { TableColumn } from "./columns";

const kLetter = 8;
const kMargin = 28;

/** Visible in a narrow window. */
const kFirst = ["compute_throughput", "memory_throughput", "achieved_occupancy", "tensor_pipe"];

const capital = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);

/** `of`: the row's values; undefined: it has none. */
export function namedColumns<Row>(table: NamedTable, of: (row: Row) => HasNamed | undefined): TableColumn<Row>[] {
  const topStall = (row: Row) => stallsOf(table, of(row) ?? {})[0];
  const columns = table.metrics
    .filter((metric) => metric.topic !== "stalls")
    .map((metric): TableColumn<Row> => {
      const value = (row: Row): number | undefined => namedValue(of(row) ?? {}, metric.name);
      const isShare = metric.unit === "%";
      const hasText = isShare || metric.unit === "bytes" || metric.unit === "FLOP/s";
      return {
        key: metric.name,
        title: capital(metric.column),
        unit: isShare ? "percent" : "number",
        width: Math.max(84, metric.column.length * kLetter + kMargin),
        value,
        text: (row) => {
          const known = value(row);
          return known === undefined ? "" : hasText ? namedText({ metric, value: known }) : threeDigits(known);
        },
        tip: namedTip({ metric }),
        ...(isShare ? { bar: (row: Row) => (value(row) ?? 0) / 100 } : {}),
      };
    });
  const stall: TableColumn<Row> = {
    key: "top_stall",
    title: "Top stall",
    unit: "text",
    width: 180,
    value: (row) => topStall(row)?.metric.name,
    text: (row) => {
      const top = topStall(row);
      return top === undefined ? "" : `${top.metric.title} ${namedText(top)}`;
    },
    tip: "Largest stall reason",
  };
  const isFirst = ({ key }: TableColumn<Row>): boolean => kFirst.includes(key);
  return [...columns.filter(isFirst), stall, ...columns.filter((column) => !isFirst(column))];
}
