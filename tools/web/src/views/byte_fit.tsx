// SPDX-License-Identifier: Apache-2.0
//
// Latency against transfer: GPU time over bytes, a call, of the modules of one depth, with the fitted lines of
// `report --section modules --fit`. DRAM beside L2. Linear axes from 0, because the line's offset is time that moves
// no bytes.
import type { JSX } from "preact";
import { useMemo, useRef } from "preact/hooks";
import type uPlot from "uplot";
import { bytesText, durationText } from "../data/numbers";
import type { ByteFit } from "../data/rows";
import type { Trace } from "../data/trace";
import { update, useStore } from "../state";
import { useTheme, type Theme } from "../theme";
import { fitted, kFont } from "../ui/canvas";
import { ModulePlot } from "../ui/module_plot";
import type { PlotOptions } from "../ui/plot";
import { drawLabel, drawPoint } from "../ui/points";
import { Switch } from "../ui/switch";
import { fitAt, fitPoints, kLevels, levelTitle, lineAt, lineText, type FitPoint, type Level } from "./byte_fit_points";

/** More would cover each other. The tip names every point. */
const kMaxLabels = 6;

interface Drawn {
  points: FitPoint[];
  line: ((bytes: number) => number) | undefined;
  selected: number;
}

function drawLine(plot: uPlot, theme: Theme, nsAt: (bytes: number) => number): void {
  const { ctx, bbox } = plot;
  const ratio = devicePixelRatio || 1;
  const to = plot.scales["x"]!.max!;
  ctx.save();
  ctx.beginPath();
  ctx.rect(bbox.left, bbox.top, bbox.width, bbox.height);
  ctx.clip();
  ctx.strokeStyle = theme.dim;
  ctx.lineWidth = 1.5 * ratio;
  ctx.setLineDash([6 * ratio, 4 * ratio]);
  ctx.beginPath();
  for (const [move, bytes] of [
    ["moveTo", 0],
    ["lineTo", to],
  ] as const)
    ctx[move](plot.valToPos(bytes, "x", true), plot.valToPos(nsAt(bytes), "y", true));
  ctx.stroke();
  ctx.restore();
}

function drawPoints(plot: uPlot, trace: Trace, theme: Theme, drawn: Drawn): void {
  const { ctx, bbox } = plot;
  const ratio = devicePixelRatio || 1;
  const at = (point: FitPoint): [number, number] => [
    plot.valToPos(point.bytes, "x", true),
    plot.valToPos(point.ns, "y", true),
  ];
  ctx.save();
  for (const point of drawn.points) {
    const { name } = trace.modules[point.module]!;
    drawPoint(plot, theme, placeOf(point), { name, selected: point.module === drawn.selected, marked: point.far });
  }
  const { line } = drawn;
  if (line !== undefined) {
    const distance = (point: FitPoint): number => Math.abs(point.ns - line(point.bytes));
    const far = drawn.points.filter((point) => point.far).sort((a, b) => distance(b) - distance(a));
    ctx.textBaseline = "middle";
    for (const point of far.slice(0, kMaxLabels)) {
      const [x, y] = at(point);
      const onRight = x < bbox.left + bbox.width / 2;
      const room = (onRight ? bbox.left + bbox.width - x : x - bbox.left) - 10 * ratio;
      // fitted() remembers widths at the font's size, not at the screen's.
      ctx.font = kFont;
      const label = fitted(ctx, trace.modules[point.module]!.path.split("/").slice(-3).join("/"), room / ratio);
      ctx.textAlign = onRight ? "left" : "right";
      drawLabel(plot, theme, theme.text, label, x + (onRight ? 8 : -8) * ratio, y);
    }
  }
  ctx.restore();
}

function optionsOf(trace: Trace, theme: Theme, level: Level, latest: { current: Drawn }): PlotOptions {
  const axis = { stroke: theme.dim, grid: { stroke: theme.line, width: 1 }, ticks: { stroke: theme.line, width: 1 } };
  const range = (_: uPlot, _min: number, max: number): [number, number] => [0, Math.max(max, 1) * 1.05];
  const texts =
    (text: (value: number) => string) =>
    (_: uPlot, ticks: number[]): string[] =>
      ticks.map(text);
  return {
    legend: { show: false },
    scales: { x: { time: false, range }, y: { range } },
    axes: [
      {
        ...axis,
        label: `${levelTitle[level]} bytes a call`,
        labelSize: 18,
        size: 36,
        space: 80,
        values: texts(bytesText),
      },
      { ...axis, label: "GPU busy a call", labelSize: 18, size: 70, values: texts(durationText) },
    ],
    series: [{}, { show: true, paths: () => null, points: { show: false } }],
    cursor: { drag: { x: false, y: false }, points: { show: false }, x: false, y: false },
    hooks: {
      draw: [
        (plot) => {
          const { line } = latest.current;
          if (line !== undefined) drawLine(plot, theme, line);
          drawPoints(plot, trace, theme, latest.current);
        },
      ],
    },
  };
}

const placeOf = (point: FitPoint): { x: number; y: number } => ({ x: point.bytes, y: point.ns });

function FitPlot({ trace, fit, level }: { trace: Trace; fit: ByteFit; level: Level }): JSX.Element {
  const theme = useTheme();
  const points = useMemo(() => fitPoints(fit, level), [fit, level]);
  const drawn: Drawn = { points, line: lineAt(fit, level), selected: trace.placeOf(useStore().module) ?? -2 };
  const latest = useRef(drawn);
  latest.current = drawn;
  const options = useMemo(() => optionsOf(trace, theme, level, latest), [trace, theme, level]);
  const text = `${levelTitle[level]}: ${lineText(fit, level)}`;
  return (
    <div class="fit">
      <p class="fit-line">{text}</p>
      <ModulePlot
        trace={trace}
        points={points}
        placeOf={placeOf}
        options={options}
        label={`GPU busy time of ${points.length} modules over their bytes. ${text}`}
        tip={(point) => (
          <>
            <b>
              <bdi>{trace.modules[point.module]!.path.slice(-200)}</bdi>
            </b>
            <div>
              {durationText(point.ns)} and {bytesText(point.bytes)} a call
              {point.far && drawn.line !== undefined
                ? `, ${durationText(Math.max(0, drawn.line(point.bytes)))} on the line`
                : ""}
            </div>
          </>
        )}
      />
    </div>
  );
}

export function ByteFitView({ trace }: { trace: Trace }): JSX.Element {
  const state = useStore();
  const fits = trace.tables.byte_fit;
  const fit = fitAt(fits, state.level);
  if (fit === undefined)
    return (
      <div class="view">
        <p class="empty">No fit: it needs three modules of one depth with measured bytes.</p>
      </div>
    );
  return (
    <div class="view byte-fit">
      <div class="tools">
        <Switch
          label="Depth"
          options={fits.map((one) => [one.depth, String(one.depth)] as const)}
          value={fit.depth}
          choose={(level) => update({ level })}
        />
        <span class="fill" />
        <span class="dim">{fit.modules} modules; least squares of the values a call</span>
      </div>
      <div class="beside">
        {kLevels.map((level) => (
          <FitPlot key={level} trace={trace} fit={fit} level={level} />
        ))}
      </div>
    </div>
  );
}
