// SPDX-License-Identifier: Apache-2.0
//
// Copies by direction and memory, by module and by size, and memsets.
import type { JSX } from "preact";
import { useMemo, useState } from "preact/hooks";
import type { Trace } from "../data/trace";
import { update, useStore } from "../state";
import { tableColumns, type StatedRow } from "../ui/stated_columns";
import { Switch } from "../ui/switch";
import { Table } from "../ui/table";

const kBy = [
  ["memcpy", "direction"],
  ["modules", "module"],
  ["sizes", "size"],
  ["memset", "memsets"],
] as const;
type By = (typeof kBy)[number][0];

const pathOf = (row: StatedRow): string | undefined => row["path"] as string | undefined;

export function CopiesView({ trace }: { trace: Trace }): JSX.Element {
  const [by, setBy] = useState<By>("memcpy");
  const [selected, select] = useState<string>();
  const state = useStore();
  const { copies } = trace.tables;
  const table = copies[by];
  const columns = useMemo(() => tableColumns(table), [table]);
  const keyOf = (row: StatedRow): string => String(table.rows.indexOf(row));
  const ofModule = state.module === undefined ? undefined : table.rows.find((row) => pathOf(row) === state.module);
  if (copies.memcpy.rows.length + copies.memset.rows.length === 0)
    return (
      <div class="view">
        <p class="empty">The trace has no copies.</p>
      </div>
    );
  return (
    <div class="view">
      <Table
        label="Copies"
        key={by}
        columns={columns}
        rows={table.rows}
        keyOf={keyOf}
        selected={ofModule !== undefined ? keyOf(ofModule) : selected}
        search={(row) => columns.map((column) => (column.unit === "text" ? column.value(row) : "")).join(" ")}
        select={(row) => {
          select(keyOf(row));
          const path = pathOf(row);
          if (path !== undefined && trace.byPath.has(path)) update({ module: path });
        }}
        tools={<Switch label="By" options={kBy} value={by} choose={setBy} />}
        note={
          "Bytes are those that the program requested. " +
          (by === "modules" ? "A module's row has the copies launched in the module itself." : table.remarks)
        }
      />
    </div>
  );
}
