// SPDX-License-Identifier: Apache-2.0
//
// The roofline. Below the sloped line DRAM limits a module, below a flat one the arithmetic of that type. A module far
// below both waits.
import type { JSX } from "preact";
import { useMemo, useRef } from "preact/hooks";
import type uPlot from "uplot";
import { optionFor } from "../data/named";
import { flopText, percentText, plainNumber, rateText } from "../data/numbers";
import type { Trace } from "../data/trace";
import { update, useStore } from "../state";
import { useTheme, type Theme } from "../theme";
import { ModulePlot } from "../ui/module_plot";
import type { PlotOptions } from "../ui/plot";
import { drawLabel, drawPoint, powers, type Place } from "../ui/points";
import { Switch } from "../ui/switch";
import { ModuleDetails } from "./module_details";
import { peakLines, roofOf, rooflinePoints, type Peak, type RooflinePoint } from "./roofline_points";
import { deepest } from "./scatter_points";

interface Drawn {
  points: RooflinePoint[];
  peaks: Peak[];
  peakDram: number | undefined;
  selected: number;
}

function drawRoofs(plot: uPlot, theme: Theme, { peaks, peakDram }: Drawn): void {
  const { ctx, bbox } = plot;
  const ratio = devicePixelRatio || 1;
  const { min: from, max: to } = plot.scales["x"] as { min: number; max: number };
  const at = (x: number, y: number): [number, number] => [plot.valToPos(x, "x", true), plot.valToPos(y, "y", true)];
  const ridge = (flops: number): number => (peakDram === undefined ? from : Math.max(from, flops / peakDram));
  const stroke = (color: string, start: [number, number], end: [number, number]): void => {
    ctx.strokeStyle = color;
    ctx.lineWidth = 1.5 * ratio;
    ctx.beginPath();
    ctx.moveTo(...start);
    ctx.lineTo(...end);
    ctx.stroke();
  };
  ctx.save();
  ctx.beginPath();
  ctx.rect(bbox.left, bbox.top, bbox.width, bbox.height);
  ctx.clip();
  ctx.textAlign = "right";
  ctx.textBaseline = "bottom";
  for (const { title, flops } of peaks) {
    stroke(theme.accent, at(ridge(flops), flops), at(to, flops));
    const [right, y] = at(to, flops);
    drawLabel(plot, theme, theme.accent, `${title} ${flopText(flops)}`, right - 8 * ratio, y - 2 * ratio);
  }
  if (peakDram !== undefined) {
    const end = peaks[0] === undefined ? to : Math.min(to, ridge(peaks[0].flops));
    const [x0, y0] = at(from, from * peakDram);
    const [x1, y1] = at(end, end * peakDram);
    stroke(theme.warn, [x0, y0], [x1, y1]);
    // Along the line, in the middle of its visible part.
    const low = Math.min(y0, bbox.top + bbox.height);
    const part = (y0 - (low + y1) / 2) / (y0 - y1);
    ctx.translate(x0 + (x1 - x0) * part, (low + y1) / 2);
    ctx.rotate(Math.atan2(y1 - y0, x1 - x0));
    ctx.textAlign = "center";
    drawLabel(plot, theme, theme.warn, `DRAM peak ${rateText(peakDram)}`, 0, -4 * ratio);
  }
  ctx.restore();
}

/** The selected module's distance to its roof. */
function drawHeadroom(plot: uPlot, theme: Theme, point: RooflinePoint, peakDram: number | undefined): void {
  const roof = roofOf(point, peakDram);
  if (roof === undefined) return;
  const { ctx } = plot;
  const ratio = devicePixelRatio || 1;
  const x = plot.valToPos(point.x, "x", true);
  ctx.save();
  ctx.strokeStyle = theme.warn;
  ctx.lineWidth = 1.5 * ratio;
  ctx.setLineDash([4 * ratio, 4 * ratio]);
  ctx.beginPath();
  ctx.moveTo(x, plot.valToPos(point.y, "y", true));
  ctx.lineTo(x, plot.valToPos(roof.flops, "y", true));
  ctx.stroke();
  ctx.restore();
}

function drawAll(plot: uPlot, trace: Trace, theme: Theme, drawn: Drawn): void {
  const { selected } = drawn;
  drawRoofs(plot, theme, drawn);
  const inOrder = [...drawn.points].sort((a, b) => Number(a.module === selected) - Number(b.module === selected));
  for (const point of inOrder) {
    const isSelected = point.module === selected;
    if (isSelected) drawHeadroom(plot, theme, point, drawn.peakDram);
    const faded = selected >= 0 && !isSelected && !trace.isWithin(point.module, selected);
    drawPoint(plot, theme, point, { name: trace.modules[point.module]!.name, selected: isSelected, faded });
  }
}

const below = (value: number): number => 10 ** Math.floor(Math.log10(value));
const above = (value: number): number => 10 ** Math.ceil(Math.log10(value * 1.0001));

function optionsOf(trace: Trace, theme: Theme, latest: { current: Drawn }): PlotOptions {
  const axis = { stroke: theme.dim, grid: { stroke: theme.line, width: 1 }, ticks: { stroke: theme.line, width: 1 } };
  // The highest peak and its ridge are visible, where the other roofs end.
  const highest = (): number => latest.current.peaks[0]?.flops ?? 0;
  const ridge = (): number => highest() / (latest.current.peakDram ?? Infinity);
  const range =
    (least: () => number) =>
    (_: uPlot, min: number, max: number): [number, number] => [below(min), above(Math.max(max, least()))];
  return {
    legend: { show: false },
    scales: {
      x: { time: false, distr: 3, range: range(() => ridge() * 3) },
      y: { distr: 3, range: range(() => highest() * 1.5) },
    },
    axes: [
      { ...axis, label: "FLOP per DRAM byte", labelSize: 18, size: 36, values: powers(plainNumber) },
      { ...axis, label: "FLOP/s", labelSize: 18, size: 92, values: powers(flopText) },
    ],
    series: [{}, { show: true, paths: () => null, points: { show: false } }],
    cursor: { drag: { x: false, y: false }, points: { show: false }, x: false, y: false },
    hooks: { draw: [(plot) => drawAll(plot, trace, theme, latest.current)] },
  };
}

function PointTip({ trace, point }: { trace: Trace; point: RooflinePoint }): JSX.Element {
  const row = trace.modules[point.module]!;
  const roof = roofOf(point, trace.peakDram);
  return (
    <>
      <b>
        <bdi>{row.path.length > 200 ? `…${row.path.slice(-200)}` : row.path}</bdi>
      </b>
      <div>
        {flopText(point.y)} at {plainNumber(point.x)} FLOP/byte
      </div>
      {roof !== undefined && (
        <div>
          {percentText(point.y / roof.flops)} of its roof: {roof.is}, {flopText(roof.flops)}
        </div>
      )}
      {row.limiter !== undefined && <div>bound by {row.limiter}</div>}
    </>
  );
}

function Empty(): JSX.Element {
  return (
    <div class="view">
      <p class="empty">
        No module has both operations and DRAM bytes. Record with <code>{optionFor(["roofline"])}</code>. Metric sets
        take turns, so a module that runs only once may have too few launches.
      </p>
    </div>
  );
}

const placeOf = (point: RooflinePoint): Place => point;

export function RooflineView({ trace }: { trace: Trace }): JSX.Element {
  const state = useStore();
  const theme = useTheme();
  const levels = useMemo(
    () =>
      Array.from({ length: deepest(trace) + 1 }, (_, level) => level).filter(
        (level) => rooflinePoints(trace, level).length > 0,
      ),
    [trace],
  );
  const level = levels.includes(state.level) ? state.level : (levels[0] ?? 0);
  const points = useMemo(() => rooflinePoints(trace, level), [trace, level]);
  const peaks = useMemo(() => peakLines(trace.peakFlops), [trace]);
  const drawn: Drawn = { points, peaks, peakDram: trace.peakDram, selected: trace.placeOf(state.module) ?? -2 };
  const latest = useRef(drawn);
  latest.current = drawn;
  const options = useMemo(() => optionsOf(trace, theme, latest), [trace, theme]);
  if (levels.length === 0) return <Empty />;
  return (
    <div class="view roofline">
      <div class="tools">
        <Switch
          label="Level"
          options={levels.map((one) => [one, one === 0 ? "leaves" : String(one)] as const)}
          value={level}
          choose={(next) => update({ level: next })}
        />
        <span class="fill" />
        <span class="dim">
          {points.length} {points.length === 1 ? "module" : "modules"}; operations of the FMA pipe are an upper bound
        </span>
      </div>
      <div class="beside">
        <ModulePlot
          trace={trace}
          points={points}
          placeOf={placeOf}
          options={options}
          label={`${points.length} modules by FLOP per DRAM byte and FLOP/s; the table of modules has the same data`}
          tip={(point) => <PointTip trace={trace} point={point} />}
        />
        <ModuleDetails trace={trace} path={state.module} />
      </div>
    </div>
  );
}
