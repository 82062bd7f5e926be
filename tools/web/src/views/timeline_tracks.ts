// SPDX-License-Identifier: Apache-2.0
//
// The rows of the timeline, from top to bottom, with heights. Made once from the data.
//
//   thread      NVTX ranges by depth, start/end ranges, marks, calls and waits, with the profiler's holds over them
//   GPU         NVTX ranges on the GPU by depth, one lane per stream, idle time, bytes per second, clock and power, memory
import { bytesText, countText } from "../data/numbers";
import type { RateSeries, StepSeries } from "../data/series";
import { Spans } from "../data/spans";
import { Kind, type Lane, type TimelineData } from "../data/timeline";
import type { Trace } from "../data/trace";

export type Track =
  | { type: "head"; title: string; height: number }
  | { type: "lane"; title: string; height: number; lane: Lane }
  | {
      type: "ranges";
      title: string;
      height: number;
      spans: Spans;
      /** indices in ranges */ places: Int32Array;
      gpu: boolean;
    }
  | {
      type: "calls";
      title: string;
      height: number;
      spans: Spans;
      /** lane and index of a launch's first piece; -1: a wait; kHold */ lanes: Int32Array;
      places: Int32Array;
    }
  | { type: "idle"; title: string; height: number; spans: Spans }
  | {
      type: "rate";
      title: string;
      height: number;
      series: RateSeries[];
      gpu: number;
      percent: boolean;
      peak: number | undefined;
      coarse: boolean;
    }
  | { type: "steps"; title: string; height: number; series: StepSeries[]; text: (value: number) => string }
  | { type: "marks"; title: string; height: number; at: Float64Array; texts: Int32Array };

export type TrackOf<Type extends Track["type"]> = Extract<Track, { type: Type }>;

/** In place of a lane: the profiler held the thread. */
export const kHold = -2;

const kRange = 16;
/** Levels of ranges shown by default. */
export const kLevels = 16;
/** Shorter pauses between kernels are normal. */
const kMinIdleNs = 1000;

function rangeTrack(timeline: TimelineData, places: number[], title: string, gpu: boolean): Track {
  const { start, end, gpuStart, gpuNs } = timeline.ranges;
  const from = (place: number): number => (gpu ? gpuStart[place]! : start[place]!);
  const sorted = Int32Array.from(places).sort((a, b) => from(a) - from(b));
  const ends = Float64Array.from(sorted, (place) => (gpu ? gpuStart[place]! + gpuNs[place]! : end[place]!));
  return {
    type: "ranges",
    title,
    height: kRange,
    spans: new Spans(Float64Array.from(sorted, from), ends),
    places: sorted,
    gpu,
  };
}

interface Source {
  trace: Trace;
  timeline: TimelineData;
  /** Deepest level of ranges. */
  levels: number;
}

/** One row per depth. Start/end ranges may overlap, so they get up to 12 rows. */
function rangeTracks({ trace, timeline, levels }: Source, thread: number, gpu: boolean): Track[] {
  const { ranges } = timeline;
  const byDepth: number[][] = [];
  const free: { places: number[]; until: number }[] = [];
  for (let i = 0; i < ranges.start.length; ++i) {
    if (ranges.thread[i] !== thread || (gpu && ranges.gpuNs[i]! < 0)) continue;
    if (ranges.text[i]! >= 0) {
      let row = free.find((one) => one.until <= ranges.start[i]!);
      if (row === undefined && free.length < 12) free.push((row = { places: [], until: 0 }));
      row ??= free[0]!;
      row.places.push(i);
      row.until = ranges.end[i]!;
      continue;
    }
    const depth = trace.modules[ranges.module[i]!]?.depth ?? 1;
    if (depth <= levels) (byDepth[depth - 1] ??= []).push(i);
  }
  const rows = [...byDepth]
    .filter((places) => places !== undefined)
    .map((places, i) => rangeTrack(timeline, places, i === 0 ? "NVTX ranges" : "", gpu));
  return [...rows, ...free.map((row, i) => rangeTrack(timeline, row.places, i === 0 ? "start/end ranges" : "", gpu))];
}

function callTrack(timeline: TimelineData, thread: number): Track | undefined {
  const calls: { start: number; end: number; lane: number; place: number }[] = [];
  timeline.lanes.forEach((lane, at) => {
    const seen = new Set<number>();
    for (let i = 0; i < lane.spans.length; ++i) {
      // All pieces of a graph launch have the same launch.
      if (lane.launchThread[i] !== thread || seen.has(lane.corr[i]!)) continue;
      if (lane.graph[i] !== 0) seen.add(lane.corr[i]!);
      calls.push({ start: lane.launch[i]!, end: lane.launch[i]! + lane.launchNs[i]!, lane: at, place: i });
    }
  });
  const { syncs } = timeline;
  for (let i = 0; i < syncs.start.length; ++i)
    if (syncs.thread[i] === thread) calls.push({ start: syncs.start[i]!, end: syncs.end[i]!, lane: -1, place: i });
  const { holds } = timeline;
  for (let i = 0; i < holds.start.length; ++i)
    if (holds.thread[i] === thread) calls.push({ start: holds.start[i]!, end: holds.end[i]!, lane: kHold, place: i });
  if (calls.length === 0) return undefined;
  calls.sort((a, b) => a.start - b.start);
  return {
    type: "calls",
    title: "calls and waits",
    height: 18,
    spans: Spans.of(calls.map((call) => [call.start, call.end] as const)),
    lanes: Int32Array.from(calls, (call) => call.lane),
    places: Int32Array.from(calls, (call) => call.place),
  };
}

function idleTrack(timeline: TimelineData, gpu: number): Track | undefined {
  const work: [number, number][] = [];
  for (const lane of timeline.lanes) {
    if (lane.gpu !== gpu) continue;
    for (let i = 0; i < lane.spans.length; ++i) work.push([lane.spans.start[i]!, lane.spans.end[i]!]);
  }
  work.sort((a, b) => a[0] - b[0]);
  const windowOf = (time: number): number =>
    timeline.whole ? 0 : timeline.windows.findIndex((window) => time >= window.start_ns && time < window.end_ns);
  const gaps: [number, number][] = [];
  let until = work[0]?.[1] ?? 0;
  for (const [start, end] of work) {
    if (start - until >= kMinIdleNs && windowOf(start) === windowOf(until)) gaps.push([until, start]);
    until = Math.max(until, end);
  }
  return gaps.length === 0 ? undefined : { type: "idle", title: "idle", height: 14, spans: Spans.of(gaps) };
}

function sampleTracks(trace: Trace, timeline: TimelineData, gpu: number): Track[] {
  const samples = timeline.samples.find((one) => one.gpu === gpu);
  if (samples === undefined) return [];
  const rates = (title: string, names: string[], peak?: number): Track | undefined => {
    const series = samples.rates.filter((one) => names.includes(one.name));
    return series.length === 0
      ? undefined
      : { type: "rate", title, height: 46, series, gpu, percent: false, peak, coarse: samples.merged };
  };
  const active = samples.percents.filter((one) => one.name === "sm_active");
  return [
    rates("DRAM", ["dram_read", "dram_write"], trace.tables.gpus.find((one) => one.id === gpu)?.peak_dram_bytes_per_s),
    rates("L2", ["l2"]),
    rates("PCIe", ["pcie_read", "pcie_write"]),
    rates("NVLink", ["nvlink_received", "nvlink_transmitted"]),
    active.length === 0
      ? undefined
      : ({
          type: "rate",
          title: "SM active",
          height: 34,
          series: active,
          gpu,
          percent: true,
          peak: undefined,
          coarse: samples.merged,
        } satisfies Track),
  ].filter((track) => track !== undefined);
}

export function tracksOf(trace: Trace, timeline: TimelineData, levels: number): Track[] {
  const source: Source = { trace, timeline, levels };
  const out: Track[] = [];
  const threads = new Set<number>(timeline.ranges.thread);
  for (const lane of timeline.lanes) for (const thread of lane.launchThread) if (thread !== 0) threads.add(thread);
  for (const thread of timeline.syncs.thread) threads.add(thread);
  for (const thread of timeline.holds.thread) threads.add(thread);
  for (const thread of [...threads].sort((a, b) => a - b)) {
    const calls = callTrack(timeline, thread);
    const marks = Array.from(timeline.marks.at.keys()).filter((i) => timeline.marks.thread[i] === thread);
    out.push(
      { type: "head", title: `thread ${timeline.threads.get(thread) || "(no name)"} ${thread}`, height: 18 },
      ...rangeTracks(source, thread, false),
    );
    if (marks.length > 0)
      out.push({
        type: "marks",
        title: "marks",
        height: 16,
        at: Float64Array.from(marks, (i) => timeline.marks.at[i]!),
        texts: Int32Array.from(marks, (i) => timeline.marks.text[i]!),
      });
    if (calls !== undefined) out.push(calls);
  }
  const gpus = new Set([...timeline.lanes.map((lane) => lane.gpu), ...timeline.samples.map((one) => one.gpu)]);
  for (const gpu of [...gpus].sort((a, b) => a - b)) {
    out.push({
      type: "head",
      title: `GPU ${gpu} ${trace.tables.gpus.find((one) => one.id === gpu)?.name ?? ""}`,
      height: 18,
    });
    // A range has no GPU: with several GPUs, all ranges are shown at the first.
    if (gpu === Math.min(...gpus))
      for (const thread of threads)
        out.push(
          ...rangeTracks(source, thread, true).map((track, i) => ({
            ...track,
            title: i === 0 ? "NVTX on the GPU" : "",
          })),
        );
    for (const lane of timeline.lanes)
      if (lane.gpu === gpu) out.push({ type: "lane", title: lane.title, height: 24, lane });
    const idle = idleTrack(timeline, gpu);
    if (idle !== undefined) out.push(idle);
    out.push(...sampleTracks(trace, timeline, gpu));
    for (const { gpu: of, series } of timeline.conditions)
      if (of === gpu) out.push({ type: "steps", title: series.name, height: 30, series: [series], text: countText });
  }
  if (timeline.memory.length > 0)
    out.push({ type: "steps", title: "memory in use", height: 40, series: timeline.memory, text: bytesText });
  return out;
}

export const isKernel = (lane: Lane, place: number): boolean => lane.kind[place] === Kind.kernel;
