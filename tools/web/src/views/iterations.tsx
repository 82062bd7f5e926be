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
import { tableColumns, type StatedColumn, type StatedRow } from "../ui/stated_columns";
import { Switch } from "../ui/switch";
import { Table } from "../ui/table";

/** Of the plot. */
const kLines = ["host_ns", "wall_ns", "gpu_busy_ns"];

const kOf = [
  ["iterations", "each"],
  ["iterations_summary", "statistics"],
] as const;
type Of = (typeof kOf)[number][0];

const numberOf = (row: StatedRow, key: string): number | undefined => row[key] as number | undefined;

/** Below it, where they changed from iteration to iteration. */
const kClocks = ["sm_mhz", "power_w"];

function clocksOptions(theme: Theme, columns: readonly StatedColumn[], keys: readonly string[]): PlotOptions {
  const axis = { stroke: theme.dim, grid: { stroke: theme.line, width: 1 }, ticks: { stroke: theme.line, width: 1 } };
  const titleOf = (key: string): string => columns.find((column) => column.key === key)?.title ?? key;
  const colors = [theme.warn, theme.accent];
  const around = (_: uPlot, min: number, max: number): [number, number] => [min * 0.98, max * 1.02];
  return {
    legend: { show: false },
    scales: { x: { time: false }, ...Object.fromEntries(keys.map((key) => [key, { range: around }])) },
    axes: [
      { ...axis, size: 34 },
      ...keys.map((key, i) => ({
        ...{ ...axis, scale: key, label: titleOf(key), labelSize: 18, size: 52 },
        side: i === 0 ? 3 : 1,
        grid: { show: i === 0, stroke: theme.line, width: 1 },
      })),
    ],
    series: [
      { label: titleOf("iteration") },
      ...keys.map((key, i) => ({
        ...{ label: titleOf(key), scale: key, stroke: colors[i]!, width: 1.5 },
        value: (_: uPlot, value: number | null) => (value === null ? "–" : countText(value)),
      })),
    ],
    cursor: { drag: { x: true, y: false } },
  };
}

function optionsOf(theme: Theme, columns: readonly StatedColumn[], select: (index: number) => void): PlotOptions {
  const axis = { stroke: theme.dim, grid: { stroke: theme.line, width: 1 }, ticks: { stroke: theme.line, width: 1 } };
  const titleOf = (key: string): string => columns.find((column) => column.key === key)?.title ?? key;
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

/** The time of the row and of its work, with some room: it ends a wall time after the row before. */
function intervalOf(rows: readonly StatedRow[], row: StatedRow): { from: number; to: number } {
  let done = 0;
  for (const one of rows) {
    const start = numberOf(one, "start_ns") ?? 0;
    const held = numberOf(one, "held_ns") ?? 0;
    const hostEnd = start + (numberOf(one, "host_ns") ?? 0) + held;
    done = Math.max(hostEnd, Math.max(done, start) + (numberOf(one, "wall_ns") ?? 0) + held);
    if (one === row) break;
  }
  const from = numberOf(row, "start_ns") ?? 0;
  const room = (done - from) * 0.03;
  return { from: Math.floor(from - room), to: Math.ceil(done + room) };
}

export function IterationsView({ trace }: { trace: Trace }): JSX.Element {
  const theme = useTheme();
  const [selected, select] = useState<number>();
  const [of, setOf] = useState<Of>("iterations");
  const { path, iterations, ...more } = trace.tables.iterations;
  const { rows } = iterations;
  const data = useMemo(
    () =>
      [
        rows.map((row) => numberOf(row, "iteration")),
        ...kLines.map((key) => rows.map((row) => numberOf(row, key) ?? null)),
      ] as uPlot.AlignedData,
    [rows],
  );
  const options = useMemo(() => optionsOf(theme, iterations.columns, select), [theme, trace]);
  const clocks = useMemo(() => {
    const moved = kClocks.filter(
      (key) => new Set(rows.flatMap((row) => numberOf(row, key) ?? []).map(Math.round)).size > 1,
    );
    if (moved.length === 0) return undefined;
    const data = ["iteration", ...moved].map((key) => rows.map((row) => numberOf(row, key) ?? null));
    return { data: data as uPlot.AlignedData, options: clocksOptions(theme, iterations.columns, moved) };
  }, [rows, theme]);
  const table = of === "iterations" ? iterations : more.iterations_summary;
  const columns = useMemo(() => tableColumns(table), [table]);
  if (rows.length === 0)
    return (
      <div class="view">
        <p class="empty">The trace has no ranges, and so no iterations.</p>
      </div>
    );
  const show = (row: StatedRow): void => update({ view: "timeline", ...intervalOf(rows, row) });
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
      {clocks !== undefined && (
        <div class="clocks">
          <Plot {...clocks} label="Clock and power in each iteration; the table below has the same data" />
        </div>
      )}
      <Table
        linked
        label="Iterations"
        key={of}
        columns={columns}
        rows={table.rows}
        keyOf={(_, at) => String(at)}
        selected={of !== "iterations" || selected === undefined ? undefined : String(selected)}
        select={(row) => of === "iterations" && select(rows.indexOf(row))}
        open={(row) => of === "iterations" && show(row)}
        tools={
          <>
            <Switch label="Rows" options={kOf} value={of} choose={setOf} />
            <button
              type="button"
              disabled={selected === undefined}
              onClick={() => selected !== undefined && show(rows[selected]!)}
            >
              In the timeline
            </button>
          </>
        }
        note={(left > 0 ? `${countText(left)} later iterations are not in this page. ` : "") + table.remarks}
      />
    </div>
  );
}
