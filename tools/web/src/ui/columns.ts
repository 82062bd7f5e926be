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
  /** Tooltip of the title. */
  tip?: string;
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

/** Largest numbers first, texts in alphabetical order, unknown values last. */
export function compare<Row>(column: TableColumn<Row>, reversed: boolean): (a: Row, b: Row) => number {
  const turn = reversed ? -1 : 1;
  return (a, b) => {
    const x = column.value(a);
    const y = column.value(b);
    if (x === undefined || y === undefined) return x === y ? 0 : x === undefined ? 1 : -1;
    if (typeof x === "number" && typeof y === "number") return turn * (y - x);
    return turn * String(x).localeCompare(String(y), "en");
  };
}

/** Removes columns without any value. Always keeps the first. */
export const withValues = <Row>(columns: readonly TableColumn<Row>[], rows: readonly Row[]): TableColumn<Row>[] =>
  columns.filter((column, i) => i === 0 || rows.some((row) => column.value(row) !== undefined));
