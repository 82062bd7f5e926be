// SPDX-License-Identifier: Apache-2.0
//
// Stripes over times that are the profiler's, not the program's: holds, and traffic of its own sampling.
import type { Spans } from "../data/spans";
import type { Theme } from "../theme";
import { xOf, type Frame } from "./timeline_paint";

const kTile = 6;
const tiles = new Map<string, CanvasPattern | null>();

function tileOf(context: CanvasRenderingContext2D, theme: Theme): CanvasPattern | null {
  const known = tiles.get(theme.dim);
  if (known !== undefined) return known;
  const tile = document.createElement("canvas");
  tile.width = tile.height = kTile;
  const ink = tile.getContext("2d")!;
  ink.strokeStyle = theme.dim;
  ink.beginPath();
  for (const at of [-kTile, 0, kTile]) {
    ink.moveTo(at - 1, kTile + 1);
    ink.lineTo(at + kTile + 1, -1);
  }
  ink.stroke();
  const pattern = context.createPattern(tile, "repeat");
  tiles.set(theme.dim, pattern);
  return pattern;
}

/** Over a row, once per pixel. */
export function hatch(frame: Frame, spans: Spans, y: number, height: number): void {
  if (spans.length === 0) return;
  const { context } = frame;
  const pattern = tileOf(context, frame.theme);
  if (pattern === null) return;
  const nsOfPixel = (frame.to - frame.from) / frame.width;
  const right = frame.left + frame.width;
  context.fillStyle = pattern;
  for (let i = spans.firstAfter(frame.from); i < spans.length && spans.start[i]! < frame.to;) {
    const x0 = Math.max(frame.left, xOf(frame, spans.start[i]!));
    const x1 = Math.min(right, xOf(frame, spans.end[i]!));
    context.fillRect(x0, y, Math.max(1, x1 - x0), height);
    if (x1 - x0 >= 1) ++i;
    else i = spans.nextDrawn(i, frame.from + (Math.floor(x0 - frame.left) + 1) * nsOfPixel);
  }
}
