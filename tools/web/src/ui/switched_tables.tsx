// SPDX-License-Identifier: Apache-2.0
//
// One of several tables of the report, as a view. A row of a module selects the module in all views.
import type { JSX } from "preact";
import { useMemo, useState } from "preact/hooks";
import type { Trace } from "../data/trace";
import { update, useStore } from "../state";
import { tableColumns, type StatedRow, type StatedTable } from "./stated_columns";
import { Switch } from "./switch";
import { Table } from "./table";

const pathOf = (row: StatedRow): string | undefined => row["path"] as string | undefined;

interface SwitchedTablesProps<Name extends string> {
  trace: Trace;
  label: string;
  tables: Partial<Record<Name, StatedTable>>;
  /** Tables without rows are no option. */
  options: readonly (readonly [Name, string])[];
  /** Shown if no table has rows. */
  empty: string;
  note: (name: Name, table: StatedTable) => string;
}

export function SwitchedTables<Name extends string>(props: SwitchedTablesProps<Name>): JSX.Element {
  const { trace, tables } = props;
  const options = props.options.filter(([name]) => (tables[name]?.rows.length ?? 0) > 0);
  const [chosen, choose] = useState<Name>();
  const [selected, select] = useState<string>();
  const state = useStore();
  const name = chosen ?? options[0]?.[0];
  const table = name === undefined ? undefined : tables[name];
  const columns = useMemo(() => (table === undefined ? [] : tableColumns(table)), [table]);
  if (name === undefined || table === undefined)
    return (
      <div class="view">
        <p class="empty">{props.empty}</p>
      </div>
    );
  const keyOf = (row: StatedRow): string => String(table.rows.indexOf(row));
  const ofModule = state.module === undefined ? undefined : table.rows.find((row) => pathOf(row) === state.module);
  return (
    <div class="view">
      <Table
        linked
        label={props.label}
        key={name}
        columns={columns}
        rows={table.rows}
        keyOf={(_, at) => String(at)}
        selected={ofModule !== undefined ? keyOf(ofModule) : selected}
        search={(row) => columns.map((column) => (column.unit === "text" ? column.value(row) : "")).join(" ")}
        select={(row) => {
          select(keyOf(row));
          const path = pathOf(row);
          if (path !== undefined && trace.byPath.has(path)) update({ module: path });
        }}
        tools={<Switch label="By" options={options} value={name} choose={choose} />}
        note={props.note(name, table)}
      />
    </div>
  );
}
