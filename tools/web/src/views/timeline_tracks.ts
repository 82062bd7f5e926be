// SPDX-License-Identifier: Apache-2.0
//
// The rows of the timeline, from top to bottom, with heights. Made once from the data.
//
//   thread      NVTX ranges by depth, start/end ranges, marks, calls and waits, with the profiler's holds over them
//   GPU         NVTX ranges on the GPU by depth, one lane per stream, idle time, bytes per second, clock and power
//   process     CPU time, memory in use
//
// Ranges of one depth that overlap, as on several streams, have a row each.
import { gpuSpans, inLanes, type GpuSpan } from "../data/gpu_spans";
import { bytesText, countText } from "../data/numbers";
import type { RateSeries, StepSeries } from "../data/series";
import { Spans } from "../data/spans";
import { type Lane, type TimelineData } from "../data/timeline";
import type { Trace } from "../data/trace";

export type Track =
  | { type: "head"; title: string; height: number }
  | { type: "lane"; title: string; height: number; lane: Lane }
  | {
      type: "ranges";
      title: string;
      height: number;
      spans: Spans;
      /** Indices in ranges; -1: captured in a graph. */
      places: Int32Array;
      modules: Int32Array;
      /** undefined: on the host. */
      gpu: number | undefined;
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
      /** Of the whole trace, so that the scale stays when one zooms. */
      max: number;
      coarse: boolean;
    }
  | { type: "steps"; title: string; height: number; series: StepSeries[]; max: number; text: (value: number) => string }
  | { type: "marks"; title: string; height: number; at: Float64Array; texts: Int32Array };

export type TrackOf<Type extends Track["type"]> = Extract<Track, { type: Type }>;

/** In place of a lane: the profiler held the thread. */
export const kHold = -2;

const kRange = 16;
/** Levels of ranges shown by default. */
export const kLevels = 16;
/** Shorter pauses between kernels are normal. */
const kMinIdleNs = 1000;

/** Rows of overlapping ranges of one depth. */
const kMaxLanes = 12;

function rangeTrack(spans: readonly GpuSpan[], title: string, gpu: number | undefined): Track {
  return {
    type: "ranges",
    title,
    height: kRange,
    spans: new Spans(
      Float64Array.from(spans, (span) => span.start),
      Float64Array.from(spans, (span) => span.end),
    ),
    places: Int32Array.from(spans, (span) => span.place),
    modules: Int32Array.from(spans, (span) => span.module),
    gpu,
  };
}

interface Source {
  trace: Trace;
  timeline: TimelineData;
  /** Deepest level of ranges. */
  levels: number;
}

/** A thread's ranges on the host, by start. */
function hostSpans({ ranges }: TimelineData, thread: number): GpuSpan[] {
  const out: GpuSpan[] = [];
  for (let i = 0; i < ranges.start.length; ++i)
    if (ranges.thread[i] === thread)
      out.push({
        start: ranges.start[i]!,
        end: ranges.end[i]!,
        module: ranges.module[i]!,
        place: i,
        thread,
        gpu: undefined,
      });
  return out;
}

/** Ranges by depth, then start/end ranges, which have no depth. */
function rangeTracks(source: Source, spans: readonly GpuSpan[], titles: [string, string], gpu?: number): Track[] {
  const { trace, timeline, levels } = source;
  const byDepth: GpuSpan[][] = [];
  const free: GpuSpan[] = [];
  for (const span of spans) {
    if (span.place >= 0 && timeline.ranges.text[span.place]! >= 0) {
      free.push(span);
      continue;
    }
    const depth = trace.modules[span.module]?.depth ?? 1;
    if (depth <= levels) (byDepth[depth - 1] ??= []).push(span);
  }
  const lanesOf = (all: readonly GpuSpan[]): GpuSpan[][] =>
    inLanes(
      all,
      (span) => span.start,
      (span) => span.end,
      kMaxLanes,
    );
  const rows = byDepth.filter((all) => all !== undefined).flatMap(lanesOf);
  return [
    ...rows.map((all, i) => rangeTrack(all, i === 0 ? titles[0] : "", gpu)),
    ...lanesOf(free).map((all, i) => rangeTrack(all, i === 0 ? titles[1] : "", gpu)),
  ];
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
  const rate = (
    title: string,
    series: RateSeries[],
    { peak, percent = false }: { peak?: number | undefined; percent?: boolean } = {},
  ): Track[] => {
    if (series.length === 0) return [];
    const max = percent ? 100 : (peak ?? Math.max(1, ...series.map((one) => one.highest())));
    const height = percent ? 34 : 46;
    return [{ type: "rate", title, height, series, gpu, percent, peak, max, coarse: samples.merged }];
  };
  const named = (...names: string[]): RateSeries[] => samples.rates.filter((one) => names.includes(one.name));
  return [
    ...rate("DRAM", named("dram_read", "dram_write"), { peak: peakDram(trace, gpu) }),
    ...rate("L2", named("l2"), { peak: trace.peakL2 }),
    ...rate("PCIe", named("pcie_read", "pcie_write")),
    ...rate("NVLink", named("nvlink_received", "nvlink_transmitted")),
    ...rate(
      "SM active",
      samples.percents.filter((one) => one.name === "sm_active"),
      { percent: true },
    ),
  ];
}

export const peakDram = (trace: Trace, gpu: number): number | undefined =>
  trace.tables.gpus.find((one) => one.id === gpu)?.peak_dram_bytes_per_s;

function stepTrack(title: string, series: StepSeries[], height: number, text: (value: number) => string): Track {
  return { type: "steps", title, height, series, max: Math.max(1, ...series.map((one) => one.highest())), text };
}

function threadTracks(source: Source, thread: number): Track[] {
  const { timeline } = source;
  const out: Track[] = [
    { type: "head", title: `thread ${timeline.threads.get(thread) || "(no name)"} ${thread}`, height: 18 },
    ...rangeTracks(source, hostSpans(timeline, thread), ["NVTX ranges", "start/end ranges"]),
  ];
  const marks = Array.from(timeline.marks.at.keys()).filter((i) => timeline.marks.thread[i] === thread);
  if (marks.length > 0)
    out.push({
      type: "marks",
      title: "marks",
      height: 16,
      at: Float64Array.from(marks, (i) => timeline.marks.at[i]!),
      texts: Int32Array.from(marks, (i) => timeline.marks.text[i]!),
    });
  const calls = callTrack(timeline, thread);
  if (calls !== undefined) out.push(calls);
  return out;
}

function gpuTracks(source: Source, gpu: number, spans: readonly GpuSpan[]): Track[] {
  const { trace, timeline } = source;
  const name = trace.tables.gpus.find((one) => one.id === gpu)?.name ?? "";
  const out: Track[] = [
    { type: "head", title: `GPU ${gpu} ${name}`, height: 18 },
    ...rangeTracks(source, spans, ["NVTX on the GPU", "start/end ranges on the GPU"], gpu),
  ];
  for (const lane of timeline.lanes)
    if (lane.gpu === gpu) out.push({ type: "lane", title: lane.title, height: 24, lane });
  const idle = idleTrack(timeline, gpu);
  if (idle !== undefined) out.push(idle);
  out.push(...sampleTracks(trace, timeline, gpu));
  for (const { gpu: of, series } of timeline.conditions)
    if (of === gpu) out.push(stepTrack(series.name, [series], 30, countText));
  return out;
}

/** Of the process as a whole; empty: nothing is known of it. */
function processTracks({ conditions, memory }: TimelineData): Track[] {
  const out = conditions
    .filter(({ gpu }) => gpu === undefined)
    .map(({ series }) => stepTrack(series.name, [series], 30, countText));
  if (memory.length > 0) out.push(stepTrack("memory in use", memory, 40, bytesText));
  return out.length === 0 ? [] : [{ type: "head", title: "process", height: 18 }, ...out];
}

export function tracksOf(trace: Trace, timeline: TimelineData, levels: number): Track[] {
  const source: Source = { trace, timeline, levels };
  const threads = new Set<number>(timeline.ranges.thread);
  for (const lane of timeline.lanes) for (const thread of lane.launchThread) if (thread !== 0) threads.add(thread);
  for (const thread of timeline.syncs.thread) threads.add(thread);
  for (const thread of timeline.holds.thread) threads.add(thread);
  const gpus = [...new Set([...timeline.lanes, ...timeline.samples].map((one) => one.gpu))].sort((a, b) => a - b);
  const spans = gpuSpans(trace, timeline);
  return [
    ...[...threads].sort((a, b) => a - b).flatMap((thread) => threadTracks(source, thread)),
    // A range of the host has no GPU: with several GPUs it is shown at the first.
    ...gpus.flatMap((gpu) =>
      gpuTracks(
        source,
        gpu,
        spans.filter((span) => (span.gpu ?? gpus[0]) === gpu),
      ),
    ),
    ...processTracks(timeline),
  ];
}

/** Consecutive rows with one title: what one hides and pins. */
export interface TrackGroup {
  key: string;
  head: string;
  title: string;
  tracks: Track[];
}

/** Rows without a title belong to the one before. */
export function groupsOf(tracks: readonly Track[]): TrackGroup[] {
  const out: TrackGroup[] = [];
  let head = "";
  for (const track of tracks) {
    if (track.type === "head") head = track.title;
    if (track.type !== "head" && track.title === "" && out.length > 0) out[out.length - 1]!.tracks.push(track);
    else
      out.push({
        key: `${head}: ${track.type === "head" ? "" : track.title}`,
        head,
        title: track.title,
        tracks: [track],
      });
  }
  return out;
}
