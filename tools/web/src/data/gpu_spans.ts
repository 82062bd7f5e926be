// SPDX-License-Identifier: Apache-2.0
//
// What the row "NVTX on the GPU" shows. Pure functions.
//
//   ranges whose launches ran on a GPU      ─▶ span from the first to the last piece of work (range_spans.h)
//   nodes of a graph, captured in ranges    ─▶ the same ranges, once in each replay
//
// Captured ranges come from the nodes, as in the Perfetto export (chrome_gpu.cpp): a range is open on a stream as long
// as nodes captured in it, or in a range within it, follow each other. Parts on several streams of one replay that
// overlap are one span.
import { Spans } from "./spans";
import type { TimelineData } from "./timeline";
import type { Trace } from "./trace";

export interface GpuSpan {
  start: number;
  end: number;
  module: number;
  /** Index in the timeline's ranges; -1: captured in a graph. */
  place: number;
  thread: number;
  gpu: number | undefined;
}

interface Open extends GpuSpan {
  range: number;
}

/** Indices of modules from the outermost to `module`. */
function chainOf(trace: Trace, module: number): number[] {
  const out: number[] = [];
  for (let at = module; at >= 0; at = trace.modules[at]!.parent) out.push(at);
  return out.reverse();
}

/** Spans of the captured ranges on one stream, by replay. */
function ofLane(trace: Trace, lane: TimelineData["lanes"][number], byReplay: Map<number, GpuSpan[]>): void {
  const chains = new Map<number, number[]>();
  let stack: Open[] = [];
  let replay = -1;
  const closeFrom = (depth: number): void => {
    const done = stack.splice(depth);
    if (done.length === 0) return;
    const all = byReplay.get(replay);
    if (all === undefined) byReplay.set(replay, done);
    else all.push(...done);
  };
  for (let i = 0; i < lane.spans.length; ++i) {
    if (lane.graph[i] === 0 || lane.module[i]! < 0) continue;
    if (lane.corr[i] !== replay) closeFrom(0);
    replay = lane.corr[i]!;
    const module = lane.module[i]!;
    let chain = chains.get(module);
    if (chain === undefined) chains.set(module, (chain = chainOf(trace, module)));
    const [start, end, range] = [lane.spans.start[i]!, lane.spans.end[i]!, lane.range[i]!];
    let same = 0;
    while (same < stack.length && same < chain.length && stack[same]!.module === chain[same]) ++same;
    // Another instance of the innermost range.
    const leaf = stack[chain.length - 1];
    if (same === chain.length && leaf!.range !== 0 && leaf!.range !== range) --same;
    closeFrom(same);
    for (const open of stack) open.end = Math.max(open.end, end);
    for (let depth = same; depth < chain.length; ++depth)
      stack.push({ start, end, module: chain[depth]!, place: -1, thread: 0, gpu: lane.gpu, range: 0 });
    stack[chain.length - 1]!.range = range;
  }
  closeFrom(0);
  stack = [];
}

/** Parts of one range in one replay that overlap become one. */
function merged(spans: GpuSpan[]): GpuSpan[] {
  const out: GpuSpan[] = [];
  const latest = new Map<number, GpuSpan>();
  for (const span of spans.sort((a, b) => a.start - b.start)) {
    const before = latest.get(span.module);
    if (before !== undefined && span.start < before.end) before.end = Math.max(before.end, span.end);
    else {
      latest.set(span.module, span);
      out.push(span);
    }
  }
  return out;
}

/** All of them, by start. */
export function gpuSpans(trace: Trace, timeline: TimelineData): GpuSpan[] {
  const { ranges } = timeline;
  const out: GpuSpan[] = [];
  const ofHost = new Map<number, [number, number][]>();
  for (let i = 0; i < ranges.start.length; ++i) {
    if (ranges.gpuNs[i]! < 0) continue;
    const start = ranges.gpuStart[i]!;
    const span = { start, end: start + ranges.gpuNs[i]!, module: ranges.module[i]!, place: i };
    const of = { ...span, thread: ranges.thread[i]!, gpu: undefined };
    out.push(of);
    if (ranges.text[i]! >= 0) continue;
    const all = ofHost.get(of.module);
    if (all === undefined) ofHost.set(of.module, [[of.start, of.end]]);
    else all.push([of.start, of.end]);
  }
  const shown = new Map([...ofHost].map(([module, all]) => [module, Spans.of(all.sort((a, b) => a[0] - b[0]))]));
  // True if the span of the launching range shows that module at that time.
  const isShown = ({ module, start, end }: GpuSpan): boolean => {
    const spans = shown.get(module);
    const at = spans?.at(start) ?? -1;
    return at >= 0 && spans!.end[at]! >= end;
  };
  const byReplay = new Map<number, GpuSpan[]>();
  for (const lane of timeline.lanes) if (!lane.others) ofLane(trace, lane, byReplay);
  for (const spans of byReplay.values()) for (const span of merged(spans)) if (!isShown(span)) out.push(span);
  return out.sort((a, b) => a.start - b.start);
}

/** Kernels that follow each other overlap a little at their ends. */
const kMaxOverlap = 0.25;

/** Rows in which no two overlap by more than a quarter of the shorter: each goes to the first that is free. The last
    of `max` takes what is left. */
export function inLanes<Item>(
  items: readonly Item[],
  startOf: (item: Item) => number,
  endOf: (item: Item) => number,
  max: number,
): Item[][] {
  const rows: { items: Item[]; until: number; last: number }[] = [];
  for (const item of items) {
    const [start, end] = [startOf(item), endOf(item)];
    const isFree = (row: { until: number; last: number }): boolean =>
      row.until - start <= kMaxOverlap * Math.min(row.last, end - start);
    let row = rows.find(isFree);
    if (row === undefined && rows.length < max) rows.push((row = { items: [], until: -Infinity, last: 0 }));
    row ??= rows[rows.length - 1]!;
    row.items.push(item);
    row.until = Math.max(row.until, end);
    row.last = end - start;
  }
  return rows.map((row) => row.items);
}

/** The first whose middle is after `time` (step 1), or the last before it (-1): index in `all`; -1: none. */
export function nextOf(all: readonly { from: number; to: number }[], time: number, step: number): number {
  let best = -1;
  for (let i = 0; i < all.length; ++i) {
    const at = (all[i]!.from + all[i]!.to) / 2;
    if (step > 0 ? at > time + 1 && best < 0 : at < time - 1) best = i;
  }
  return best;
}
