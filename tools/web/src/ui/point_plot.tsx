// SPDX-License-Identifier: Apache-2.0
//
// Points with names, bounds and lines with labels in a plot: the tip of the point at the pointer, and a click that
// selects it. Names and labels that would cover others are left out; the tip names every point.
import type { JSX } from "preact";
import { useMemo, useRef, useState } from "preact/hooks";
import uPlot from "uplot";
import type { Line, Picture, Point } from "../data/limits";
import { hueColor, nameColor, useTheme, type Theme } from "../theme";
import { kFont } from "./canvas";
import { Plot, type PlotOptions } from "./plot";
import { Tip } from "./tip";

const kReach = 14; // px
const kMaxNames = 24;
type Box = readonly [x0: number, y0: number, x1: number, y1: number];

interface Drawing {
  plot: uPlot;
  theme: Theme;
  ratio: number;
  /** Places of texts, in pixels of the canvas. */
  taken: Box[];
}

const placeOf = (plot: uPlot, x: number, y: number): [number, number] => [
  plot.valToPos(x, "x", true),
  plot.valToPos(y, "y", true),
];

/** Text with a rim in the colour of the page, if it covers no other and fits; `always`: anyway. */
function write(
  { plot, theme, ratio, taken }: Drawing,
  text: string,
  color: string,
  x: number,
  y: number,
  always = false,
): void {
  const { ctx, bbox } = plot;
  const short = text.length > 44 ? `${text.slice(0, 43)}…` : text;
  const wide = ctx.measureText(short).width;
  const left = Math.min(Math.max(x, bbox.left + 4 * ratio), bbox.left + bbox.width - wide - 4 * ratio);
  const top = Math.min(Math.max(y - 8 * ratio, bbox.top), bbox.top + bbox.height - 16 * ratio);
  const box: Box = [left, top, left + wide, top + 16 * ratio];
  const covers = taken.some(([a, b, c, d]) => box[0] < c && box[2] > a && box[1] < d && box[3] > b);
  if (covers && !always) return;
  taken.push(box);
  ctx.strokeStyle = theme.page;
  ctx.lineWidth = 4 * ratio;
  ctx.strokeText(short, left, top + 8 * ratio);
  ctx.fillStyle = color;
  ctx.fillText(short, left, top + 8 * ratio);
}

function drawLine(drawing: Drawing, { from, to, color, dash, before, label }: Line): void {
  const { plot, theme, ratio } = drawing;
  const { ctx } = plot;
  const [x0, y0] = placeOf(plot, ...from);
  const [x1, y1] = placeOf(plot, ...to);
  ctx.setLineDash(dash === true ? [6 * ratio, 4 * ratio] : []);
  ctx.strokeStyle = color === "l2" ? theme.names[6]! : theme[color];
  ctx.lineWidth = 1.5 * ratio;
  ctx.beginPath();
  ctx.moveTo(x0, y0);
  ctx.lineTo(x1, y1);
  ctx.stroke();
  ctx.setLineDash([]);
  // A level line has its label at the right end, another one beside its middle.
  const isLevel = Math.abs(y1 - y0) < 1;
  const wide = ctx.measureText(label).width;
  const low = Math.min(y0, plot.bbox.top + plot.bbox.height);
  const part = y0 === y1 ? 1 : Math.min(1, ((low - y1) * 0.6) / Math.abs(y0 - y1) + (y0 - low) / (y0 - y1));
  const tone = color === "l2" ? theme.text : theme[color];
  // A flat one has it above.
  const up = Math.abs(y1 - y0) < Math.abs(x1 - x0) / 4 ? 11 * ratio : 0;
  if (before === true) write(drawing, label, tone, x0 - wide - 6 * ratio, y0);
  else if (isLevel) write(drawing, label, tone, x1 - wide - 6 * ratio, y1 - 9 * ratio);
  else write(drawing, label, tone, x0 + (x1 - x0) * part + 8 * ratio, y0 + (y1 - y0) * part - up);
}

function drawPoint({ plot, theme, ratio }: Drawing, point: Point, isSelected: boolean, faded: boolean): void {
  const { ctx } = plot;
  const [x, y] = placeOf(plot, point.x, point.y);
  const stands = isSelected || point.far === true;
  ctx.globalAlpha = faded ? 0.35 : 0.95;
  const { family, name } = point;
  const color = family === undefined ? nameColor(theme, name) : hueColor(theme, family, false);
  ctx.fillStyle = point.ring === true ? theme.page : color;
  ctx.strokeStyle = stands ? theme.warn : theme.dim;
  ctx.lineWidth = (stands ? 2 : 1) * ratio;
  ctx.beginPath();
  if (point.low !== undefined) {
    const edge = plot.bbox.left + plot.bbox.width;
    const [x0, x1] = [point.low, point.high!].map((end) =>
      Number.isFinite(end) ? Math.max(plot.bbox.left, plot.valToPos(end, "x", true)) : edge + 9,
    ) as [number, number];
    for (const end of [x0, x1]) ctx.rect(end, y - 3 * ratio, 0, 6 * ratio);
    ctx.rect(x0, y, x1 - x0, 0);
    ctx.stroke();
    ctx.beginPath();
  }
  ctx.arc(x, y, (isSelected ? 7 : 4.5) * ratio, 0, 2 * Math.PI);
  ctx.fill();
  ctx.stroke();
  ctx.globalAlpha = 1;
}

interface PointPlotProps {
  picture: Picture;
  isSelected: (point: Point) => boolean;
  /** Neither it nor a part of what is selected. */
  isFaded: (point: Point) => boolean;
  select: (point: Point) => void;
  label: string;
}

function drawAll(plot: uPlot, theme: Theme, { picture, isSelected, isFaded }: PointPlotProps): void {
  const { ctx, bbox } = plot;
  const drawing: Drawing = { plot, theme, ratio: devicePixelRatio || 1, taken: [] };
  const { ratio } = drawing;
  ctx.save();
  ctx.beginPath();
  ctx.rect(bbox.left, bbox.top, bbox.width, bbox.height);
  ctx.clip();
  ctx.font = kFont.replace("12px", `${12 * ratio}px`);
  ctx.textAlign = "left";
  ctx.textBaseline = "middle";
  const { points, lines } = picture;
  for (const line of lines) drawLine(drawing, line);
  // The selected one last.
  for (const point of [...points].sort((a, b) => Number(isSelected(a)) - Number(isSelected(b))))
    drawPoint(drawing, point, isSelected(point), isFaded(point));
  const named = points.filter((point) => point.ring !== true);
  const rank = (point: Point): number => (isSelected(point) ? 0 : point.far === true ? 1 : 2);
  const order = [...named].sort((a, b) => rank(a) - rank(b) || b.y - a.y).slice(0, kMaxNames);
  for (const point of order) {
    const [x, y] = placeOf(plot, point.x, point.y);
    write(drawing, point.name, theme.text, x + 9 * ratio, y, isSelected(point));
  }
  ctx.restore();
}

function optionsOf({ isLog, x, y }: Picture, theme: Theme, latest: { current: PointPlotProps }): PlotOptions {
  const axis = { stroke: theme.dim, grid: { stroke: theme.line, width: 1 }, ticks: { stroke: theme.line, width: 1 } };
  // Only powers of ten on a logarithmic axis.
  const isShown = (tick: number): boolean => !isLog || Math.abs(Math.log10(tick) - Math.round(Math.log10(tick))) < 1e-6;
  const axisOf = ({ title, text }: Picture["x"], more: uPlot.Axis): uPlot.Axis => ({
    ...{ ...axis, label: title, labelSize: 18, ...more },
    values: (_: uPlot, ticks: number[]) => ticks.map((tick) => (isShown(tick) ? text(tick) : "")),
  });
  const scale = ({ range }: Picture["x"]): uPlot.Scale => ({ range: [...range], distr: isLog ? 3 : 1 });
  return {
    legend: { show: false },
    scales: { x: { ...scale(x), time: false }, y: scale(y) },
    axes: [axisOf(x, { size: 36, space: 80 }), axisOf(y, { size: 92 })],
    series: [{}, { show: true, paths: () => null, points: { show: false } }],
    cursor: { drag: { x: false, y: false }, points: { show: false }, x: false, y: false },
    hooks: { draw: [(plot) => drawAll(plot, theme, latest.current)] },
  };
}

export function PointPlot(props: PointPlotProps): JSX.Element {
  const theme = useTheme();
  const plot = useRef<uPlot | undefined>(undefined);
  const [over, setOver] = useState<{ point: Point; x: number; y: number }>();
  const { points, isLog, x, y } = props.picture;
  const latest = useRef(props);
  latest.current = props;
  const data = useMemo(() => {
    const places = [...points].sort((a, b) => a.x - b.x);
    return [places.map((point) => point.x), places.map((point) => point.y)] as uPlot.AlignedData;
  }, [points]);
  const options = useMemo(
    () => optionsOf(props.picture, theme, latest),
    [theme, isLog, ...x.range, ...y.range, x.title, y.title],
  );
  plot.current?.redraw(false);
  const nearest = (event: MouseEvent): Point | undefined => {
    const { left, top } = plot.current!.over.getBoundingClientRect();
    let best: Point | undefined;
    let closest = kReach ** 2;
    for (const point of points) {
      const dx = plot.current!.valToPos(point.x, "x") - (event.clientX - left);
      const dy = plot.current!.valToPos(point.y, "y") - (event.clientY - top);
      if (dx * dx + dy * dy < closest) [closest, best] = [dx * dx + dy * dy, point];
    }
    return best;
  };
  return (
    <>
      <div
        class="plot-box"
        onPointerMove={(event) => {
          const point = nearest(event);
          setOver(point && { point, x: event.clientX, y: event.clientY });
        }}
        onPointerLeave={() => setOver(undefined)}
        onClick={() => over !== undefined && props.select(over.point)}
      >
        <Plot options={options} data={data} label={props.label} onPlot={(made) => (plot.current = made)} />
      </div>
      {over !== undefined && (
        <Tip x={over.x} y={over.y}>
          {over.point.tip.map((text, i) => (i === 0 ? <b key={i}>{text}</b> : <div key={i}>{text}</div>))}
        </Tip>
      )}
    </>
  );
}
