// SPDX-License-Identifier: Apache-2.0
//
// Copies by direction and memory, by module, and their rate by size.
import type { JSX } from "preact";
import { useMemo, useState } from "preact/hooks";
import { bytesText } from "../data/numbers";
import type { CopyRow } from "../data/rows";
import type { Trace } from "../data/trace";
import { update, useStore } from "../state";
import type { TableColumn } from "../ui/columns";
import { statedColumn } from "../ui/stated_columns";
import { Switch } from "../ui/switch";
import { Table } from "../ui/table";

type By = "kind" | "module" | "size";

/** Values by key of the column; `copy` also names the module. */
interface Shown extends CopyRow {
  copy: string;
  path?: string | undefined;
  gpu_ns: number;
  mean_bytes: number;
  bytes_per_s?: number;
}

function shownOf(trace: Trace, by: By): Shown[] {
  const { memcpy, copy_modules, copy_sizes } = trace.tables;
  const shown = (row: CopyRow, copy = `${row.kind}, ${row.src} to ${row.dst}`): Shown => ({
    ...row,
    copy,
    gpu_ns: row.total_ns,
    mean_bytes: row.bytes / Math.max(1, row.count),
    ...(row.total_ns > 0 ? { bytes_per_s: (row.bytes / row.total_ns) * 1e9 } : {}),
  });
  if (by === "kind") return memcpy.map((row) => shown(row));
  if (by === "module") {
    return copy_modules.map((row) => {
      const path = trace.modules[row.module]?.path;
      return { ...shown(row, path ?? "(outside of any range)"), path };
    });
  }
  return copy_sizes.map((row) => {
    const all = shown(row);
    return { ...all, copy: `${all.copy}, each below ${bytesText(row.below_bytes)}` };
  });
}

function columnsOf(trace: Trace, rows: readonly Shown[], by: By): TableColumn<Shown>[] {
  const { copies, modules } = trace.columns;
  const value = (row: Shown, key: string): number | string | undefined => row[key as keyof Shown];
  return copies.map((column) => {
    const whole = column.bar === true ? Math.max(...rows.map((row) => Number(value(row, column.key) ?? 0))) : 1;
    const isName = column.key === "copy" && by === "module";
    return statedColumn<Shown>(isName ? modules[0]! : column, isName ? (row) => row.copy : value, { whole });
  });
}

export function CopiesView({ trace }: { trace: Trace }): JSX.Element {
  const [by, setBy] = useState<By>("kind");
  const [selected, select] = useState<string>();
  const state = useStore();
  const rows = useMemo(() => shownOf(trace, by), [trace, by]);
  const columns = useMemo(() => columnsOf(trace, rows, by), [trace, rows, by]);
  const keyOf = (row: Shown): string => `${row.kind}|${row.src}|${row.dst}|${row.copy}`;
  const ofModule =
    by === "module" && state.module !== undefined ? rows.find((row) => row.path === state.module) : undefined;
  if (trace.tables.memcpy.length === 0)
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
        rows={rows}
        keyOf={keyOf}
        selected={ofModule !== undefined ? keyOf(ofModule) : selected}
        {...(by === "size" ? {} : { sort: "bytes" })}
        search={(row) => `${row.copy} ${row.kind}`}
        select={(row) => {
          select(keyOf(row));
          if (row.path !== undefined) update({ module: row.path });
        }}
        tools={
          <Switch
            label="By"
            options={
              [
                ["kind", "direction"],
                ["module", "module"],
                ["size", "size"],
              ] as const
            }
            value={by}
            choose={setBy}
          />
        }
        note="Bytes are those that the program requested. A module's row has the copies launched in the module itself."
      />
    </div>
  );
}
