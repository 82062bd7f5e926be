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
import { Switch } from "../ui/switch";
import { Table } from "../ui/table";

type By = "kind" | "module" | "size";

interface Shown extends CopyRow {
  where: string;
  path?: string | undefined;
  below?: number;
}

const rate = (row: CopyRow): number | undefined => (row.total_ns > 0 ? (row.bytes / row.total_ns) * 1e9 : undefined);

function shownOf(trace: Trace, by: By): Shown[] {
  const { memcpy, copy_modules, copy_sizes } = trace.tables;
  const key = (row: CopyRow): string => `${row.kind}, ${row.src} to ${row.dst}`;
  if (by === "kind") return memcpy.map((row) => ({ ...row, where: key(row) }));
  if (by === "module") {
    return copy_modules.map((row) => {
      const path = trace.modules[row.module]?.path;
      return { ...row, path, where: path ?? "(outside of any range)" };
    });
  }
  return copy_sizes.map((row) => ({
    ...row,
    below: row.below_bytes,
    where: `${key(row)}, each below ${bytesText(row.below_bytes)}`,
  }));
}

function columnsOf(rows: readonly Shown[], by: By): TableColumn<Shown>[] {
  const max = Math.max(1, ...rows.map((row) => row.bytes));
  const fastest = Math.max(1, ...rows.map((row) => rate(row) ?? 0));
  return [
    {
      key: by === "module" ? "module" : "copy",
      title: by === "module" ? "Module" : "Copy",
      unit: "text",
      width: 320,
      value: (row) => row.where,
    },
    { key: "kind", title: "Direction", unit: "text", width: 90, value: (row) => row.kind },
    { key: "src", title: "From", unit: "text", width: 100, value: (row) => row.src },
    { key: "dst", title: "To", unit: "text", width: 100, value: (row) => row.dst },
    { key: "count", title: "Copies", unit: "count", width: 90, value: (row) => row.count },
    {
      key: "bytes",
      title: "Bytes",
      unit: "bytes",
      width: 110,
      value: (row) => row.bytes,
      bar: (row) => row.bytes / max,
    },
    { key: "mean_bytes", title: "Mean", unit: "bytes", width: 90, value: (row) => row.bytes / Math.max(1, row.count) },
    { key: "total_ns", title: "Time", unit: "ns", width: 90, value: (row) => row.total_ns },
    {
      key: "bytes_per_s",
      title: "Rate",
      unit: "bytes_per_s",
      width: 110,
      value: rate,
      bar: (row) => (rate(row) ?? 0) / fastest,
      tip: "Bytes divided by the duration of the copies",
    },
  ];
}

export function CopiesView({ trace }: { trace: Trace }): JSX.Element {
  const [by, setBy] = useState<By>("kind");
  const [selected, select] = useState<string>();
  const state = useStore();
  const rows = useMemo(() => shownOf(trace, by), [trace, by]);
  const columns = useMemo(() => columnsOf(rows, by), [rows, by]);
  const keyOf = (row: Shown): string => `${row.kind}|${row.src}|${row.dst}|${row.where}`;
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
        search={(row) => `${row.where} ${row.kind}`}
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
