// SPDX-License-Identifier: Apache-2.0
//
// Columns as the data state them. Key, title, unit and meaning come from C++ (tools/page/page_columns.cpp), and so does
// the text of each cell that has a mark or no number.
import type { Unit } from "../data/numbers";
import { cellText, plainText, type TableColumn } from "./columns";
import type { Fact } from "./facts";

export interface StatedColumn {
  key: string;
  title: string;
  unit: Unit;
  tip?: string;
  importance?: number;
  /** Drawn behind the number: its share of the whole. */
  bar?: boolean;
}

/** Texts in place of the formatted values, by key of the column. */
export type Texts = Record<string, string>;

/** Values by key of the column. */
export interface StatedRow {
  texts?: Texts;
  [key: string]: number | string | boolean | Texts | undefined;
}

/** A table of the report. */
export interface StatedTable {
  columns: StatedColumn[];
  rows: StatedRow[];
  /** Lines that explain marks and texts. */
  remarks: string;
}

const kLetter = 8;
const kMargin = 28;
const kMinWidth = 84;
/** Of columns with long texts; others are as wide as their titles. */
const kWidths: Record<string, number> = {
  path: 220,
  name: 280,
  top_stall: 180,
  outlier: 140,
  quantity: 130,
  where: 240,
  trace: 240,
  executable: 160,
  started_unix_ms: 160,
};

/** `whole`: of a bar whose unit is no share. */
export function statedColumn<Row>(
  column: StatedColumn,
  value: (row: Row, key: string) => number | string | undefined,
  { texts, whole }: { texts?: (row: Row) => Texts | undefined; whole?: number } = {},
): TableColumn<Row> {
  const { bar, ...stated } = column;
  // A number in a column of texts is an identifier.
  const valueOf = (row: Row): number | string | undefined => {
    const one = value(row, column.key);
    return column.unit === "text" && one !== undefined ? String(one) : one;
  };
  const all = column.unit === "share" ? 1 : column.unit === "percent" ? 100 : Math.max(1, whole ?? 1);
  const shareOf = (row: Row): number | undefined => {
    const part = valueOf(row);
    return typeof part === "number" ? part / all : undefined;
  };
  return {
    ...stated,
    width: kWidths[column.key] ?? Math.max(kMinWidth, column.title.length * kLetter + kMargin),
    value: valueOf,
    text: (row) => texts?.(row)?.[column.key],
    ...(bar === true ? { bar: shareOf } : {}),
  };
}

/** A value of a row by the key of its column. */
function statedValue(row: StatedRow, key: string): number | string | undefined {
  const value = row[key];
  return typeof value === "number" || typeof value === "string" || value === undefined ? value : String(value);
}

/** A bar is a share of the column's largest value. */
export function tableColumns({ columns, rows }: StatedTable): TableColumn<StatedRow>[] {
  return columns.map((column) => {
    const whole = column.bar === true ? Math.max(...rows.map((row) => Number(row[column.key] ?? 0))) : 1;
    return statedColumn<StatedRow>(column, statedValue, { texts: (row) => row.texts, whole });
  });
}

/** Values of one row as a list, without those that are not known. */
export function statedFacts<Row extends { texts?: Texts }>(
  columns: readonly StatedColumn[],
  row: Row,
  value: (row: Row, key: string) => number | string | undefined,
): Fact[] {
  return columns.map((stated) => {
    const column = statedColumn(stated, value, { texts: (one: Row) => one.texts });
    return [column.title, cellText(column, row), plainText(column, row)];
  });
}
