// SPDX-License-Identifier: Apache-2.0
//
// Rows of the timeline with lines: bytes per second of the hardware samples, clocks, power, memory in use; and marks.
//
// Draws one value per pixel, the mean over the time of the pixel. There is no line where nothing was measured.
import { percentText, rateText } from "../data/numbers";
import { xOf, type Frame } from "./timeline_paint";
import type { TrackOf } from "./timeline_tracks";

function busyOf(frame: Frame, gpu: number): Float64Array {
  let out = frame.busy.get(gpu);
  if (out === undefined) {
    out = sampled(frame, (from, to) =>
      frame.timeline.lanes.reduce((sum, lane) => (sum > 0 || lane.gpu !== gpu ? sum : lane.spans.busy(from, to)), 0),
    );
    frame.busy.set(gpu, out);
  }
  return out;
}

/** Draws one value per pixel as a line, with the area below filled. */
function paintLine(
  frame: Frame,
  y: number,
  height: number,
  values: Float64Array,
  max: number,
  color: string,
  filled: boolean,
): void {
  const { context, left } = frame;
  const foot = y + height;
  let open = false;
  context.beginPath();
  // NaN: not measured. The line goes down to the foot there, and starts there again.
  for (let x = 0; x <= values.length; ++x) {
    const known = x < values.length && !Number.isNaN(values[x]!);
    if (known && !open) context.moveTo(left + x, foot);
    if (known) context.lineTo(left + x, foot - (Math.min(max, Math.max(0, values[x]!)) / max) * (height - 2));
    if (!known && open) context.lineTo(left + x, foot);
    open = known;
  }
  if (filled) {
    context.globalAlpha = 0.25;
    context.fillStyle = color;
    context.fill();
    context.globalAlpha = 1;
  }
  context.strokeStyle = color;
  context.lineWidth = 1.2;
  context.stroke();
}

function sampled(frame: Frame, of: (from: number, to: number) => number): Float64Array {
  const nsOfPixel = (frame.to - frame.from) / frame.width;
  return Float64Array.from({ length: Math.floor(frame.width) }, (_, x) =>
    of(frame.from + x * nsOfPixel, frame.from + (x + 1) * nsOfPixel),
  );
}

function scaleText(frame: Frame, y: number, text: string): void {
  const { context, theme } = frame;
  const wide = context.measureText(text).width + 8;
  context.fillStyle = theme.page;
  context.globalAlpha = 0.8;
  context.fillRect(frame.left + frame.width - wide, y + 1, wide, 14);
  context.globalAlpha = 1;
  context.fillStyle = theme.dim;
  context.fillText(text, frame.left + frame.width - wide + 4, y + 8);
}

export function paintRate(frame: Frame, track: TrackOf<"rate">, y: number): void {
  const { context, theme } = frame;
  const busy = busyOf(frame, track.gpu);
  const nsOfPixel = (frame.to - frame.from) / frame.width;
  const lines = track.series.map((series) =>
    sampled(frame, (from, to) => {
      const value = series.mean(from, to);
      // A trace omits samples in which nothing ran, so those are 0. Work without a sample is unknown.
      return value > 0 || series.covers(from, to) || busy[Math.round((from - frame.from) / nsOfPixel)] === 0
        ? value
        : NaN;
    }),
  );
  let visible = 1;
  for (const line of lines) for (const value of line) if (value > visible) visible = value;
  const max = frame.fits && !track.percent ? visible : track.max;
  context.fillStyle = theme.unknown;
  lines[0]?.forEach((value, x) => Number.isNaN(value) && context.fillRect(frame.left + x, y + 4, 1, track.height - 6));
  const colors = [theme.accent, theme.names[1]!];
  lines.forEach((line, i) => paintLine(frame, y + 2, track.height - 4, line, max, colors[i]!, i === 0));
  if (track.peak !== undefined && track.peak <= max * 1.5) {
    const at = y + 2 + (track.height - 4) * (1 - track.peak / max);
    context.strokeStyle = theme.warn;
    context.strokeRect(frame.left, at, frame.width, 0.01);
  }
  scaleText(frame, y, track.percent ? "100 %" : scaleOf(track, max));
}

/** What the top of a row of bytes is. */
function scaleOf({ peak }: TrackOf<"rate">, max: number): string {
  if (peak === undefined) return `${rateText(max)}, peak unknown`;
  return max === peak ? `peak ${rateText(max)}` : `${rateText(max)}, ${percentText(max / peak)} of peak`;
}

export function paintSteps(frame: Frame, track: TrackOf<"steps">, y: number): void {
  const lines = track.series.map((series) => sampled(frame, (from, to) => series.max(from, to)));
  const { max } = track;
  lines.forEach((line, i) =>
    paintLine(
      frame,
      y + 2,
      track.height - 4,
      line,
      max,
      i === 0 ? frame.theme.names[2]! : frame.theme.names[3]!,
      i === 0,
    ),
  );
  scaleText(frame, y, track.text(max));
}

export function paintMarks(frame: Frame, track: TrackOf<"marks">, y: number): void {
  const { context, theme } = frame;
  for (let i = 0; i < track.at.length; ++i) {
    const x = xOf(frame, track.at[i]!);
    if (x < frame.left || x > frame.left + frame.width) continue;
    context.fillStyle = theme.warn;
    context.fillRect(x - 0.5, y + 2, 1.5, track.height - 4);
  }
}
