// SPDX-License-Identifier: Apache-2.0
//
// A table of many rows: sort by a click on a title, search, resize and hide columns, fold a tree, move with the arrow
// keys, copy as CSV. @tanstack/preact-table sorts, filters, folds and sizes; this file draws.
//
//   rows, columns ─▶ useTable ─▶ visible columns, shown rows ─▶ elements of those on the screen
//
// Columns that do not fit are hidden, the least important first; their names are below the table. Names are always text
// nodes, never HTML.
import {
  columnFilteringFeature,
  columnResizingFeature,
  columnSizingFeature,
  columnVisibilityFeature,
  createExpandedRowModel,
  createFilteredRowModel,
  createSortedRowModel,
  globalFilteringFeature,
  rowExpandingFeature,
  rowSortingFeature,
  tableFeatures,
  useTable,
  type ColumnDef,
  type ColumnSizingState,
  type ExpandedState,
  type SortingState,
  type Updater,
} from "@tanstack/preact-table";
import type { ComponentChildren, JSX } from "preact";
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import { countText } from "../data/numbers";
import { update, useStore, type State } from "../state";
import { cellText, withValues, type TableColumn } from "./columns";
import { copyText, csvOf } from "./csv";
import { Cell, ColumnMenu, Head, kIndent } from "./table_parts";

const kRow = 24;
const kPrinted = 400;
/** Of the first column's texts. */
const kLetter = 7.5;
const kMargin = 40;
/** Of the frozen column, in the width of the table. */
const kMaxFirst = 0.45;

export interface TableProps<Row extends object> {
  label: string;
  columns: readonly TableColumn<Row>[];
  /** Of a tree: the outermost ones. */
  rows: readonly Row[];
  /** `at`: index in `rows`, or in those below its parent. */
  keyOf: (row: Row, at: number) => string;
  selected: string | undefined;
  select: (row: Row) => void;
  open?: (row: Row) => void;
  /** Makes a tree of the rows: the first column is indented, and rows fold. */
  below?: (row: Row) => readonly Row[];
  /** Keys of the rows of a tree that are unfolded at first; undefined: all. */
  unfolded?: Record<string, boolean>;
  /** Key of a column. */
  sort?: string;
  /** The link holds the order, the text to find and the columns: for the one table of a view. */
  linked?: boolean;
  /** Text for the search; undefined: no search. */
  search?: (row: Row) => string;
  tools?: ComponentChildren;
  note?: ComponentChildren;
}

export const features = tableFeatures({
  columnFilteringFeature,
  columnResizingFeature,
  columnSizingFeature,
  columnVisibilityFeature,
  globalFilteringFeature,
  rowExpandingFeature,
  rowSortingFeature,
  expandedRowModel: createExpandedRowModel(),
  filteredRowModel: createFilteredRowModel(),
  sortedRowModel: createSortedRowModel(),
});
type Definition<Row extends object> = ColumnDef<typeof features, Row>;

/** Largest numbers first, texts in alphabetical order, unknown values last. */
const definitionOf = <Row extends object>({ key, title, unit, width, value }: TableColumn<Row>): Definition<Row> => ({
  id: key,
  header: title,
  accessorFn: value,
  size: width,
  minSize: 40,
  sortDescFirst: unit !== "text",
  sortUndefined: "last",
  sortFn: (a, b, id) => {
    const [x, y] = [a.getValue(id), b.getValue(id)];
    return typeof x === "number" && typeof y === "number" ? x - y : String(x).localeCompare(String(y), "en");
  },
});

/** Size and scroll position of the visible part. */
function useScroll() {
  const box = useRef<HTMLDivElement>(null);
  const [seen, see] = useState({ top: 0, left: 0, height: 600, width: innerWidth });
  const onScroll = (): void => {
    const at = box.current;
    if (at !== null) see({ top: at.scrollTop, left: at.scrollLeft, height: at.clientHeight, width: at.clientWidth });
  };
  useLayoutEffect(() => {
    onScroll();
    const observer = new ResizeObserver(onScroll);
    observer.observe(box.current!);
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

type TableView = Partial<Pick<State, "sort" | "find" | "columns">>;

/** Order, text to find and columns: in the link, or of the table alone. */
function useView(linked: boolean | undefined): [TableView, (change: TableView) => void] {
  const state = useStore();
  const [own, setOwn] = useState<TableView>({});
  return linked === true ? [state, update] : [own, (change) => setOwn((before) => ({ ...before, ...change }))];
}

/** Keys of the most important columns that have room; always the first. */
export function fitting<Row>(columns: readonly TableColumn<Row>[], width: number): string[] {
  const [first, ...rest] = columns;
  let room = width - Math.min(first?.width ?? 0, kMaxFirst * width);
  const kept = new Set([first]);
  for (const one of rest.sort((a, b) => (b.importance ?? Infinity) - (a.importance ?? Infinity) || 0)) {
    room -= one.width;
    if (room < 0) break;
    kept.add(one);
  }
  return columns.filter((one) => kept.has(one)).map((one) => one.key);
}

/** Widths that the user has chosen, by table: another view and back keeps them. */
const sizes = new Map<string, ColumnSizingState>();

function useRows<Row extends object>(props: TableProps<Row>, width: number) {
  const [view, setView] = useView(props.linked);
  const [unfolded, unfold] = useState<ExpandedState>(props.unfolded ?? true);
  const find = (view.find ?? "").toLowerCase();
  const all = useMemo(
    () => withValues(props.columns, props.below === undefined ? props.rows : nested(props.rows, props.below)),
    [props.columns, props.rows],
  );
  const chosen = (view.columns ?? "").split(",").filter((key) => all.some((one) => one.key === key));
  const shown = chosen.length > 0 ? [all[0]!.key, ...chosen] : fitting(all, width);
  const keys = shown.join();
  const state = useMemo(() => {
    const text = view.sort ?? props.sort ?? "";
    const id = text.replace(/^-/, "");
    const column = all.find((one) => one.key === id);
    const sorting: SortingState =
      column === undefined ? [] : [{ id, desc: (column.unit === "text") === (text[0] === "-") }];
    return {
      sorting,
      globalFilter: find,
      expanded: find === "" ? unfolded : true,
      columnVisibility: Object.fromEntries(all.map((one) => [one.key, shown.includes(one.key)])),
    };
  }, [view.sort, find, unfolded, all, keys]);
  const table = useTable({
    features,
    columns: useMemo(() => all.map(definitionOf), [all]),
    data: props.rows,
    getRowId: (row, at) => props.keyOf(row, at),
    ...(props.below !== undefined && { getSubRows: (row: Row) => props.below!(row) as Row[] }),
    state,
    initialState: { columnSizing: sizes.get(props.label) ?? {} },
    columnResizeMode: "onChange",
    autoResetAll: false,
    enableSortingRemoval: props.below !== undefined,
    filterFromLeafRows: true,
    getColumnCanGlobalFilter: ({ id }) => id === all[0]?.key,
    globalFilterFn: (row) => props.search?.(row.original).toLowerCase().includes(find) === true,
    onExpandedChange: (next) => find === "" && unfold(next),
    onSortingChange: (next: Updater<SortingState>) => {
      const [one] = typeof next === "function" ? next(state.sorting) : next;
      const text = all.find(({ key }) => key === one?.id)?.unit === "text";
      setView({ sort: one === undefined ? "" : `${one.desc === text ? "-" : ""}${one.id}` });
    },
  });
  const { columnSizing } = table.state;
  useEffect(() => void sizes.set(props.label, columnSizing), [columnSizing]);
  // A row that is selected elsewhere is unfolded here.
  useEffect(() => {
    const row = props.selected === undefined ? undefined : table.getCoreRowModel().rowsById[props.selected];
    for (const parent of row?.getParentRows() ?? []) parent.toggleExpanded(true);
  }, [props.selected]);
  return { table, all, shown, view, setView };
}

/** A row and all below it, in the order of the tree. */
function nested<Row>(rows: readonly Row[], below: (row: Row) => readonly Row[]): Row[] {
  return rows.flatMap((row) => [row, ...nested(below(row), below)]);
}

export function Table<Row extends object>(props: TableProps<Row>): JSX.Element {
  const scroll = useScroll();
  const { table, all, shown, view, setView } = useRows(props, scroll.width);
  const [copied, setCopied] = useState("");
  const printing = usePrinting();
  const { rows } = table.getRowModel();
  const { flatRows } = table.getCoreRowModel();
  const longest = useMemo(
    () =>
      kMargin +
      flatRows.reduce(
        (most, row) => Math.max(most, kLetter * cellText(all[0]!, row.original).length + kIndent * row.depth),
        0,
      ),
    [flatRows, all],
  );
  const place = rows.findIndex((row) => row.id === props.selected);
  const show = (at: number): void => {
    const element = scroll.box.current;
    if (element === null || at < 0) return;
    const room = element.clientHeight - kRow;
    if (at * kRow < element.scrollTop) element.scrollTop = at * kRow;
    else if (at * kRow > element.scrollTop + room - kRow) element.scrollTop = at * kRow - room + kRow;
  };
  useEffect(() => show(place), [props.selected, rows.length]);

  const go = (at: number): void => void (rows[at] !== undefined && props.select(rows[at].original));
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
    if (event.key in steps) go(Math.max(0, Math.min(rows.length - 1, steps[event.key]!)));
    else if (row !== undefined && props.below && event.key === "ArrowLeft" && !row.getIsExpanded())
      go(rows.findIndex(({ id }) => id === row.parentId));
    else if (row !== undefined && props.below && /^Arrow(Left|Right)$/.test(event.key))
      row.toggleExpanded(event.key === "ArrowRight");
    else if (row !== undefined && event.key === "Enter") props.open?.(row.original);
    else return;
    event.preventDefault();
  };
  const copy = async (): Promise<void> => {
    const copies = table.getSortedRowModel().flatRows.map((row) => row.original);
    const done = await copyText(csvOf(all, copies));
    setCopied(done ? `${copies.length} rows copied` : "The browser denied access to the clipboard");
    window.setTimeout(() => setCopied(""), 2500);
  };

  const first = printing ? 0 : Math.max(0, Math.floor(scroll.top / kRow) - 4);
  const last = printing
    ? Math.min(rows.length, kPrinted)
    : Math.min(rows.length, Math.ceil((scroll.top + scroll.height) / kRow) + 4);
  const columns = all.filter(({ key }) => shown.includes(key));
  const widths = columns.map(({ key }) => table.getColumn(key)!.getSize());
  // Until it is resized, the first column is as wide as its texts, if there is room.
  const grows = columns.length > 0 && !(columns[0]!.key in table.state.columnSizing);
  if (grows) widths[0] = Math.min(widths[0]!, kMaxFirst * scroll.width);
  const grid = widths
    .map((width, i) => (i === 0 && grows ? `minmax(${width}px, ${Math.max(width, longest)}px)` : `${width}px`))
    .join(" ");
  const beyond = widths.filter(
    (_, i) => widths.slice(0, i + 1).reduce((sum, width) => sum + width, 0) > scroll.left + scroll.width + 1,
  ).length;
  const total = flatRows.length;
  const hidden = all.filter(({ key }) => !shown.includes(key));
  return (
    <section class="table" aria-label={props.label}>
      <div class="tools">
        {props.search !== undefined && (
          <input
            type="search"
            placeholder="Search"
            aria-label={`Search in ${props.label}`}
            value={view.find ?? ""}
            onInput={({ currentTarget: { value } }) => setView({ find: value === "" ? undefined : value })}
          />
        )}
        {props.tools}
        {props.below !== undefined && (
          <button type="button" onClick={() => table.toggleAllRowsExpanded()}>
            {table.getIsAllRowsExpanded() ? "Fold all" : "Unfold all"}
          </button>
        )}
        <span class="fill" />
        <span class="dim" role="status">
          {copied !== ""
            ? copied
            : `${rows.length === total ? "" : `${countText(rows.length)} of `}${countText(total)} rows`}
          {beyond > 0 && `, ${beyond} more ${beyond === 1 ? "column" : "columns"} to the right`}
        </span>
        {all.length > 1 && (
          <ColumnMenu
            columns={all.slice(1)}
            shown={shown}
            fits={view.columns === undefined}
            show={(keys) => setView({ columns: keys?.join() })}
          />
        )}
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
        role={props.below ? "treegrid" : "grid"}
        aria-rowcount={rows.length}
        aria-label={props.label}
      >
        <div class="sheet" style={{ minWidth: `${widths.reduce((sum, width) => sum + width, 0)}px` }}>
          <div class="row head" role="row" style={{ gridTemplateColumns: grid }}>
            {table.getFlatHeaders().map((header) => (
              <Head key={header.id} header={header} stated={all.find(({ key }) => key === header.id)!} />
            ))}
          </div>
          <div class="body" style={printing ? {} : { height: `${rows.length * kRow}px` }}>
            {rows.slice(first, last).map((row, i) => (
              <div
                key={row.id}
                role="row"
                aria-rowindex={first + i + 1}
                aria-selected={row.id === props.selected}
                {...(row.getCanExpand() && { "aria-expanded": row.getIsExpanded() })}
                class={row.id === props.selected ? "row selected" : "row"}
                style={{ gridTemplateColumns: grid, ...(!printing && { top: `${(first + i) * kRow}px` }) }}
                onClick={() => props.select(row.original)}
                onDblClick={() => props.open?.(row.original)}
              >
                {columns.map((column, at) => (
                  <Cell
                    key={column.key}
                    column={column}
                    row={row.original}
                    {...(at === 0 && props.below && { fold: row })}
                  />
                ))}
              </div>
            ))}
          </div>
          {rows.length === 0 && (
            <p class="empty">{(view.find ?? "") === "" ? "No rows." : `No match for “${view.find}”.`}</p>
          )}
        </div>
      </div>
      <div class="note">
        {props.note}
        {hidden.length > 0 && ` Hidden columns: ${hidden.map(({ title }) => title).join(", ")}.`}
      </div>
      {printing && rows.length > kPrinted && (
        <div class="note">{rows.length - kPrinted} more rows are not printed.</div>
      )}
    </section>
  );
}
