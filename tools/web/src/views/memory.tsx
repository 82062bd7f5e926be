// SPDX-License-Identifier: Apache-2.0
//
// Memory: live bytes over time, and by module at the peak; tables of what PyTorch's caching allocator handed out by
// module, and of what the driver allocated by path, kind and time.
import type { JSX } from "preact";
import { useMemo } from "preact/hooks";
import uPlot from "uplot";
import { bytesText, countText, durationText } from "../data/numbers";
import type { Trace } from "../data/trace";
import { update } from "../state";
import { useTheme, type Theme } from "../theme";
import { Plot, type PlotOptions } from "../ui/plot";
import type { StatedTable } from "../ui/stated_columns";
import { SwitchedTables } from "../ui/switched_tables";

const kOptions = [
  ["torch_memory", "PyTorch module"],
  ["memory", "path"],
  ["memory_kinds", "kind"],
  ["memory_live", "never freed"],
  ["memory_time", "time"],
] as const;
/** Bars that fit beside the plot. */
const kBars = 7;

function optionsOf(theme: Theme, series: readonly { title: string }[]): PlotOptions {
  const axis = { stroke: theme.dim, grid: { stroke: theme.line, width: 1 }, ticks: { stroke: theme.line, width: 1 } };
  return {
    scales: { x: { time: false }, y: { range: (_, __, max) => [0, (max || 1) * 1.05] } },
    axes: [
      { ...axis, size: 34, values: (_, ticks) => ticks.map(durationText) },
      { ...axis, size: 70, values: (_, ticks) => ticks.map(bytesText) },
    ],
    series: [
      { label: "at", value: (_, value) => (value === null ? "–" : durationText(value)) },
      ...series.map(({ title }, i) => ({
        label: title,
        stroke: [theme.accent, theme.names[1]!][i]!,
        width: 1.5,
        paths: uPlot.paths.stepped!({ align: 1 }),
        points: { show: false },
        value: (_: uPlot, value: number | null) => (value === null ? "–" : bytesText(value)),
      })),
    ],
    cursor: { drag: { x: true, y: false } },
  };
}

/** The driver's allocations: the peak of each part of the time, which holds until the next. */
function OverTime({ trace, table }: { trace: Trace; table: StatedTable }): JSX.Element {
  const theme = useTheme();
  const [time, ...series] = table.columns;
  const data = useMemo(() => {
    const rows = [...table.rows, { ...table.rows[table.rows.length - 1]!, [time!.key]: trace.tables.duration_ns }];
    return [time!, ...series].map(({ key }) => rows.map((row) => row[key] ?? null)) as uPlot.AlignedData;
  }, [table]);
  const options = useMemo(() => optionsOf(theme, series), [theme, table]);
  return <Plot options={options} data={data} label="Live bytes over time; the table by time has the same data" />;
}

/** Parts of the largest use: modules that contain no other one of the table. */
function AtPeak({ trace, table }: { trace: Trace; table: StatedTable }): JSX.Element {
  const rows = table.rows.map((row) => ({ path: String(row["path"]), bytes: Number(row["live_at_peak_bytes"] ?? 0) }));
  const leaves = rows.filter(({ path, bytes }) => bytes > 0 && !rows.some((one) => one.path.startsWith(`${path}/`)));
  const shown = leaves.filter(({ path }) => path !== "(all)").sort((a, b) => b.bytes - a.bytes);
  const all = rows.find(({ path }) => path === "(all)")?.bytes ?? Math.max(1, ...rows.map(({ bytes }) => bytes));
  return (
    <section class="at-peak" aria-label="At the peak, by module">
      <h3>At the peak of {bytesText(all)}, by module</h3>
      {shown.slice(0, kBars).map(({ path, bytes }) => (
        <button
          key={path}
          type="button"
          class="link"
          title={path}
          disabled={!trace.byPath.has(path)}
          onClick={() => update({ module: path })}
        >
          <span class="path">
            <bdi>{path}</bdi>
          </span>
          <span class="track" aria-hidden="true">
            <span style={{ width: `${(100 * bytes) / Math.max(1, all)}%` }} />
          </span>
          <span>{bytesText(bytes)}</span>
        </button>
      ))}
      {shown.length > kBars && <p class="dim">and {countText(shown.length - kBars)} more in the table</p>}
    </section>
  );
}

export function MemoryView({ trace }: { trace: Trace }): JSX.Element {
  const { memory, memory_time: time, torch_memory: torch } = trace.tables.memory;
  const peak = (torch?.rows.length ?? 0) > 0 ? torch : memory;
  const has = (table: StatedTable | undefined): table is StatedTable => (table?.rows.length ?? 0) > 0;
  return (
    <div class="view memory">
      {(has(time) || has(peak)) && (
        <div class="above">
          {has(time) && <OverTime trace={trace} table={time} />}
          {has(peak) && <AtPeak trace={trace} table={peak} />}
        </div>
      )}
      <SwitchedTables
        trace={trace}
        label="Memory"
        tables={trace.tables.memory}
        options={kOptions}
        empty="No memory was allocated while recording."
        note={(by, { remarks }) => {
          const left = trace.tables.left_out[by] ?? 0;
          return (left > 0 ? `${countText(left)} more rows are not in this page. ` : "") + remarks;
        }}
      />
    </div>
  );
}
