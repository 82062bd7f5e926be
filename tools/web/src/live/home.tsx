// SPDX-License-Identifier: Apache-2.0
//
// The lists of running programs and of traces on disk.
import type { JSX } from "preact";
import { useState } from "preact/hooks";
import { bytesText } from "../data/numbers";
import type { TableColumn } from "../ui/columns";
import { Table } from "../ui/table";
import { PerfettoButton } from "./perfetto_button";
import { useList, type ProgramRow, type TraceRow } from "./server";

const timeText = (ms: number | undefined): string =>
  ms === undefined ? "" : new Date(ms).toISOString().replace("T", " ").slice(0, 19);
const lastPart = (path: string | undefined): string => (path ?? "").split("/").pop() ?? "";

const kProgramColumns: TableColumn<ProgramRow>[] = [
  { key: "name", title: "Program", unit: "text", width: 220, value: (row) => row.name },
  { key: "pid", title: "Process", unit: "text", width: 84, value: (row) => String(row.pid) },
  { key: "rank", title: "Rank", unit: "text", width: 60, value: (row) => row.rank },
  { key: "state", title: "State", unit: "text", width: 90, value: (row) => row.state },
  { key: "counters", title: "Counters", unit: "text", width: 90, value: (row) => row.counters },
  { key: "launches", title: "Launches", unit: "count", width: 110, value: (row) => row.launches },
  { key: "window_number", title: "Window", unit: "count", width: 80, value: (row) => row.window_number },
  { key: "window_lost", title: "Lost", unit: "count", width: 80, value: (row) => row.window_lost },
];

const kTraceColumns: TableColumn<TraceRow>[] = [
  { key: "trace", title: "Trace", unit: "text", width: 240, value: (row) => row.trace },
  { key: "executable", title: "Program", unit: "text", width: 160, value: (row) => lastPart(row.executable) },
  { key: "pid", title: "Process", unit: "text", width: 84, value: (row) => row.pid && String(row.pid) },
  { key: "rank", title: "Rank", unit: "text", width: 60, value: (row) => row.rank },
  { key: "counters", title: "Counters", unit: "text", width: 90, value: (row) => row.counters },
  {
    key: "started",
    title: "Started (UTC)",
    unit: "text",
    width: 160,
    value: (row) => timeText(row.started_unix_ms),
  },
  {
    key: "bytes",
    title: "Size",
    unit: "bytes",
    width: 90,
    value: (row) => row.bytes,
    text: (row) => bytesText(row.bytes),
  },
];

function Programs({ watch }: { watch: (pid: number) => void }): JSX.Element {
  const { rows, error } = useList<ProgramRow>("/api/processes", 2000);
  const [selected, select] = useState<number>();
  const there = selected !== undefined && (rows ?? []).some((row) => row.pid === selected);
  return (
    <section class="list">
      <h2>Running programs</h2>
      {rows !== undefined && rows.length === 0 && (
        <p class="dim">
          None. A program started with <code>rangefinder run -- PROGRAM</code> appears here.
        </p>
      )}
      {error !== "" && <p class="warn">{error}</p>}
      {(rows?.length ?? 0) > 0 && (
        <Table
          label="Running programs"
          columns={kProgramColumns}
          rows={rows ?? []}
          keyOf={(row) => String(row.pid)}
          selected={selected === undefined ? undefined : String(selected)}
          select={(row) => select(row.pid)}
          open={(row) => watch(row.pid)}
          tools={
            <button type="button" disabled={!there} onClick={() => watch(selected!)}>
              Watch
            </button>
          }
        />
      )}
    </section>
  );
}

function Traces(): JSX.Element {
  const { rows } = useList<TraceRow>("/api/traces", 5000);
  const [selected, select] = useState<string>();
  const row = (rows ?? []).find((one) => one.trace === selected);
  const query = row && new URLSearchParams({ trace: row.trace }).toString();
  const open = (of: TraceRow): void => location.assign(`/trace?${new URLSearchParams({ trace: of.trace }).toString()}`);
  return (
    <section class="list grows">
      <h2>Traces</h2>
      {rows !== undefined && rows.length === 0 && <p class="dim">None in the served folders.</p>}
      {(rows?.length ?? 0) > 0 && (
        <Table
          label="Traces"
          columns={kTraceColumns}
          rows={rows ?? []}
          keyOf={(one) => one.trace}
          selected={selected}
          select={(one) => select(one.trace)}
          open={open}
          search={(one) => `${one.trace} ${one.executable ?? ""} ${one.command ?? ""} ${one.host ?? ""}`}
          tools={
            <>
              <button type="button" disabled={row === undefined} onClick={() => row !== undefined && open(row)}>
                Open
              </button>
              <PerfettoButton query={query} title={row?.trace ?? ""} />
            </>
          }
        />
      )}
    </section>
  );
}

export function Home({ watch }: { watch: (pid: number) => void }): JSX.Element {
  return (
    <div class="view home">
      <Programs watch={watch} />
      <Traces />
    </div>
  );
}
