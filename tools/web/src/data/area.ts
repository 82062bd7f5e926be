// SPDX-License-Identifier: Apache-2.0
//
// Sums over a part of the timeline: GPU time by module and by kernel, busy and idle time by cause, bytes. Pure functions.
//
//   pieces of work ─┬▶ cut to [from, to) ─▶ time by module, by kernel
//                   └▶ union of kernels   ─▶ busy; the rest without holds ─▶ idle, by cause
//
// Idle time, its causes and holds are those of `report --section idle` (idle_causes.h): time without a kernel on any
// GPU, without the time in which the profiler held a thread.
import { lowerBound, Spans } from "./spans";
import { heldWithin, isGpuTime, Kind, type GpuSeries, type TimelineData } from "./timeline";

export interface AreaPart {
  /** Index of the module or kernel; -1: none. */
  index: number;
  ns: number;
  count: number;
}

export interface AreaBytes {
  gpu: number;
  /** "samples", or "exact" for the sum of launches that were measured. */
  source: "samples" | "exact";
  /** Launches with bytes; only of exact ones. */
  measured: number;
  /** Of the GPU's busy time, the part with samples; below 1 the bytes are lower bounds. */
  sampledShare: number;
  dramRead: number | undefined;
  dramWrite: number | undefined;
  l2: number | undefined;
}

export interface AreaSums {
  ns: number;
  busyNs: number;
  heldNs: number;
  idleNs: number;
  idle: { cause: string; ns: number }[];
  kernels: number;
  byModule: AreaPart[];
  byKernel: AreaPart[];
  bytes: AreaBytes[];
  /** False: the page lacks single pieces of work somewhere in it. */
  whole: boolean;
}

const coveredNs = (spans: Spans, from: number, to: number): number => spans.coveredUntil(to) - spans.coveredUntil(from);

class PartSums {
  private readonly parts = new Map<number, AreaPart>();
  add(index: number, ns: number): void {
    const part = this.parts.get(index);
    if (part === undefined) this.parts.set(index, { index, ns, count: 1 });
    else {
      part.ns += ns;
      ++part.count;
    }
  }
  sorted(): AreaPart[] {
    return [...this.parts.values()].sort((a, b) => b.ns - a.ns);
  }
}

/** Bytes of the samples in [from, to); undefined: the counter was not sampled. */
export function sampledBytes(samples: GpuSeries, name: string, from: number, to: number): number | undefined {
  const series = samples.rates.find((one) => one.name === name);
  return series && (series.mean(from, to) * (to - from)) / 1e9;
}

/** Sum of the exact bytes of kernels that began in [from, to). */
function exactBytes(timeline: TimelineData, gpu: number, from: number, to: number): AreaBytes | undefined {
  const out: AreaBytes = { gpu, source: "exact", measured: 0, sampledShare: 1, dramRead: 0, dramWrite: 0, l2: 0 };
  for (const lane of timeline.lanes) {
    if (lane.gpu !== gpu) continue;
    for (let i = lane.spans.firstFrom(from); i < lane.spans.length && lane.spans.start[i]! < to; ++i) {
      if (lane.dramRead[i]! < 0) continue;
      ++out.measured;
      out.dramRead! += lane.dramRead[i]!;
      out.dramWrite! += lane.dramWrite[i]!;
      out.l2! += lane.l2[i]!;
    }
  }
  return out.measured > 0 ? out : undefined;
}

const busyOf = new WeakMap<TimelineData, Map<number, Spans>>();

/** When a GPU had work in the page, of all its streams. */
function workSpans(timeline: TimelineData, gpu: number): Spans {
  const known = busyOf.get(timeline) ?? new Map<number, Spans>();
  busyOf.set(timeline, known);
  let spans = known.get(gpu);
  if (spans === undefined) {
    const all: [number, number][] = [];
    for (const lane of timeline.lanes)
      if (lane.gpu === gpu)
        for (let i = 0; i < lane.spans.length; ++i) all.push([lane.spans.start[i]!, lane.spans.end[i]!]);
    known.set(gpu, (spans = Spans.union(all)));
  }
  return spans;
}

/** Less of the busy time without a sample is the ends of samples. */
const kMaxUnsampled = 0.02;

/** Of the time with work in [from, to), the part with samples. */
function sampledShare(timeline: TimelineData, samples: GpuSeries, from: number, to: number): number {
  const series = samples.rates.find((one) => /^(dram|l2)/.test(one.name));
  if (series === undefined) return 0;
  const busy = workSpans(timeline, samples.gpu);
  const { start, end } = series;
  let unsampled = 0;
  let until = from;
  for (let i = Math.max(0, lowerBound(start, from) - 1); i < start.length && start[i]! < to; ++i) {
    if (end[i]! <= from) continue;
    if (start[i]! > until) unsampled += coveredNs(busy, until, start[i]!);
    until = Math.max(until, end[i]!);
  }
  if (until < to) unsampled += coveredNs(busy, until, to);
  const all = coveredNs(busy, from, to);
  const share = all > 0 ? 1 - unsampled / all : 1;
  return share > 1 - kMaxUnsampled ? 1 : share;
}

/** Of one GPU in [from, to); undefined: nothing was measured there. */
export function bytesIn(timeline: TimelineData, gpu: number, from: number, to: number): AreaBytes | undefined {
  const samples = timeline.samples.find((one) => one.gpu === gpu);
  if (samples === undefined) return exactBytes(timeline, gpu, from, to);
  const share = sampledShare(timeline, samples, from, to);
  if (share <= 0) return undefined;
  const of = (name: string): number | undefined => sampledBytes(samples, name, from, to);
  const bytes = { dramRead: of("dram_read"), dramWrite: of("dram_write"), l2: of("l2") };
  return { gpu, source: "samples", measured: 0, sampledShare: share, ...bytes };
}

export function areaSums(timeline: TimelineData, from: number, to: number): AreaSums {
  const modules = new PartSums();
  const kernels = new PartSums();
  const work: [number, number][] = [];
  let count = 0;
  for (const lane of timeline.lanes) {
    const { spans } = lane;
    for (let i = spans.firstAfter(from); i < spans.length && spans.start[i]! < to; ++i) {
      const [start, end] = [Math.max(from, spans.start[i]!), Math.min(to, spans.end[i]!)];
      if (end <= start || !isGpuTime(lane, i)) continue;
      work.push([start, end]);
      modules.add(lane.module[i]!, end - start);
      if (lane.kind[i] !== Kind.kernel) continue;
      kernels.add(lane.name[i]!, end - start);
      ++count;
    }
  }
  const busyNs = coveredNs(Spans.union([...work]), from, to);
  const holds: [number, number][] = Array.from(timeline.holds.start, (start, i) => [start, timeline.holds.end[i]!]);
  const outside = coveredNs(Spans.union([...work, ...holds]), from, to);
  const idleNs = to - from - outside;
  const gpus = new Set([...timeline.lanes, ...timeline.samples].map((one) => one.gpu));
  return {
    ns: to - from,
    busyNs,
    heldNs: outside - busyNs,
    idleNs,
    idle: idleCauses(timeline, from, to, idleNs),
    kernels: count,
    byModule: modules.sorted(),
    byKernel: kernels.sorted(),
    bytes: [...gpus].sort().flatMap((gpu) => bytesIn(timeline, gpu, from, to) ?? []),
    whole: timeline.whole || timeline.windows.some((window) => from >= window.start_ns && to <= window.end_ns),
  };
}

/** Time by cause, the largest first. What no part in the page explains is last. */
export function idleCauses(
  timeline: TimelineData,
  from: number,
  to: number,
  idleNs: number,
): { cause: string; ns: number }[] {
  const { idle } = timeline;
  const sums = new Float64Array(idle.causes.length);
  const { spans, cause } = idle;
  for (let i = spans.firstAfter(from); i < spans.length && spans.start[i]! < to; ++i) {
    const [start, end] = [Math.max(from, spans.start[i]!), Math.min(to, spans.end[i]!)];
    if (end > start) sums[cause[i]!]! += end - start - heldWithin(timeline, start, end);
  }
  const out = Array.from(sums, (ns, i) => ({ cause: idle.causes[i]!, ns })).filter(({ ns }) => ns > 0);
  const rest = idleNs - out.reduce((sum, { ns }) => sum + ns, 0);
  out.sort((a, b) => b.ns - a.ns);
  if (rest >= 1)
    out.push({ cause: idle.leftOut > 0 ? "shorter gaps, cause not in this page" : "cause unknown", ns: rest });
  return out;
}
