// SPDX-License-Identifier: Apache-2.0
//
// The whole timeline: axis, overview of the trace, labels, rows, arrows from launches to their work.
import type { Track } from "./timeline_tracks";
import { axisText } from "../data/numbers";
import { kFont, fitted } from "../ui/canvas";
import { paintMarks, paintSteps, paintRate } from "./timeline_lines";
import { paintCalls, paintIdle, paintLane, paintRanges, xOf, type Frame } from "./timeline_paint";

export const kLabels = 150;
export const kOverview = 30;
export const kAxis = 20;
export const kTop = kOverview + kAxis;

/** A piece of work in a lane. */
export interface Piece {
  lane: number;
  place: number;
}

export interface Placed {
  track: Track;
  /** From the top of all rows. */
  y: number;
}

export function placed(tracks: readonly Track[]): { rows: Placed[]; height: number } {
  let y = 0;
  const rows = tracks.map((track) => {
    const row = { track, y };
    y += track.height;
    return row;
  });
  return { rows, height: y };
}

export function niceStep(span: number, room: number): number {
  const min = (span / Math.max(1, room)) * 110;
  const power = 10 ** Math.floor(Math.log10(Math.max(1e-9, min)));
  return [1, 2, 5, 10].map((factor) => factor * power).find((step) => step >= min) ?? 10 * power;
}

function paintAxis(frame: Frame, height: number): void {
  const { context, theme } = frame;
  const step = Math.max(1, niceStep(frame.to - frame.from, frame.width));
  context.textAlign = "left";
  for (let tick = Math.ceil(frame.from / step) * step; tick < frame.to; tick += step) {
    const x = Math.round(xOf(frame, tick)) + 0.5;
    context.fillStyle = theme.line;
    context.fillRect(x, kOverview, 1, height - kOverview);
    context.fillStyle = theme.dim;
    context.fillText(axisText(tick, step), x + 4, kOverview + kAxis / 2);
  }
}

/** Busy share of the whole trace by pixel, over all lanes. Computed once per width. */
export function overviewOf(frame: Pick<Frame, "timeline">, pixels: number): Float32Array {
  const { timeline } = frame;
  const out = new Float32Array(pixels);
  const ns = (timeline.last - timeline.first) / pixels;
  for (const lane of timeline.lanes) {
    for (let x = 0; x < pixels; ++x) {
      const from = timeline.first + x * ns;
      if (lane.busy === undefined) out[x]! += lane.spans.busy(from, from + ns);
      else {
        const first = Math.floor((x * ns) / timeline.binNs);
        const last = Math.max(first + 1, Math.ceil(((x + 1) * ns) / timeline.binNs));
        for (let bin = first; bin < last; ++bin) out[x]! += (lane.busy[bin] ?? 0) / 1000 / (last - first);
      }
    }
  }
  return out;
}

function paintOverview(frame: Frame, profile: Float32Array): void {
  const { context, theme, timeline } = frame;
  const all = timeline.last - timeline.first;
  const at = (time: number): number => frame.left + ((time - timeline.first) / all) * frame.width;
  context.fillStyle = theme.panel;
  context.fillRect(frame.left, 0, frame.width, kOverview - 2);
  context.fillStyle = theme.accent;
  for (let x = 0; x < profile.length; ++x) {
    const high = Math.min(1, profile[x]!) * (kOverview - 8);
    if (high > 0) context.fillRect(frame.left + x, kOverview - 3 - Math.max(1, high), 1, Math.max(1, high));
  }
  context.fillStyle = theme.warn;
  for (const window of timeline.windows)
    context.fillRect(at(window.start_ns), 0, Math.max(2, at(window.end_ns) - at(window.start_ns)), 3);
  const x0 = Math.max(frame.left, at(frame.from));
  const x1 = Math.min(frame.left + frame.width, at(frame.to));
  context.globalAlpha = 0.18;
  context.fillStyle = theme.text;
  context.fillRect(frame.left, 0, Math.max(0, x0 - frame.left), kOverview - 2);
  context.fillRect(x1, 0, Math.max(0, frame.left + frame.width - x1), kOverview - 2);
  context.globalAlpha = 1;
  context.strokeStyle = theme.text;
  context.lineWidth = 1;
  context.strokeRect(x0 + 0.5, 0.5, Math.max(1, x1 - x0 - 1), kOverview - 3);
}

function paintTrack(frame: Frame, track: Track, y: number): void {
  switch (track.type) {
    case "lane":
      return paintLane(frame, track, y);
    case "ranges":
      return paintRanges(frame, track, y);
    case "calls":
      return paintCalls(frame, track, y);
    case "idle":
      return paintIdle(frame, track, y);
    case "rate":
      return paintRate(frame, track, y);
    case "steps":
      return paintSteps(frame, track, y);
    case "marks":
      return paintMarks(frame, track, y);
    default:
      return undefined;
  }
}

function paintLabel(frame: Frame, track: Track, y: number): void {
  const { context, theme } = frame;
  if (track.type === "head") {
    context.fillStyle = theme.panel;
    context.fillRect(0, y, frame.left + frame.width, track.height);
    context.fillStyle = theme.text;
    context.font = `600 ${kFont}`;
    context.fillText(fitted(context, track.title, frame.left + frame.width - 12), 8, y + track.height / 2 + 0.5);
    context.font = kFont;
    return;
  }
  const lines =
    track.type === "rate" && track.series.length > 1
      ? track.series.map((series) => series.name.replace(/^[^_]*_/, ""))
      : [];
  context.fillStyle = theme.dim;
  const top = lines.length > 0 ? y + 9 : y + Math.min(track.height, 26) / 2 + 0.5;
  context.fillText(fitted(context, track.title, kLabels - 16), 14, top);
  lines.forEach((text, i) => {
    context.fillStyle = [theme.accent, theme.names[1]!][i]!;
    context.fillText(text, 14, top + 13 * (i + 1));
  });
}

function yOfPiece(
  rows: readonly Placed[],
  frame: Frame,
  piece: Piece,
): { launch: number | undefined; work: number | undefined } {
  const lane = frame.timeline.lanes[piece.lane]!;
  const row = rows.find(({ track }) => track.type === "lane" && track.lane === lane);
  const call = rows.find(
    ({ track }) =>
      track.type === "calls" && track.lanes.some((at, i) => at === piece.lane && track.places[i] === piece.place),
  );
  return { work: row && row.y + 1, launch: call && call.y + call.track.height - 2 };
}

/** Draws an arrow from the launch on the host to the piece of work. */
function paintArrow(frame: Frame, rows: readonly Placed[], piece: Piece, shift: number): void {
  const lane = frame.timeline.lanes[piece.lane]!;
  if (lane.launchThread[piece.place] === 0) return;
  const { launch, work } = yOfPiece(rows, frame, piece);
  if (launch === undefined || work === undefined) return;
  const { context, theme } = frame;
  const [x0, y0] = [xOf(frame, lane.launch[piece.place]! + lane.launchNs[piece.place]!), launch + shift];
  const [x1, y1] = [xOf(frame, lane.spans.start[piece.place]!), work + shift];
  context.save();
  context.beginPath();
  context.rect(frame.left, kTop, frame.width, 1e5);
  context.clip();
  context.strokeStyle = context.fillStyle = theme.warn;
  context.lineWidth = 1.5;
  context.beginPath();
  context.moveTo(x0, y0);
  context.bezierCurveTo(x0, (y0 + y1) / 2, x1, (y0 + y1) / 2, x1, y1 - 5);
  context.stroke();
  context.beginPath();
  context.moveTo(x1 - 4, y1 - 7);
  context.lineTo(x1 + 4, y1 - 7);
  context.lineTo(x1, y1);
  context.fill();
  context.restore();
}

export interface Scene {
  rows: readonly Placed[];
  profile: Float32Array;
  scroll: number;
  height: number;
  arrows: readonly Piece[];
  /** Pointer, px from the left; undefined: not on the canvas. */
  pointer: number | undefined;
  picked: Piece | undefined;
}

function outlinePicked(frame: Frame, scene: Scene): void {
  if (scene.picked === undefined) return;
  const lane = frame.timeline.lanes[scene.picked.lane]!;
  const row = scene.rows.find(({ track }) => track.type === "lane" && track.lane === lane);
  if (row === undefined) return;
  const x = xOf(frame, lane.spans.start[scene.picked.place]!);
  const wide = Math.max(2, xOf(frame, lane.spans.end[scene.picked.place]!) - x);
  frame.context.strokeStyle = frame.theme.warn;
  frame.context.lineWidth = 2;
  frame.context.strokeRect(x, row.y + kTop - scene.scroll + 1, wide, row.track.height - 3);
}

export function paintScene(frame: Frame, scene: Scene): void {
  const { context, theme } = frame;
  context.clearRect(0, 0, frame.left + frame.width, scene.height);
  context.font = kFont;
  context.textBaseline = "middle";
  paintAxis(frame, scene.height);
  context.save();
  context.beginPath();
  context.rect(0, kTop, frame.left + frame.width, scene.height - kTop);
  context.clip();
  for (const { track, y } of scene.rows) {
    const top = y + kTop - scene.scroll;
    if (top + track.height < kTop || top > scene.height) continue;
    paintTrack(frame, track, top);
    paintLabel(frame, track, top);
  }
  outlinePicked(frame, scene);
  for (const piece of scene.arrows) paintArrow(frame, scene.rows, piece, kTop - scene.scroll);
  context.restore();
  paintOverview(frame, scene.profile);
  if (scene.pointer !== undefined && scene.pointer > frame.left) {
    context.fillStyle = theme.dim;
    context.globalAlpha = 0.5;
    context.fillRect(scene.pointer, kOverview, 1, scene.height - kOverview);
    context.globalAlpha = 1;
  }
}
