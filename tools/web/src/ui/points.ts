// SPDX-License-Identifier: Apache-2.0
//
// Points with names in a plot: drawing, the one at the pointer, ticks of logarithmic axes.
import type uPlot from "uplot";
import { nameColor, type Theme } from "../theme";
import { kFont } from "./canvas";

/** In the units of the axes. */
export interface Place {
  x: number;
  y: number;
}

const kReach = 14; // px

export function nearest<Point>(
  plot: uPlot,
  points: readonly Point[],
  placeOf: (point: Point) => Place,
  event: MouseEvent,
): Point | undefined {
  const bounds = plot.over.getBoundingClientRect();
  let best: Point | undefined;
  let closest = kReach ** 2;
  for (const point of points) {
    const { x, y } = placeOf(point);
    const distance =
      (plot.valToPos(x, "x") - (event.clientX - bounds.left)) ** 2 +
      (plot.valToPos(y, "y") - (event.clientY - bounds.top)) ** 2;
    if (distance < closest) [closest, best] = [distance, point];
  }
  return best;
}

/** `name` gives the colour: names that differ only in numbers have the same. */
export function drawPoint(
  plot: uPlot,
  theme: Theme,
  { x, y }: Place,
  look: { name: string; selected: boolean; marked?: boolean; faded?: boolean },
): void {
  const { ctx } = plot;
  const ratio = devicePixelRatio || 1;
  const stands = look.selected || look.marked === true;
  ctx.save();
  ctx.globalAlpha = look.faded === true ? 0.35 : 0.95;
  ctx.fillStyle = nameColor(theme, look.name.replace(/\d+/g, "*"));
  ctx.strokeStyle = stands ? theme.warn : theme.dim;
  ctx.lineWidth = (stands ? 2 : 1) * ratio;
  ctx.beginPath();
  ctx.arc(plot.valToPos(x, "x", true), plot.valToPos(y, "y", true), (look.selected ? 7 : 4.5) * ratio, 0, 2 * Math.PI);
  ctx.fill();
  ctx.stroke();
  ctx.restore();
}

/** Text with a rim in the colour of the page, in canvas pixels. */
export function drawLabel(plot: uPlot, theme: Theme, color: string, label: string, x: number, y: number): void {
  const { ctx } = plot;
  const ratio = devicePixelRatio || 1;
  ctx.font = kFont.replace("12px", `${12 * ratio}px`);
  ctx.setLineDash([]);
  ctx.strokeStyle = theme.page;
  ctx.lineWidth = 4 * ratio;
  ctx.strokeText(label, x, y);
  ctx.fillStyle = color;
  ctx.fillText(label, x, y);
}

/** Labels only powers of ten on a logarithmic axis. */
export const powers =
  (text: (value: number) => string) =>
  (_: uPlot, ticks: number[]): string[] =>
    ticks.map((tick) => (Math.abs(Math.log10(tick) - Math.round(Math.log10(tick))) < 1e-6 ? text(tick) : ""));
