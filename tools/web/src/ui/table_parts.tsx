// SPDX-License-Identifier: Apache-2.0
//
// Parts of a table: titles that sort and resize, cells with a bar below the number, the choice of columns.
import type { JSX } from "preact";
import type { Header, Row } from "@tanstack/preact-table";
import { cellText, plainText, type TableColumn } from "./columns";
import type { features } from "./table";

export function Head<Of extends object>(props: {
  header: Header<typeof features, Of>;
  stated: TableColumn<Of>;
}): JSX.Element {
  const { header, stated } = props;
  const { column } = header;
  const sorted = column.getIsSorted();
  const arrow = sorted === false ? "" : (sorted === "asc") === (stated.unit === "text") ? " ▾" : " ▴";
  return (
    <div
      role="columnheader"
      aria-sort={sorted === false ? "none" : sorted === "asc" ? "ascending" : "descending"}
      class={stated.unit === "text" ? "cell text" : "cell"}
    >
      <button type="button" onClick={() => column.toggleSorting()} title={stated.tip ?? stated.title}>
        {stated.title}
        {arrow}
      </button>
      <span
        class="grip"
        aria-hidden="true"
        title="Drag to resize, double click for the width as it was"
        onMouseDown={header.getResizeHandler()}
        onTouchStart={header.getResizeHandler()}
        onDblClick={() => column.resetSize()}
      />
    </div>
  );
}

export const kIndent = 14;
const kLongest = 2000;
/** Their end tells more than their beginning. */
const kPaths = ["path", "where", "trace"];

/** `fold`: of the first column of a tree. */
export function Cell<Of extends object>(props: {
  column: TableColumn<Of>;
  row: Of;
  fold?: Row<typeof features, Of>;
}): JSX.Element {
  const { column, row, fold } = props;
  const bar = column.bar?.(row);
  const text = cellText(column, row);
  const isText = column.unit === "text";
  return (
    <div
      class={`cell ${isText ? "text" : ""} ${isText && fold === undefined && kPaths.includes(column.key) ? "path" : ""} ${column.tone?.(row) ?? ""}`}
      role="gridcell"
      title={plainText(column, row).slice(0, kLongest)}
      {...(fold !== undefined && { style: { paddingLeft: `${6 + kIndent * fold.depth}px` } })}
    >
      {fold !== undefined && (
        <span
          class="fold"
          aria-hidden="true"
          onClick={(event) => {
            event.stopPropagation();
            fold.toggleExpanded();
          }}
        >
          {fold.getCanExpand() ? (fold.getIsExpanded() ? "▾" : "▸") : ""}
        </span>
      )}
      {bar !== undefined && bar > 0.005 && (
        <span class="bar" style={{ width: `${Math.min(100, Math.max(0, bar * 100))}%` }} />
      )}
      {isText ? <bdi>{text.length > kLongest ? `${text.slice(0, kLongest)}…` : text}</bdi> : <span>{text}</span>}
    </div>
  );
}

/** `show(undefined)`: as many columns as fit. */
export function ColumnMenu<Of>(props: {
  columns: readonly TableColumn<Of>[];
  shown: readonly string[];
  fits: boolean;
  show: (keys: string[] | undefined) => void;
}): JSX.Element {
  const keys = props.columns.map(({ key }) => key).filter((key) => props.shown.includes(key));
  const hidden = props.columns.length - keys.length;
  return (
    <details class="menu" onKeyDown={(event) => event.key === "Escape" && (event.currentTarget.open = false)}>
      <summary>{hidden === 0 ? "Columns" : `${hidden} ${hidden === 1 ? "column" : "columns"} hidden`}</summary>
      <div>
        {props.columns.map(({ key, title }) => (
          <label key={key} class="check">
            <input
              type="checkbox"
              checked={keys.includes(key)}
              disabled={keys.length === 1 && keys[0] === key}
              onChange={() => props.show(keys.includes(key) ? keys.filter((one) => one !== key) : [...keys, key])}
            />{" "}
            {title}
          </label>
        ))}
        <button type="button" disabled={props.fits} onClick={() => props.show(undefined)}>
          As many as fit
        </button>
      </div>
    </details>
  );
}
