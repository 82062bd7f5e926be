// SPDX-License-Identifier: Apache-2.0
//
// Iterations: the duration of each one, as lines and as a table, with a link to the timeline. An iteration is an
// instance of the range named iteration, step, batch, …, else of the outermost range.
import type { JSX } from "preact";
import { useMemo, useState } from "preact/hooks";
import type uPlot from "uplot";
import { countText, durationText } from "../data/numbers";
import type { Trace } from "../data/trace";
import { update } from "../state";
import { useTheme, type Theme } from "../theme";
import { Plot, type PlotOptions } from "../ui/plot";
import { statedColumn, type StatedColumn } from "../ui/stated_columns";
import { Table } from "../ui/table";

type Row = Record<string, number | undefined> & { iteration: number };

/** Of the plot. */
const kLines = ["host_ns", "gpu_span_ns", "gpu_busy_ns"];

function rowsOf(trace: Trace): Row[] {
  const columns = trace.tables.iterations?.columns ?? {};
  const n = columns["start_ns"]?.length ?? 0;
  return Array.from({ length: n }, (_, iteration) => {
    const row: Row = { iteration };
    for (const [key, values] of Object.entries(columns)) row[key] = values[iteration] ?? undefined;
    const { gpu_start_ns: start, gpu_end_ns: end } = row;
    if (start !== undefined && end !== undefined) row["gpu_span_ns"] = end - start;
    return row;
  });
}

function optionsOf(theme: Theme, columns: readonly StatedColumn[], select: (index: number) => void): PlotOptions {
  const axis = { stroke: theme.dim, grid: { stroke: theme.line, width: 1 }, ticks: { stroke: theme.line, width: 1 } };
  const titleOf = (key: string): string => columns.find((column) => column.key === key)!.title;
  const line = (key: string, i: number): uPlot.Series => ({
    label: titleOf(key),
    stroke: [theme.names[3]!, theme.names[1]!, theme.accent][i]!,
    width: 1.5,
    points: { show: true, size: 4 },
    value: (_, value) => (value === null ? "–" : durationText(value)),
  });
  return {
    scales: { x: { time: false }, y: { range: (_, __, max) => [0, (max || 1) * 1.05] } },
    axes: [
      { ...axis, label: titleOf("iteration"), labelSize: 18, size: 34 },
      { ...axis, size: 70, values: (_, ticks) => ticks.map((tick) => durationText(tick)) },
    ],
    series: [
      { label: titleOf("iteration"), value: (_, value) => (value === null ? "–" : countText(value)) },
      ...kLines.map(line),
    ],
    cursor: { drag: { x: true, y: false } },
    hooks: {
      ready: [(plot) => plot.over.addEventListener("click", () => plot.cursor.idx != null && select(plot.cursor.idx))],
    },
  };
}

export function IterationsView({ trace }: { trace: Trace }): JSX.Element {
  const theme = useTheme();
  const [selected, select] = useState<number>();
  const rows = useMemo(() => rowsOf(trace), [trace]);
  const data = useMemo(
    () =>
      [
        rows.map((row) => row.iteration),
        ...kLines.map((key) => rows.map((row) => row[key] ?? null)),
      ] as uPlot.AlignedData,
    [rows],
  );
  const options = useMemo(() => optionsOf(theme, trace.columns.iterations, select), [theme, trace]);
  const columns = useMemo(
    () => trace.columns.iterations.map((column) => statedColumn<Row>(column, (row, key) => row[key])),
    [trace],
  );
  const path = trace.tables.iterations?.path;
  if (path === undefined || rows.length === 0)
    return (
      <div class="view">
        <p class="empty">The trace has no ranges, and so no iterations.</p>
      </div>
    );
  const show = (row: Row): void => {
    const hostEnd = (row["start_ns"] ?? 0) + (row["host_ns"] ?? 0) + (row["held_ns"] ?? 0);
    const ends = [row["gpu_end_ns"], hostEnd].filter((end) => end !== undefined);
    const from = Math.min(row["start_ns"] ?? 0, row["gpu_start_ns"] ?? Infinity);
    const to = Math.max(...ends);
    update({ view: "timeline", from: Math.floor(from - (to - from) * 0.03), to: Math.ceil(to + (to - from) * 0.03) });
  };
  const left = trace.tables.left_out["iterations"] ?? 0;
  return (
    <div class="view iterations">
      <p class="dim">
        Instances of{" "}
        <button type="button" class="link" onClick={() => update({ module: path })}>
          <bdi>{path.slice(0, 300)}</bdi>
        </button>
      </p>
      <Plot options={options} data={data} label="Duration of each iteration; the table below has the same data" />
      <Table
        label="Iterations"
        columns={columns}
        rows={rows}
        keyOf={(row) => String(row.iteration)}
        selected={selected === undefined ? undefined : String(selected)}
        select={(row) => select(row.iteration)}
        open={show}
        tools={
          <button
            type="button"
            disabled={selected === undefined}
            onClick={() => selected !== undefined && show(rows[selected]!)}
          >
            In the timeline
          </button>
        }
        note={left > 0 ? `${countText(left)} later iterations are not in this page.` : undefined}
      />
    </div>
  );
}
