// SPDX-License-Identifier: Apache-2.0
//
// Bytes over time. On the line of the DRAM peak a module can only be faster if it moves fewer bytes. Far below
// it, DRAM is not the limit.
import type { JSX } from "preact";
import { useMemo, useRef } from "preact/hooks";
import type uPlot from "uplot";
import { bytesText, durationText, percentText, rateText } from "../data/numbers";
import type { Trace } from "../data/trace";
import { update, useStore } from "../state";
import { useTheme, type Theme } from "../theme";
import { ModulePlot } from "../ui/module_plot";
import type { PlotOptions } from "../ui/plot";
import { drawLabel, drawPoint, powers } from "../ui/points";
import { Switch } from "../ui/switch";
import { ModuleDetails } from "./module_details";
import { deepest, fitOf, pointsOf, rateOf, type Fit, type Point } from "./scatter_points";

interface Drawn {
  points: Point[];
  fit: Fit | undefined;
  roof: number | undefined;
  roofTitle: string;
  selected: number;
}

/** Draws bytesAt(time) over the whole plot, with a label at the right end. */
function line(
  plot: uPlot,
  theme: Theme,
  color: string,
  dash: number[],
  bytesAt: (ns: number) => number,
  label: string,
): void {
  const { ctx, bbox } = plot;
  const ratio = devicePixelRatio || 1;
  const from = plot.scales["x"]!.min!;
  const to = plot.scales["x"]!.max!;
  const at = (ns: number): [number, number] => [plot.valToPos(ns, "x", true), plot.valToPos(bytesAt(ns), "y", true)];
  ctx.save();
  ctx.beginPath();
  ctx.rect(bbox.left, bbox.top, bbox.width, bbox.height);
  ctx.clip();
  ctx.strokeStyle = color;
  ctx.lineWidth = 1.5 * ratio;
  ctx.setLineDash(dash.map((length) => length * ratio));
  ctx.beginPath();
  ctx.moveTo(...at(from));
  ctx.lineTo(...at(to));
  ctx.stroke();
  // The label is where the line leaves the plot, below or beside it.
  const [, yTop] = [0, bbox.top + 16 * ratio];
  const [x1, y1] = at(to);
  const [x0, y0] = at(from);
  const part = y1 < yTop ? (y0 - yTop) / (y0 - y1) : 1;
  ctx.textAlign = "right";
  ctx.textBaseline = "top";
  const x = Math.min(x0 + (x1 - x0) * part, bbox.left + bbox.width) - 8 * ratio;
  drawLabel(plot, theme, color, label, x, y0 + (y1 - y0) * part + 6 * ratio);
  ctx.restore();
}

function drawAll(plot: uPlot, trace: Trace, theme: Theme, drawn: Drawn): void {
  const { fit, roof } = drawn;
  const inOrder = [...drawn.points].sort(
    (a, b) => Number(a.module === drawn.selected) - Number(b.module === drawn.selected),
  );
  for (const point of inOrder) {
    const row = trace.modules[point.module]!;
    const chosen =
      point.module === drawn.selected || (drawn.selected >= 0 && trace.isWithin(point.module, drawn.selected));
    drawPoint(plot, theme, placeOf(point), {
      name: row.name,
      selected: point.module === drawn.selected,
      faded: drawn.selected >= 0 && !chosen,
    });
  }
  if (roof !== undefined)
    line(plot, theme, theme.warn, [], (ns) => (roof * ns) / 1e9, `${drawn.roofTitle} ${rateText(roof)}`);
  if (fit !== undefined)
    line(
      plot,
      theme,
      theme.dim,
      [6, 4],
      (ns) => 10 ** (fit.offset + fit.slope * Math.log10(ns)),
      `fit: bytes ~ time^${fit.slope.toFixed(2)}, R² ${fit.r2.toFixed(2)}`,
    );
}

function optionsOf(trace: Trace, theme: Theme, latest: { current: Drawn }): PlotOptions {
  const axis = { stroke: theme.dim, grid: { stroke: theme.line, width: 1 }, ticks: { stroke: theme.line, width: 1 } };
  const range = (_: uPlot, min: number, max: number): [number, number] => [
    10 ** Math.floor(Math.log10(Math.max(1, min))),
    10 ** Math.ceil(Math.log10(Math.max(10, max * 1.0001))),
  ];
  return {
    legend: { show: false },
    scales: { x: { time: false, distr: 3, range }, y: { distr: 3, range } },
    axes: [
      { ...axis, label: "GPU time", labelSize: 18, size: 36, values: powers(durationText) },
      { ...axis, label: "bytes", labelSize: 18, size: 70, values: powers(bytesText) },
    ],
    series: [{}, { show: true, paths: () => null, points: { show: false } }],
    cursor: { drag: { x: false, y: false }, points: { show: false }, x: false, y: false },
    hooks: { draw: [(plot) => drawAll(plot, trace, theme, latest.current)] },
  };
}

const placeOf = (point: Point): { x: number; y: number } => ({ x: point.x, y: point.bytes });

function PointTip({ trace, point }: { trace: Trace; point: Point }): JSX.Element {
  const row = trace.modules[point.module]!;
  const share = row.limit_share;
  return (
    <>
      <b>
        <bdi>{row.path.length > 200 ? `…${row.path.slice(-200)}` : row.path}</bdi>
      </b>
      <div>
        {durationText(point.x)}, {bytesText(point.bytes)}: {rateText((point.bytes / point.x) * 1e9)}
      </div>
      {share !== undefined && (
        <div>
          {percentText(share)} of the nearest limit{row.limiter !== undefined ? `, bound by ${row.limiter}` : ""}
        </div>
      )}
    </>
  );
}

export function ScatterView({ trace }: { trace: Trace }): JSX.Element {
  const state = useStore();
  const theme = useTheme();
  const metrics = (["dram", "l2"] as const).filter((metric) => trace.has(metric));
  const of = state.metric === "l2" && metrics.includes("l2") ? "l2" : (metrics[0] ?? "dram");
  const levels = useMemo(
    () =>
      Array.from({ length: deepest(trace) }, (_, i) => i + 1).filter((level) => pointsOf(trace, of, level).length > 0),
    [trace, of],
  );
  const level = levels.includes(state.level) ? state.level : 0;
  const points = useMemo(() => pointsOf(trace, of, level), [trace, of, level]);
  const fit = useMemo(() => fitOf(points), [points]);
  const roof = of === "dram" ? trace.peakDram : undefined;
  const drawn: Drawn = {
    points,
    fit,
    roof,
    roofTitle: "DRAM peak",
    selected: trace.placeOf(state.module) ?? -2,
  };
  const latest = useRef(drawn);
  latest.current = drawn;
  const options = useMemo(() => optionsOf(trace, theme, latest), [trace, theme]);
  if (metrics.length === 0)
    return (
      <div class="view">
        <p class="empty">No bytes were measured. With counters, every module is a point here.</p>
      </div>
    );
  const rate = rateOf(points);
  return (
    <div class="view scatter">
      <div class="tools">
        <Switch
          label="Bytes"
          options={metrics.map((metric) => [metric, metric === "dram" ? "DRAM" : "L2"] as const)}
          value={of}
          choose={(metric) => update({ metric })}
        />
        <Switch
          label="Level"
          options={[[0, "leaves"] as const, ...levels.map((one) => [one, String(one)] as const)]}
          value={level}
          choose={(next) => update({ level: next })}
        />
        <span class="fill" />
        <span class="dim">
          {points.length} modules, together {rateText(rate)}
          {roof !== undefined ? `, ${percentText(rate / roof)} of the DRAM peak` : ""}
        </span>
      </div>
      <div class="beside">
        <ModulePlot
          trace={trace}
          points={points}
          placeOf={placeOf}
          options={options}
          label={`${points.length} modules by GPU time and ${of === "dram" ? "DRAM" : "L2"} bytes; the table of modules has the same data`}
          tip={(point) => <PointTip trace={trace} point={point} />}
        />
        <ModuleDetails trace={trace} path={state.module} />
      </div>
    </div>
  );
}
