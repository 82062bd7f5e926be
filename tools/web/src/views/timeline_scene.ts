// SPDX-License-Identifier: Apache-2.0
//
// The whole timeline: axis, overview of the trace, labels, rows, arrows from launches to their work.
//
//   overview ┊ axis ┊ pinned rows, which do not scroll ┊ rows
import type { Track, TrackGroup } from "./timeline_tracks";
import { axisText, durationText } from "../data/numbers";
import { kFont, fitted } from "../ui/canvas";
import { hatch } from "./timeline_hatch";
import { paintMarks, paintSteps, paintRate } from "./timeline_lines";
import { paintCalls, paintIdle, paintLane, paintRanges, xOf, type Frame } from "./timeline_paint";

/** Width of the labels of rows, and in a narrow window. */
const kLabels = 150;
const kNarrowLabels = 84;
const kNarrow = 600;
export const labelsOf = (width: number): number => (width < kNarrow ? kNarrowLabels : kLabels);
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
  group: TrackGroup;
  /** From the top of all rows. */
  y: number;
}

export interface Rows {
  rows: readonly Placed[];
  height: number;
}

/** What one hides and pins, by TrackGroup.key. */
export interface Arrangement {
  hidden: ReadonlySet<string>;
  pinned: ReadonlySet<string>;
}

export function placed(groups: readonly TrackGroup[]): Rows {
  let height = 0;
  const rows = groups.flatMap((group) =>
    group.tracks.map((track) => {
      const row = { track, group, y: height };
      height += track.height;
      return row;
    }),
  );
  return { rows, height };
}

export function niceStep(span: number, room: number): number {
  const min = (span / Math.max(1, room)) * 110;
  const power = 10 ** Math.floor(Math.log10(Math.max(1e-9, min)));
  return [1, 2, 5, 10].map((factor) => factor * power).find((step) => step >= min) ?? 10 * power;
}

function paintAxis(frame: Frame, height: number): void {
  const { context, theme } = frame;
  const { origin } = frame;
  const step = Math.max(1, niceStep(frame.to - frame.from, frame.width));
  context.textAlign = "left";
  context.fillStyle = theme.dim;
  context.fillText(fitted(context, origin.title, frame.left - 16), 8, kOverview + kAxis / 2);
  const first = origin.at + Math.ceil((frame.from - origin.at) / step) * step;
  for (let tick = first; tick < frame.to; tick += step) {
    const x = Math.round(xOf(frame, tick)) + 0.5;
    context.fillStyle = theme.line;
    context.fillRect(x, kOverview, 1, height - kOverview);
    context.fillStyle = theme.dim;
    context.fillText(
      (tick > origin.at && origin.at !== 0 ? "+" : "") + axisText(tick - origin.at, step),
      x + 4,
      kOverview + kAxis / 2,
    );
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

function paintLabel(frame: Frame, { track, group }: Placed, y: number, scene: Scene): void {
  const { context, theme } = frame;
  if (track.type === "head") {
    context.fillStyle = theme.panel;
    context.fillRect(0, y, frame.left + frame.width, track.height);
    context.fillStyle = theme.text;
    context.font = `600 ${kFont}`;
    const sign = scene.folded.has(group.head) ? "▸" : "▾";
    context.fillText(
      fitted(context, `${sign} ${track.title}`, frame.left + frame.width - 12),
      8,
      y + track.height / 2 + 0.5,
    );
    context.font = kFont;
    return;
  }
  const lines =
    track.type === "rate" && track.series.length > 1
      ? track.series.map((series) => series.name.replace(/^[^_]*_/, ""))
      : [];
  context.fillStyle = theme.dim;
  const top = lines.length > 0 ? y + 9 : y + Math.min(track.height, 26) / 2 + 0.5;
  context.fillText(fitted(context, track.title, frame.left - 16), 14, top);
  lines.forEach((text, i) => {
    context.fillStyle = [theme.accent, theme.names[1]!][i]!;
    context.fillRect(14, top + 13 * (i + 1) - 4, 8, 8);
    context.fillStyle = theme.dim;
    context.fillText(text, 26, top + 13 * (i + 1));
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

export interface Scene extends Rows {
  pinned: Rows;
  /** Heads whose rows are hidden. */
  folded: ReadonlySet<string>;
  profile: Float32Array;
  scroll: number;
  bottom: number;
  arrows: readonly Piece[];
  /** Pointer, px from the left; undefined: not on the canvas. */
  pointer: number | undefined;
  picked: Piece | undefined;
  area: { from: number; to: number } | undefined;
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
  frame.context.strokeRect(x, row.y + kTop + scene.pinned.height - scene.scroll + 1, wide, row.track.height - 3);
}

function paintRows(frame: Frame, scene: Scene, { rows }: Rows, shift: number, bottom: number): void {
  for (const row of rows) {
    const top = row.y + shift;
    if (top + row.track.height < kTop || top > bottom) continue;
    paintTrack(frame, row.track, top);
    if (row.track.type !== "head" && row.track.type !== "calls")
      hatch(frame, frame.timeline.held, top, row.track.height);
    paintLabel(frame, row, top, scene);
  }
}

/** The selected part: bright, with its length. */
function paintArea(frame: Frame, { area, bottom }: Scene): void {
  if (area === undefined) return;
  const { context, theme } = frame;
  const right = frame.left + frame.width;
  const x0 = Math.max(frame.left, Math.min(right, xOf(frame, area.from)));
  const x1 = Math.max(frame.left, Math.min(right, xOf(frame, area.to)));
  context.fillStyle = theme.accent;
  context.globalAlpha = 0.14;
  context.fillRect(x0, kOverview, x1 - x0, bottom - kOverview);
  context.globalAlpha = 1;
  if (area.from >= frame.from) context.fillRect(x0, kOverview, 1, bottom);
  if (area.to <= frame.to) context.fillRect(x1, kOverview, 1, bottom);
  const text = durationText(area.to - area.from);
  const wide = context.measureText(text).width + 8;
  const at = Math.max(frame.left, Math.min(right - wide, (x0 + x1 - wide) / 2));
  context.fillStyle = theme.page;
  context.fillRect(at, kOverview + 2, wide, kAxis - 4);
  context.fillStyle = theme.text;
  context.fillText(text, at + 4, kOverview + kAxis / 2);
}

function clipped(frame: Frame, top: number, bottom: number, paint: () => void): void {
  const { context } = frame;
  context.save();
  context.beginPath();
  context.rect(0, top, frame.left + frame.width, bottom - top);
  context.clip();
  paint();
  context.restore();
}

export function paintScene(frame: Frame, scene: Scene): void {
  const { context, theme } = frame;
  const { bottom, pinned } = scene;
  const top = kTop + pinned.height;
  context.clearRect(0, 0, frame.left + frame.width, bottom);
  context.font = kFont;
  context.textBaseline = "middle";
  paintAxis(frame, bottom);
  clipped(frame, top, bottom, () => {
    paintRows(frame, scene, scene, top - scene.scroll, bottom);
    outlinePicked(frame, scene);
    for (const piece of scene.arrows) paintArrow(frame, scene.rows, piece, top - scene.scroll);
  });
  clipped(frame, kTop, top, () => paintRows(frame, scene, pinned, kTop, top));
  if (pinned.height > 0) {
    context.fillStyle = theme.dim;
    context.fillRect(0, top - 1, frame.left + frame.width, 1);
  }
  paintArea(frame, scene);
  paintOverview(frame, scene.profile);
  if (scene.pointer !== undefined && scene.pointer > frame.left) {
    context.fillStyle = theme.dim;
    context.globalAlpha = 0.5;
    context.fillRect(scene.pointer, kOverview, 1, bottom - kOverview);
    context.globalAlpha = 1;
  }
}
