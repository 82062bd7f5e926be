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
import { nextOf } from "../data/gpu_spans";
import { surfaceOf } from "../ui/canvas";
import { hitAt, type Hit } from "./timeline_hit";
import { iterationsOf, originOf, type Iteration, type Origin } from "./timeline_origin";
import type { Frame } from "./timeline_paint";
import {
  kTop,
  labelsOf,
  overviewOf,
  paintScene,
  placed,
  type Arrangement,
  type Piece,
  type Placed,
  type Rows,
} from "./timeline_scene";
import { groupsOf, kLevels, tracksOf, type TrackGroup } from "./timeline_tracks";
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
  /** The selected part. */
  area: Range | undefined;
  /** Scale rows of bytes to what is visible. */
  fits: boolean;
}

export interface Point {
  x: number;
  y: number;
}

export class TimelineCanvas {
  readonly all: Range;
  readonly groups: readonly TrackGroup[];
  rows: Rows = { rows: [], height: 0 };
  pinned: Rows = { rows: [], height: 0 };
  range: Range;
  pointer: Point | undefined;
  /** The part that a drag is selecting. */
  selecting: Range | undefined;
  look: Look | undefined;
  canvas: HTMLCanvasElement | null = null;
  scroller: HTMLElement | null = null;
  /** Called when the range has not changed for kRestMs; undefined: the one with which it opens. */
  rested: (range: Range | undefined) => void = () => undefined;

  private readonly iterations: readonly Iteration[];
  private folded: ReadonlySet<string> = new Set();
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
    this.range = range ?? this.opening;
    this.groups = groupsOf(tracksOf(trace, timeline, deep ? Infinity : kLevels));
    this.iterations = iterationsOf(trace);
    this.arrange({ hidden: new Set(), pinned: new Set() });
  }

  /** What it shows first: the median iteration. */
  get opening(): Range {
    const { open } = this.timeline;
    return open === undefined ? this.all : clamped(around(open.start_ns, open.end_ns, 0.03), this.all);
  }

  /** Hides and pins rows. The heads stay, to unfold them. */
  arrange({ hidden, pinned }: Arrangement): void {
    const isShown = ({ key, tracks }: TrackGroup): boolean =>
      tracks[0]!.type === "head" || !(hidden.has(key) || pinned.has(key));
    this.rows = placed(this.groups.filter(isShown));
    this.pinned = placed(this.groups.filter(({ key }) => pinned.has(key)));
    const open = new Set(
      this.groups.filter(({ key, title, head }) => title !== head && !hidden.has(key)).map(({ head }) => head),
    );
    this.folded = new Set(this.groups.map(({ head }) => head).filter((head) => !open.has(head)));
    this.request();
  }

  get height(): number {
    return this.rows.height + this.pinned.height;
  }

  get origin(): Origin {
    return originOf(this.iterations, this.range, this.all);
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
      const { opening } = this;
      const isOpening = Math.abs(from - opening.from) < 1 && Math.abs(to - opening.to) < 1;
      this.rested(isOpening ? undefined : { from: Math.round(from), to: Math.round(to) });
    }, kRestMs);
  }

  get middle(): number {
    return (this.range.from + this.range.to) / 2;
  }

  get labels(): number {
    return labelsOf(this.canvas?.clientWidth ?? 0);
  }

  get width(): number {
    return Math.max(1, (this.canvas?.clientWidth ?? 0) - this.labels);
  }

  get nsOfPixel(): number {
    return (this.range.to - this.range.from) / this.width;
  }

  timeAt(x: number): number {
    return this.range.from + (x - this.labels) * this.nsOfPixel;
  }

  pointOf(event: MouseEvent): Point {
    const bounds = this.canvas!.getBoundingClientRect();
    return { x: event.clientX - bounds.left, y: event.clientY - bounds.top };
  }

  /** The row at a height of the canvas. */
  rowAt(y: number): Placed | undefined {
    const top = kTop + this.pinned.height;
    const [{ rows }, below] = y < top ? [this.pinned, y - kTop] : [this.rows, y - top + this.scroller!.scrollTop];
    return rows.find((one) => below >= one.y && below < one.y + one.track.height);
  }

  find({ x, y }: Point): Hit | undefined {
    if (x < this.labels || y < kTop) return undefined;
    const row = this.rowAt(y);
    return row && hitAt(this.trace, this.timeline, row, this.timeAt(x), this.nsOfPixel);
  }

  zoomTo(hit: Hit | undefined): void {
    if (hit?.from !== undefined && hit.to !== undefined) this.show(around(hit.from, hit.to, 0.15));
  }

  /** Moves to the next (1) or previous (-1) instance of a module, relative to the middle. Of one that ran on a GPU,
      also in replays of a graph, to that. */
  goToInstance(module: number, step: number): void {
    const { ranges } = this.timeline;
    const onGpu: Range[] = [];
    for (const { tracks } of this.groups)
      for (const track of tracks)
        if (track.type === "ranges" && track.gpu !== undefined)
          for (let i = 0; i < track.spans.length; ++i)
            if (track.modules[i] === module) onGpu.push({ from: track.spans.start[i]!, to: track.spans.end[i]! });
    const all: Range[] = onGpu.sort((a, b) => a.from - b.from);
    for (let i = 0; all.length === 0 && i < ranges.start.length; ++i)
      if (ranges.module[i] === module && ranges.text[i]! < 0) all.push({ from: ranges.start[i]!, to: ranges.end[i]! });
    this.goToNext(all, step);
  }

  /** The same of a kernel. */
  goToKernel(kernel: number, step: number): void {
    const all: Range[] = [];
    for (const { spans, kind, name } of this.timeline.lanes)
      for (let i = 0; i < spans.length; ++i)
        if (kind[i] === 0 && name[i] === kernel) all.push({ from: spans.start[i]!, to: spans.end[i]! });
    this.goToNext(
      all.sort((a, b) => a.from - b.from),
      step,
    );
  }

  private goToNext(all: readonly Range[], step: number): void {
    const next = all[nextOf(all, this.middle, step)];
    if (next !== undefined) this.show(around(next.from, next.to, 0.1));
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
    const left = this.labels;
    const size = { left, width: Math.max(1, surface.width - left) };
    const more = { origin: this.origin, fits: look.fits, busy: new Map<number, Float64Array>() };
    const frame: Frame = { ...this.range, ...colors, ...size, ...more, context, trace, timeline };
    const pixels = Math.floor(size.width);
    if (this.profile.width !== pixels) this.profile = { width: pixels, values: overviewOf(frame, pixels) };
    paintScene(frame, {
      ...this.rows,
      pinned: this.pinned,
      folded: this.folded,
      profile: this.profile.values,
      scroll: this.scroller?.scrollTop ?? 0,
      bottom: height,
      arrows: this.arrows(look),
      pointer: this.pointer?.x,
      picked,
      area: this.selecting ?? look.area,
    });
    if (performance.getEntriesByName("timeline-draw").length > kMaxMeasures) performance.clearMeasures("timeline-draw");
    performance.measure("timeline-draw", { start: began, end: performance.now() });
  }
}
