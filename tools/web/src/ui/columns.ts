// SPDX-License-Identifier: Apache-2.0
//
// Columns of a table: source and unit of a value.
import { unitText, type Unit } from "../data/numbers";

export interface TableColumn<Row> {
  /** Key of JSON and CSV, with the unit: "gpu_ns". */
  key: string;
  title: string;
  unit: Unit;
  width: number;
  /** Undefined: unknown or not measured, which is never 0. */
  value: (row: Row) => number | string | undefined;
  /** Shown instead of the value, if there is one. CSV and tips keep the value. */
  text?: (row: Row) => string | undefined;
  /** Share of the whole, 0 to 1, drawn as a bar behind the number. */
  bar?: (row: Row) => number | undefined;
  /** What the value means: the class of its cell. */
  tone?: (row: Row) => string | undefined;
  /** Tooltip of the title. */
  tip?: string;
  /** Where there is no room, the lowest is hidden first; undefined: it never is before one that has it. */
  importance?: number;
}

export function cellText<Row>(column: TableColumn<Row>, row: Row): string {
  const text = column.text?.(row);
  if (text !== undefined) return text;
  const value = column.value(row);
  if (value === undefined) return "";
  return typeof value === "number" ? unitText(value, column.unit) : value;
}

/** Exact value, for the tooltip of a cell. */
export function plainText<Row>(column: TableColumn<Row>, row: Row): string {
  const value = column.value(row);
  if (typeof value !== "number") return value ?? "not measured";
  const units: Partial<Record<Unit, string>> = { ns: " ns", bytes: " B", bytes_per_s: " B/s", percent: " %" };
  return value.toLocaleString("en-US", { maximumFractionDigits: 6 }) + (units[column.unit] ?? "");
}

/** Removes columns without any value. Always keeps the first. */
export const withValues = <Row>(columns: readonly TableColumn<Row>[], rows: readonly Row[]): TableColumn<Row>[] =>
  columns.filter((column, i) => i === 0 || rows.some((row) => column.value(row) !== undefined));
