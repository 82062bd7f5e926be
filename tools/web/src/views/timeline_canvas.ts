// SPDX-License-Identifier: Apache-2.0
//
// The timeline's canvas: the visible time range, drawing, and the piece at a point.
//
//   TimelineInput ─▶ show(), pointer ─▶ at most one drawing per frame ─▶ `rested` once the range stays unchanged
//
// The component around it sets `look` each time it renders. This object owns all other state.
import type { TimelineData } from "../data/timeline";
import type { Trace } from "../data/trace";
import type { Theme } from "../theme";
import { surfaceOf } from "../ui/canvas";
import { hitAt, type Hit } from "./timeline_hit";
import type { Frame } from "./timeline_paint";
import { kLabels, kTop, overviewOf, paintScene, placed, type Piece, type Placed } from "./timeline_scene";
import { kLevels, tracksOf } from "./timeline_tracks";
import { around, clamped, type Range } from "./timeline_zoom";

const kMaxArrows = 150;
const kRestMs = 150;
/** Maximum number of performance entries of drawing. */
const kMaxMeasures = 2000;

/** The selection and the colours. */
export interface Look {
  theme: Theme;
  kernelColors: string[];
  moduleColors: string[];
  within: Uint8Array | undefined;
  kernel: number;
  picked: Piece | undefined;
  hovered: Piece | undefined;
  allArrows: boolean;
}

export interface Point {
  x: number;
  y: number;
}

export class TimelineCanvas {
  readonly all: Range;
  readonly rows: readonly Placed[];
  readonly height: number;
  range: Range;
  pointer: Point | undefined;
  look: Look | undefined;
  canvas: HTMLCanvasElement | null = null;
  scroller: HTMLElement | null = null;
  /** Called when the range has not changed for kRestMs; undefined: the whole trace. */
  rested: (range: Range | undefined) => void = () => undefined;

  private profile: { width: number; values: Float32Array } = { width: 0, values: new Float32Array(0) };
  private frame = 0;
  private rest = 0;

  constructor(
    readonly trace: Trace,
    readonly timeline: TimelineData,
    deep: boolean,
    range: Range | undefined,
  ) {
    this.all = { from: timeline.first, to: timeline.last };
    this.range = range ?? this.all;
    ({ rows: this.rows, height: this.height } = placed(tracksOf(trace, timeline, deep ? Infinity : kLevels)));
  }

  request(): void {
    if (this.frame === 0) this.frame = requestAnimationFrame(() => this.draw());
  }

  stop(): void {
    cancelAnimationFrame(this.frame);
    window.clearTimeout(this.rest);
    this.frame = 0;
  }

  show(next: Range): void {
    this.range = clamped(next, this.all);
    this.request();
    window.clearTimeout(this.rest);
    // Update the store, and with it the whole page, only after the wheel stops.
    this.rest = window.setTimeout(() => {
      const { from, to } = this.range;
      const whole = from <= this.all.from && to >= this.all.to;
      this.rested(whole ? undefined : { from: Math.round(from), to: Math.round(to) });
    }, kRestMs);
  }

  get middle(): number {
    return (this.range.from + this.range.to) / 2;
  }

  get width(): number {
    return Math.max(1, (this.canvas?.clientWidth ?? 0) - kLabels);
  }

  get nsOfPixel(): number {
    return (this.range.to - this.range.from) / this.width;
  }

  timeAt(x: number): number {
    return this.range.from + (x - kLabels) * this.nsOfPixel;
  }

  pointOf(event: MouseEvent): Point {
    const bounds = this.canvas!.getBoundingClientRect();
    return { x: event.clientX - bounds.left, y: event.clientY - bounds.top };
  }

  find({ x, y }: Point): Hit | undefined {
    if (x < kLabels || y < kTop) return undefined;
    const below = y - kTop + this.scroller!.scrollTop;
    const row = this.rows.find((one) => below >= one.y && below < one.y + one.track.height);
    return row && hitAt(this.trace, this.timeline, row, this.timeAt(x), this.nsOfPixel);
  }

  zoomTo(hit: Hit | undefined): void {
    if (hit?.from !== undefined && hit.to !== undefined) this.show(around(hit.from, hit.to, 0.15));
  }

  /** Moves to the next (1) or previous (-1) instance of a module, relative to the middle. */
  goToInstance(module: number, step: number): void {
    const { ranges } = this.timeline;
    let best = -1;
    for (let i = 0; i < ranges.start.length; ++i) {
      if (ranges.module[i] !== module || ranges.text[i]! >= 0) continue;
      const at = (ranges.start[i]! + ranges.end[i]!) / 2;
      if (step > 0 ? at > this.middle + 1 && best < 0 : at < this.middle - 1) best = i;
    }
    if (best < 0) return;
    const onGpu = ranges.gpuNs[best]! >= 0;
    const gpuStart = onGpu ? ranges.gpuStart[best]! : Infinity;
    const gpuEnd = onGpu ? gpuStart + ranges.gpuNs[best]! : 0;
    this.show(around(Math.min(ranges.start[best]!, gpuStart), Math.max(ranges.end[best]!, gpuEnd), 0.1));
  }

  /** Visible pieces with a launch; empty if there are more than kMaxArrows. */
  private visibleArrows(): Piece[] {
    const out: Piece[] = [];
    const { from, to } = this.range;
    for (const [lane, { spans, launchThread }] of this.timeline.lanes.entries()) {
      for (let place = spans.firstAfter(from); place < spans.length && spans.start[place]! < to; ++place) {
        if (launchThread[place] !== 0) out.push({ lane, place });
        if (out.length > kMaxArrows) return [];
      }
    }
    return out;
  }

  private arrows(look: Look): Piece[] {
    if (look.allArrows) return this.visibleArrows();
    return [look.picked ?? look.hovered].filter((piece) => piece !== undefined);
  }

  private draw(): void {
    this.frame = 0;
    const surface = this.canvas === null ? undefined : surfaceOf(this.canvas);
    const { look, trace, timeline } = this;
    if (surface === undefined || look === undefined) return;
    const began = performance.now();
    const { context, height } = surface;
    const { theme, kernelColors, moduleColors, within, kernel, picked } = look;
    const colors = { theme, kernelColors, moduleColors, within, kernel };
    const size = { left: kLabels, width: Math.max(1, surface.width - kLabels) };
    const frame: Frame = { ...this.range, ...colors, ...size, context, trace, timeline, busy: new Map() };
    const pixels = Math.floor(size.width);
    if (this.profile.width !== pixels) this.profile = { width: pixels, values: overviewOf(frame, pixels) };
    paintScene(frame, {
      rows: this.rows,
      profile: this.profile.values,
      scroll: this.scroller?.scrollTop ?? 0,
      height,
      arrows: this.arrows(look),
      pointer: this.pointer?.x,
      picked,
    });
    if (performance.getEntriesByName("timeline-draw").length > kMaxMeasures) performance.clearMeasures("timeline-draw");
    performance.measure("timeline-draw", { start: began, end: performance.now() });
  }
}
