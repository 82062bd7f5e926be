// SPDX-License-Identifier: Apache-2.0
//
// The lists of running programs and of traces on disk.
import type { JSX } from "preact";
import { useMemo, useState } from "preact/hooks";
import { statedColumn, type StatedColumn, type Texts } from "../ui/stated_columns";
import { Table } from "../ui/table";
import { PerfettoButton } from "./perfetto_button";
import { useAnswer, type ListColumns, type ProgramRow, type TraceRow } from "./server";

const timeText = (ms: number | undefined): string =>
  ms === undefined ? "" : new Date(ms).toISOString().replace("T", " ").slice(0, 19);
const lastPart = (path: string | undefined): string => (path ?? "").split("/").pop() ?? "";

const programValue = (row: ProgramRow, key: string): number | string | undefined => row[key as keyof ProgramRow];
const traceValue = (row: TraceRow, key: string): number | string | undefined => row[key as keyof TraceRow];
const traceTexts = (row: TraceRow): Texts => ({
  executable: lastPart(row.executable),
  started_unix_ms: timeText(row.started_unix_ms),
});

interface ListProps {
  stated: readonly StatedColumn[];
}

function Programs({ stated, watch }: ListProps & { watch: (pid: number) => void }): JSX.Element {
  const { answer: rows, error } = useAnswer<readonly ProgramRow[]>("/api/processes", 2000);
  const columns = useMemo(() => stated.map((column) => statedColumn(column, programValue)), [stated]);
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
          columns={columns}
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

function Traces({ stated }: ListProps): JSX.Element {
  const { answer: rows } = useAnswer<readonly TraceRow[]>("/api/traces", 5000);
  const columns = useMemo(
    () => stated.map((column) => statedColumn(column, traceValue, { texts: traceTexts })),
    [stated],
  );
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
          columns={columns}
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
  const { answer: columns, error } = useAnswer<ListColumns>("/api/columns", 0);
  return (
    <div class="view home">
      {error !== "" && <p class="warn">{error}</p>}
      {columns !== undefined && (
        <>
          <Programs stated={columns.processes} watch={watch} />
          <Traces stated={columns.traces} />
        </>
      )}
    </div>
  );
}
