// SPDX-License-Identifier: Apache-2.0
//
// The cells of a table: titles that sort, the first column with its tree, numbers with a bar behind them.
import type { JSX } from "preact";
import { cellText, plainText, type TableColumn } from "./columns";

export interface TreeOf<Row> {
  depth: (row: Row) => number;
  hasChildren: (row: Row) => boolean;
  folded: ReadonlySet<string>;
  fold: (key: string, folded: boolean) => void;
  /** Rows in order, children after their parents, without children of folded rows. */
  arrange: (sort: ((a: Row, b: Row) => number) | undefined) => Row[];
}

export interface Sorting {
  key: string | undefined;
  reversed: boolean;
}

export function Heads<Row>(props: {
  columns: readonly TableColumn<Row>[];
  sorting: Sorting;
  sort: (key: string) => void;
  grid: string;
}): JSX.Element {
  return (
    <div class="row head" role="row" style={{ gridTemplateColumns: props.grid }}>
      {props.columns.map((column) => {
        const active = props.sorting.key === column.key;
        const order = !active
          ? "none"
          : (column.unit === "text") !== props.sorting.reversed
            ? "ascending"
            : "descending";
        return (
          <div
            key={column.key}
            role="columnheader"
            aria-sort={order}
            class={column.unit === "text" ? "cell text" : "cell"}
          >
            <button type="button" onClick={() => props.sort(column.key)} title={column.tip ?? column.title}>
              {column.title}
              {active ? (props.sorting.reversed ? " ▴" : " ▾") : ""}
            </button>
          </div>
        );
      })}
    </div>
  );
}

export function FirstCell<Row>(props: {
  column: TableColumn<Row>;
  row: Row;
  rowKey: string;
  tree: TreeOf<Row> | undefined;
}): JSX.Element {
  const { tree, row, rowKey } = props;
  const text = cellText(props.column, row);
  const folds = tree !== undefined && tree.hasChildren(row);
  return (
    <div
      class={`cell ${props.column.unit === "text" ? "text" : ""}`}
      role="gridcell"
      title={String(props.column.value(row) ?? "").slice(0, 2000)}
      style={tree && { paddingLeft: `${6 + 14 * tree.depth(row)}px` }}
    >
      {tree !== undefined && (
        <span
          class="fold"
          aria-hidden="true"
          onClick={(event) => {
            event.stopPropagation();
            if (folds) tree.fold(rowKey, !tree.folded.has(rowKey));
          }}
        >
          {folds ? (tree.folded.has(rowKey) ? "▸" : "▾") : ""}
        </span>
      )}
      <bdi>{text.length > 2000 ? `${text.slice(0, 2000)}…` : text}</bdi>
    </div>
  );
}

export function Cell<Row>({ column, row }: { column: TableColumn<Row>; row: Row }): JSX.Element {
  const bar = column.bar?.(row);
  const text = cellText(column, row);
  return (
    <div
      class={column.unit === "text" ? "cell text" : "cell"}
      role="gridcell"
      title={column.unit === "text" ? text : plainText(column, row)}
    >
      {bar !== undefined && <span class="bar" style={{ width: `${Math.min(100, Math.max(0, bar * 100))}%` }} />}
      {column.unit === "text" ? <bdi>{text}</bdi> : <span>{text}</span>}
    </div>
  );
}
