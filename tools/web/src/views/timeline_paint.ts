// SPDX-License-Identifier: Apache-2.0
//
// Draws rows of the timeline for a time range. The cost is bounded by the width of the canvas, not by the number
// of pieces: pieces on the same pixel are drawn once. Where pieces are narrower than pixels, a lane shows how
// busy it was.
import type { Spans } from "../data/spans";
import { bytesText, durationText } from "../data/numbers";
import { Kind, type TimelineData } from "../data/timeline";
import { shortName, type Trace } from "../data/trace";
import { nameColor, type Theme } from "../theme";
import { fitted } from "../ui/canvas";
import { kHold, type TrackOf } from "./timeline_tracks";

export interface Frame {
  context: CanvasRenderingContext2D;
  theme: Theme;
  trace: Trace;
  timeline: TimelineData;
  /** Left edge and width of the time area. */
  left: number;
  width: number;
  from: number;
  to: number;
  /** Colours by index of kernel, and by index of module. */
  kernelColors: string[];
  moduleColors: string[];
  /** By module: 1 if it is within the selected module; undefined: none is selected. */
  within: Uint8Array | undefined;
  /** Index of the selected kernel; -1: none. */
  kernel: number;
  /** Times are shown relative to it. */
  origin: { at: number; title: string };
  /** Scale rows of bytes to what is visible, not to the peak. */
  fits: boolean;
  /** Busy share of each pixel by GPU, for this frame. */
  busy: Map<number, Float64Array>;
}

export const xOf = (frame: Frame, time: number): number =>
  frame.left + ((time - frame.from) / (frame.to - frame.from)) * frame.width;

interface Rect {
  x: number;
  wide: number;
  /** Width for a label: up to the end, or to the next piece's start if that is earlier. */
  room: number;
}

/** Calls `paint` for visible pieces, once per pixel. */
function eachVisible(frame: Frame, spans: Spans, paint: (place: number, rect: Rect) => void): void {
  const nsOfPixel = (frame.to - frame.from) / frame.width;
  const right = frame.left + frame.width;
  for (let i = spans.firstAfter(frame.from); i < spans.length && spans.start[i]! < frame.to;) {
    const x0 = Math.max(frame.left, xOf(frame, spans.start[i]!));
    const x1 = Math.min(right, xOf(frame, spans.end[i]!));
    const next = i + 1 < spans.length ? xOf(frame, spans.start[i + 1]!) : x1;
    paint(i, { x: x0, wide: Math.max(1, x1 - x0), room: Math.min(x1, next) - x0 });
    if (x1 - x0 >= 1) ++i;
    else i = spans.nextDrawn(i, frame.from + (Math.floor(x0 - frame.left) + 1) * nsOfPixel);
  }
}

function bar(
  frame: Frame,
  { x, wide, room }: Rect,
  y: number,
  high: number,
  fill: string,
  label: () => string,
  ink: string,
): void {
  const { context } = frame;
  context.fillStyle = fill;
  context.fillRect(x, y, wide > 2 ? wide - 0.5 : wide, high);
  if (room < 24) return;
  const text = fitted(context, label(), room - 6);
  if (text === "") return;
  context.fillStyle = ink;
  context.fillText(text, x + 3, y + high / 2 + 0.5);
}

function laneColor(frame: Frame, lane: TrackOf<"lane">["lane"], place: number): string {
  const { theme } = frame;
  const chosenModule = frame.within === undefined || frame.within[lane.module[place]!] === 1;
  const chosenKernel = frame.kernel < 0 || (lane.kind[place] === 0 && lane.name[place] === frame.kernel);
  if (!chosenModule || !chosenKernel) return theme.unknown;
  if (lane.kind[place] === 0) return frame.kernelColors[lane.name[place]!] ?? theme.names[0]!;
  if (lane.kind[place] === Kind.wholeGraph) return theme.names[5]!;
  return lane.kind[place] === 1 ? theme.names[9]! : theme.dim;
}

export const kCopyKinds = ["unknown", "HtoD", "DtoH", "DtoD", "HtoH", "PtoP", "HtoA", "AtoH", "AtoA", "AtoD", "DtoA"];

export function laneLabel(trace: Trace, lane: TrackOf<"lane">["lane"], place: number, full = false): string {
  const kernel = trace.tables.kernels[lane.name[place]!];
  if (lane.kind[place] === 0)
    return kernel === undefined
      ? "(kernel not in this page)"
      : full
        ? kernel.name
        : shortName(kernel).replace(/^(?:[\w$]+::)+/, "");
  if (lane.kind[place] === Kind.wholeGraph) return `CUDA graph ${lane.graph[place]}`;
  return lane.kind[place] === 1
    ? `${kCopyKinds[lane.name[place]!] ?? "copy"} ${bytesText(lane.bytes[place]!)}`
    : `memset ${bytesText(lane.bytes[place]!)}`;
}

/** Busy share of each pixel, from the pieces if the page has them, else from the bins. */
function paintBusy(
  frame: Frame,
  lane: TrackOf<"lane">["lane"],
  y: number,
  height: number,
  skip: (x: number) => boolean,
): void {
  const { context, timeline } = frame;
  const nsOfPixel = (frame.to - frame.from) / frame.width;
  context.fillStyle = frame.theme.accent;
  for (let x = 0; x < frame.width; ++x) {
    if (skip(x)) continue;
    const from = frame.from + x * nsOfPixel;
    const to = from + nsOfPixel;
    let part = 0;
    if (lane.busy === undefined || timeline.windows.some((window) => from >= window.start_ns && to <= window.end_ns))
      part = lane.spans.busy(from, to);
    else {
      const first = Math.max(0, Math.floor((from - timeline.first) / timeline.binNs));
      const last = Math.min(lane.busy.length - 1, Math.floor((to - timeline.first) / timeline.binNs));
      for (let bin = first; bin <= last; ++bin) part += lane.busy[bin]! / 1000 / (last - first + 1);
    }
    if (part > 0) {
      const high = Math.max(1, part * height);
      context.fillRect(frame.left + x, y + height - high, 1, high);
    }
  }
}

export function paintLane(frame: Frame, track: TrackOf<"lane">, y: number): void {
  const { lane } = track;
  const { spans } = lane;
  const seen = spans.firstFrom(frame.to) - spans.firstAfter(frame.from);
  const high = track.height - 3;
  const dense = seen > frame.width / 2;
  if (dense || lane.busy !== undefined) {
    const nsOfPixel = (frame.to - frame.from) / frame.width;
    const kept = (x: number): boolean => {
      const time = frame.from + x * nsOfPixel;
      return frame.timeline.windows.some((window) => time >= window.start_ns && time + nsOfPixel <= window.end_ns);
    };
    paintBusy(frame, lane, y + 1, high, dense ? () => false : kept);
  }
  const chosen = frame.within !== undefined || frame.kernel >= 0;
  if (!dense || chosen) {
    eachVisible(frame, spans, (i, rect) => {
      const fill = laneColor(frame, lane, i);
      // Draw only selected pieces over the busy profile.
      if (dense && fill === frame.theme.unknown) return;
      bar(
        frame,
        rect,
        y + 1,
        high,
        fill,
        () => laneLabel(frame.trace, lane, i),
        fill === frame.theme.unknown ? frame.theme.text : frame.theme.onNames,
      );
    });
  }
}

/** Index of a start/end range's text; -1: a range of a module. */
const textOf = ({ ranges }: TimelineData, place: number): number => (place < 0 ? -1 : ranges.text[place]!);

export function rangeLabel(
  { trace, timeline }: { trace: Trace; timeline: TimelineData },
  place: number,
  module: number,
): string {
  const text = textOf(timeline, place);
  return text >= 0 ? (timeline.texts[text] ?? "") : (trace.modules[module]?.name ?? "(unknown)");
}

function rangeColor(frame: Frame, place: number, module: number): string {
  const text = textOf(frame.timeline, place);
  if (text >= 0) return nameColor(frame.theme, frame.timeline.texts[text] ?? "");
  return frame.moduleColors[module] ?? frame.theme.unknown;
}

export function paintRanges(frame: Frame, track: TrackOf<"ranges">, y: number): void {
  eachVisible(frame, track.spans, (i, rect) => {
    const place = track.places[i]!;
    const module = track.modules[i]!;
    const chosen = frame.within === undefined || frame.within[module] === 1;
    bar(
      frame,
      rect,
      y + 0.5,
      track.height - 1.5,
      chosen ? rangeColor(frame, place, module) : frame.theme.unknown,
      () => rangeLabel(frame, place, module),
      chosen ? frame.theme.onNames : frame.theme.text,
    );
  });
}

/** Stripes on the page's ground: this time is ours, not the program's. */
function paintHold(frame: Frame, { x, wide, room }: Rect, y: number, high: number, cause: string): void {
  const { context, theme } = frame;
  context.save();
  context.beginPath();
  context.rect(x, y, wide, high);
  context.clip();
  context.fillStyle = theme.page;
  context.fillRect(x, y, wide, high);
  context.strokeStyle = theme.dim;
  context.lineWidth = 1;
  context.beginPath();
  for (let at = x - high - ((x - high) % 5); at < x + wide; at += 5) {
    context.moveTo(at, y + high);
    context.lineTo(at + high, y);
  }
  context.stroke();
  const text = room < 40 ? "" : fitted(context, `held: ${cause}`, room - 8);
  if (text !== "") {
    context.fillStyle = theme.page;
    context.fillRect(x + 2, y, context.measureText(text).width + 6, high);
    context.fillStyle = theme.text;
    context.fillText(text, x + 5, y + high / 2 + 0.5);
  }
  context.restore();
}

export function paintCalls(frame: Frame, track: TrackOf<"calls">, y: number): void {
  const { timeline, theme } = frame;
  eachVisible(frame, track.spans, (i, rect) => {
    const lane = track.lanes[i]!;
    const place = track.places[i]!;
    if (lane === kHold) {
      const cause = timeline.holdCauses[timeline.holds.cause[place]!] ?? "";
      return paintHold(frame, rect, y + 2, track.height - 4, cause);
    }
    const api = lane < 0 ? timeline.syncs.api[place]! : timeline.lanes[lane]!.launchApi[place]!;
    bar(
      frame,
      rect,
      y + 2,
      track.height - 4,
      lane < 0 ? theme.warn : theme.dim,
      () => timeline.apis[api] ?? "",
      theme.page,
    );
    return undefined;
  });
}

export function paintIdle(frame: Frame, track: TrackOf<"idle">, y: number): void {
  const { context, theme } = frame;
  eachVisible(frame, track.spans, (i, { x, wide }) => {
    if (wide < 2) {
      context.fillStyle = theme.line;
      context.fillRect(x, y + 3, wide, track.height - 6);
      return;
    }
    context.strokeStyle = theme.dim;
    context.lineWidth = 1;
    context.beginPath();
    context.moveTo(x + 0.5, y + 3);
    context.lineTo(x + 0.5, y + track.height - 3);
    context.moveTo(x, y + track.height / 2);
    context.lineTo(x + wide, y + track.height / 2);
    context.moveTo(x + wide - 0.5, y + 3);
    context.lineTo(x + wide - 0.5, y + track.height - 3);
    context.stroke();
    if (wide < 56) return;
    const text = durationText(track.spans.end[i]! - track.spans.start[i]!);
    const room = context.measureText(text).width + 6;
    context.fillStyle = theme.page;
    context.fillRect(x + (wide - room) / 2, y, room, track.height);
    context.fillStyle = theme.dim;
    context.fillText(text, x + (wide - room) / 2 + 3, y + track.height / 2 + 0.5);
  });
}
