// SPDX-License-Identifier: Apache-2.0
//
// A table of many rows: sort by a click on a title, search, move with the arrow keys, copy as CSV.
//
// Only visible rows are elements, except for printing. A tree indents its first column and can fold; sorting
// keeps children below their parents. Names are always text nodes, never HTML.
import type { ComponentChildren, JSX } from "preact";
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { update, useStore } from "../state";
import { compare, withValues, type TableColumn } from "./columns";
import { copyText, csvOf } from "./csv";
import { Cell, FirstCell, Heads, type Sorting, type TreeOf } from "./table_cells";

export type { TreeOf };

const kRow = 24;
const kPrinted = 400;

export interface TableProps<Row> {
  label: string;
  columns: readonly TableColumn<Row>[];
  rows: readonly Row[];
  keyOf: (row: Row) => string;
  selected: string | undefined;
  select: (row: Row) => void;
  open?: (row: Row) => void;
  tree?: TreeOf<Row>;
  sort?: string;
  /** The link holds the order and the text to find: for the one table of a view. */
  linked?: boolean;
  /** Text for the search; undefined: no search. */
  search?: (row: Row) => string;
  tools?: ComponentChildren;
  note?: ComponentChildren;
}

/** Height and scroll position of the visible part. */
function useScroll(): { box: { current: HTMLDivElement | null }; top: number; height: number; onScroll: () => void } {
  const box = useRef<HTMLDivElement>(null);
  const [seen, see] = useState({ top: 0, height: 600 });
  const onScroll = (): void => {
    if (box.current !== null) see({ top: box.current.scrollTop, height: box.current.clientHeight });
  };
  useEffect(() => {
    onScroll();
    const observer = new ResizeObserver(onScroll);
    if (box.current !== null) observer.observe(box.current);
    return () => observer.disconnect();
  }, []);
  return { box, ...seen, onScroll };
}

function usePrinting(): boolean {
  const [printing, print] = useState(false);
  useEffect(() => {
    const query = matchMedia("print");
    const listener = (): void => print(query.matches);
    query.addEventListener("change", listener);
    return () => query.removeEventListener("change", listener);
  }, []);
  return printing;
}

interface Order {
  sorting: Sorting;
  setSorting: (sorting: Sorting) => void;
  wanted: string;
  want: (text: string) => void;
}

/** Order and text to find, in the link or of the table alone. */
function useOrder({ sort, linked }: { sort?: string | undefined; linked?: boolean | undefined }): Order {
  const state = useStore();
  const [sorting, setSorting] = useState<Sorting>({ key: sort, reversed: false });
  const [wanted, want] = useState("");
  if (linked !== true) return { sorting, setSorting, wanted, want };
  const { sort: text, find } = state;
  return {
    sorting:
      text === undefined ? { key: sort, reversed: false } : { key: text.replace(/^-/, ""), reversed: text[0] === "-" },
    setSorting: ({ key, reversed }) => update({ sort: key === undefined ? "" : `${reversed ? "-" : ""}${key}` }),
    wanted: find ?? "",
    want: (one) => update({ find: one === "" ? undefined : one }),
  };
}

export function Table<Row>(props: TableProps<Row>): JSX.Element {
  const { sorting, setSorting, wanted, want } = useOrder(props);
  const [copied, setCopied] = useState("");
  const scroll = useScroll();
  const printing = usePrinting();
  const columns = useMemo(() => withValues(props.columns, props.rows), [props.columns, props.rows]);
  const words = wanted.toLowerCase();
  const rows = useMemo(() => {
    const column = columns.find((one) => one.key === sorting.key);
    const order = column && compare(column, sorting.reversed);
    if (props.tree !== undefined && words === "") return props.tree.arrange(order);
    const found =
      words === "" ? [...props.rows] : props.rows.filter((row) => props.search?.(row).toLowerCase().includes(words));
    return order === undefined ? found : found.sort(order);
  }, [props.rows, props.tree, columns, sorting.key, sorting.reversed, words]);
  const place = rows.findIndex((row) => props.keyOf(row) === props.selected);
  const show = (at: number): void => {
    const element = scroll.box.current;
    if (element === null || at < 0) return;
    const room = element.clientHeight - kRow;
    if (at * kRow < element.scrollTop) element.scrollTop = at * kRow;
    else if (at * kRow > element.scrollTop + room - kRow) element.scrollTop = at * kRow - room + kRow;
  };
  useEffect(() => show(place), [props.selected, rows.length]);

  const go = (at: number): void => {
    const row = rows[Math.max(0, Math.min(rows.length - 1, at))];
    if (row !== undefined) props.select(row);
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    const page = Math.max(1, Math.floor(scroll.height / kRow) - 2);
    const steps: Record<string, number> = {
      ArrowDown: place + 1,
      ArrowUp: place - 1,
      PageDown: place + page,
      PageUp: place - page,
      Home: 0,
      End: rows.length - 1,
    };
    const row = rows[place];
    if (event.key in steps) go(steps[event.key]!);
    else if (row !== undefined && props.tree !== undefined && event.key === "ArrowLeft")
      props.tree.fold(props.keyOf(row), true);
    else if (row !== undefined && props.tree !== undefined && event.key === "ArrowRight")
      props.tree.fold(props.keyOf(row), false);
    else if (row !== undefined && event.key === "Enter") props.open?.(row);
    else return;
    event.preventDefault();
  };
  const copy = async (): Promise<void> => {
    const done = await copyText(csvOf(columns, rows));
    setCopied(done ? `${rows.length} rows copied` : "The browser denied access to the clipboard");
    window.setTimeout(() => setCopied(""), 2500);
  };

  const first = printing ? 0 : Math.max(0, Math.floor(scroll.top / kRow) - 4);
  const last = printing
    ? Math.min(rows.length, kPrinted)
    : Math.min(rows.length, Math.ceil((scroll.top + scroll.height) / kRow) + 4);
  const grid = columns.map((column, i) => (i === 0 ? `minmax(${column.width}px, 1fr)` : `${column.width}px`)).join(" ");
  const width = columns.reduce((sum, column) => sum + column.width, 0);
  return (
    <section class="table" aria-label={props.label}>
      <div class="tools">
        {props.search !== undefined && (
          <input
            type="search"
            placeholder="Search"
            aria-label={`Search in ${props.label}`}
            value={wanted}
            onInput={(event) => want(event.currentTarget.value)}
          />
        )}
        {props.tools}
        <span class="fill" />
        <span class="dim" role="status">
          {copied !== "" ? copied : `${rows.length.toLocaleString("en-US")} rows`}
        </span>
        <button type="button" onClick={() => void copy()}>
          Copy CSV
        </button>
      </div>
      <div
        class="scroll"
        ref={scroll.box}
        onScroll={scroll.onScroll}
        onKeyDown={onKeyDown}
        tabIndex={0}
        role={props.tree ? "treegrid" : "grid"}
        aria-rowcount={rows.length}
        aria-label={props.label}
      >
        <div class="sheet" style={{ minWidth: `${width}px` }}>
          <Heads
            columns={columns}
            sorting={sorting}
            grid={grid}
            sort={(key) =>
              setSorting(
                sorting.key !== key
                  ? { key, reversed: false }
                  : sorting.reversed && props.tree !== undefined
                    ? { key: undefined, reversed: false }
                    : { key, reversed: !sorting.reversed },
              )
            }
          />
          <div class="body" style={printing ? {} : { height: `${rows.length * kRow}px` }}>
            {rows.slice(first, last).map((row, i) => {
              const key = props.keyOf(row);
              return (
                <div
                  key={key}
                  role="row"
                  aria-rowindex={first + i + 1}
                  aria-selected={key === props.selected}
                  class={key === props.selected ? "row selected" : "row"}
                  style={
                    printing
                      ? { gridTemplateColumns: grid }
                      : { gridTemplateColumns: grid, top: `${(first + i) * kRow}px` }
                  }
                  onClick={() => props.select(row)}
                  onDblClick={() => props.open?.(row)}
                >
                  {columns.map((column, at) =>
                    at === 0 ? (
                      <FirstCell
                        key={column.key}
                        column={column}
                        row={row}
                        rowKey={key}
                        tree={words === "" ? props.tree : undefined}
                      />
                    ) : (
                      <Cell key={column.key} column={column} row={row} />
                    ),
                  )}
                </div>
              );
            })}
          </div>
        </div>
      </div>
      {props.note !== undefined && <div class="note">{props.note}</div>}
      {printing && rows.length > kPrinted && (
        <div class="note">{rows.length - kPrinted} more rows are not printed.</div>
      )}
    </section>
  );
}
