// SPDX-License-Identifier: Apache-2.0
//
// The timeline's data, written by tools/page/page_timeline.cpp, unpacked into arrays for drawing.
//
// Columns hold times as differences to the previous value. A column without information is absent.
import { readStacks, type PackedStacks, type Stacks } from "./stacks";
import type { Trace } from "./trace";
import { RateSeries, StepSeries } from "./series";
import { Spans } from "./spans";
import { unpack } from "./unpack";

type Columns = Record<string, number[] | undefined>;

interface PackedLane {
  gpu?: number;
  context?: number;
  stream?: number;
  work?: number;
  default?: boolean;
  others?: number;
  pieces: Columns;
  busy?: number[];
  copying?: number[];
}

export interface PackedTimeline {
  first_ns: number;
  last_ns: number;
  whole: boolean;
  windows: { start_ns: number; end_ns: number; why: string }[];
  open?: Opening;
  bin_ns?: number;
  work: number;
  apis: string[];
  threads: { id: number; name: string }[];
  lanes: PackedLane[];
  ranges: Columns;
  ranges_left_out: number;
  syncs: Columns;
  syncs_left_out: number;
  holds: Columns;
  hold_causes: string[];
  idle: { start: number[]; ns: number[]; cause: number[]; left_out: number };
  idle_causes: string[];
  marks: Columns;
  samples: { gpu: number; merged: boolean; start: number[]; ns: number[]; count: number[]; columns: Columns }[];
  memory: Columns;
  conditions: { gpu?: number; title: string; at: number[]; value: number[] }[];
  stacks?: PackedStacks;
  texts: string[];
}

/** Where the timeline opens: the median iteration, or from the first to the last GPU work. */
export interface Opening {
  start_ns: number;
  end_ns: number;
  why: string;
}

export function summed(deltas: readonly number[] | undefined, n: number): Float64Array {
  const out = new Float64Array(n);
  let value = 0;
  for (let i = 0; i < n; ++i) out[i] = value += deltas?.[i] ?? 0;
  return out;
}

const ints = (values: readonly number[] | undefined, n: number, nothing: number): Float64Array => {
  if (values !== undefined) return Float64Array.from(values);
  return new Float64Array(n).fill(nothing);
};

function spansOf(starts: readonly number[], ns: readonly number[]): Spans {
  const start = summed(starts, starts.length);
  return new Spans(start, endsOf(start, ns));
}

const endsOf = (start: Float64Array, ns: readonly number[] | undefined): Float64Array =>
  start.map((at, i) => at + (ns?.[i] ?? 0));

export const Kind = { kernel: 0, memcpy: 1, memset: 2, wholeGraph: 3 } as const;

/** Pieces of work of one stream, sorted by start. */
export interface Lane {
  title: string;
  gpu: number;
  others: boolean;
  total: number;
  spans: Spans;
  kind: Float64Array;
  /** Kernel: index in the table of kernels. Copy: its CopyKind. */
  name: Float64Array;
  module: Float64Array;
  config: Float64Array;
  bytes: Float64Array;
  graph: Float64Array;
  /** Of a graph's node: the range in which it was captured. 0: none. */
  range: Float64Array;
  stream: Float64Array;
  corr: Float64Array;
  /** Launch on the host; thread 0: not recorded. */
  launch: Float64Array;
  launchNs: Float64Array;
  launchThread: Float64Array;
  launchApi: Float64Array;
  dramRead: Float64Array;
  dramWrite: Float64Array;
  l2: Float64Array;
  /** Busy per mille of each bin over all work; undefined: all pieces are in the page. */
  busy: Float64Array | undefined;
}

export interface Ranges {
  start: Float64Array;
  end: Float64Array;
  thread: Float64Array;
  module: Float64Array;
  /** Index in texts; -1: a push/pop range, named by its module. */
  text: Float64Array;
  open: Float64Array;
  gpuStart: Float64Array;
  /** -1: none of it ran on a GPU. */
  gpuNs: Float64Array;
}

export interface GpuSeries {
  gpu: number;
  merged: boolean;
  rates: RateSeries[];
  percents: RateSeries[];
}

/** Parts of the time without a kernel, each with its cause. */
export interface IdleParts {
  spans: Spans;
  /** Index in `causes`. */
  cause: Float64Array;
  causes: string[];
  /** Shorter parts that are not in the page. */
  leftOut: number;
}

export interface TimelineData {
  first: number;
  last: number;
  whole: boolean;
  windows: { start_ns: number; end_ns: number; why: string }[];
  open: Opening | undefined;
  binNs: number;
  work: number;
  apis: string[];
  texts: string[];
  threads: Map<number, string>;
  lanes: Lane[];
  ranges: Ranges;
  rangesLeftOut: number;
  syncs: { start: Float64Array; end: Float64Array; thread: Float64Array; api: Float64Array };
  syncsLeftOut: number;
  /** The profiler made a thread wait. */
  holds: { start: Float64Array; end: Float64Array; thread: Float64Array; cause: Float64Array };
  holdCauses: string[];
  /** Of all threads together. */
  held: Spans;
  idle: IdleParts;
  marks: { at: Float64Array; thread: Float64Array; text: Float64Array };
  samples: GpuSeries[];
  memory: StepSeries[];
  /** Clock and power of the GPUs; without a GPU: of the process. */
  conditions: { gpu: number | undefined; series: StepSeries }[];
  /** Samples of the host's call stacks; undefined: none were taken. */
  stacks: Stacks | undefined;
}

function laneOf(packed: PackedLane): Lane {
  const { pieces } = packed;
  const n = pieces["start"]?.length ?? 0;
  const start = summed(pieces["start"], n);
  const others = packed.others !== undefined;
  const name = `stream ${packed.stream}${packed.default === true ? " (default)" : ""}${(packed.context ?? 1) > 1 ? `, context ${packed.context}` : ""}`;
  return {
    title: others ? `${packed.others} more streams` : name,
    gpu: packed.gpu ?? 0,
    others,
    total: packed.work ?? 0,
    spans: new Spans(start, endsOf(start, pieces["ns"])),
    kind: ints(pieces["kind"], n, 0),
    name: ints(pieces["name"], n, -1),
    module: ints(pieces["module"], n, -1),
    config: ints(pieces["config"], n, 0),
    bytes: ints(pieces["bytes"], n, 0),
    graph: ints(pieces["graph"], n, 0),
    range: summed(pieces["range"], n),
    stream: ints(pieces["stream"], n, packed.stream ?? 0),
    corr: summed(pieces["corr"], n),
    launch: summed(pieces["launch"], n),
    launchNs: ints(pieces["launch_ns"], n, 0),
    launchThread: ints(pieces["launch_thread"], n, 0),
    launchApi: ints(pieces["launch_api"], n, 0),
    dramRead: ints(pieces["dram_read"], n, -1),
    dramWrite: ints(pieces["dram_write"], n, -1),
    l2: ints(pieces["l2"], n, -1),
    busy:
      packed.busy === undefined
        ? undefined
        : Float64Array.from(packed.busy, (part, i) => Math.min(1000, part + (packed.copying?.[i] ?? 0))),
  };
}

function rangesOf(columns: Columns): Ranges {
  const n = columns["start"]?.length ?? 0;
  const start = summed(columns["start"], n);
  return {
    start,
    end: endsOf(start, columns["ns"]),
    thread: ints(columns["thread"], n, 0),
    module: ints(columns["module"], n, -1),
    text: ints(columns["text"], n, -1),
    open: ints(columns["open"], n, 0),
    gpuStart: summed(columns["gpu_start"], n),
    gpuNs: ints(columns["gpu_ns"], n, -1),
  };
}

const kPercent = new Set(["sm_active", "engine_active"]);
const kSectorBytes = 32;
/** The GPU reports these once in up to so many samples, for all of them: 1 ms at 20 us. */
const kReported = /^(pcie|nvlink)_/;
const kMaxReported = 50;

/** Bytes over the time for which they were reported, which ends with their sample. */
function reportedSeries(name: string, samples: Samples, values: readonly number[], scale: number): RateSeries {
  const out: { start: number[]; end: number[]; value: number[] } = { start: [], end: [], value: [] };
  const add = (start: number, end: number, value: number): void => {
    if (end <= start) return;
    out.start.push(start);
    out.end.push(end);
    out.value.push(value);
  };
  let until = samples.start[0] ?? 0;
  values.forEach((value, i) => {
    if (value === 0) return;
    const end = samples.end[i]!;
    const one = (end - samples.start[i]!) / Math.max(1, samples.count[i]!);
    const start = Math.max(until, end - kMaxReported * one);
    add(until, start, 0);
    add(start, end, value);
    until = end;
  });
  add(until, samples.end[samples.end.length - 1] ?? until, 0);
  return new RateSeries(name, Float64Array.from(out.start), Float64Array.from(out.end), out.value, scale);
}

interface Samples {
  start: Float64Array;
  end: Float64Array;
  count: readonly number[];
}

function seriesOf(packed: PackedTimeline["samples"][number]): GpuSeries {
  const n = packed.start.length;
  const start = summed(packed.start, n);
  const end = endsOf(start, packed.ns);
  const out: GpuSeries = { gpu: packed.gpu, merged: packed.merged, rates: [], percents: [] };
  for (const [name, values] of Object.entries(packed.columns ?? {})) {
    if (values === undefined) continue;
    // Percent is a sum over samples. Multiplied by its duration it adds up like bytes.
    if (kPercent.has(name))
      out.percents.push(
        new RateSeries(
          name,
          start,
          end,
          values.map((value, i) => (value / Math.max(1, packed.count[i]!)) * (end[i]! - start[i]!)),
          1,
        ),
      );
    else if (kReported.test(name))
      out.rates.push(reportedSeries(name, { start, end, count: packed.count }, values, kSectorBytes * 1e9));
    else out.rates.push(new RateSeries(name, start, end, values, kSectorBytes * 1e9));
  }
  return out;
}

export function timelineOf(packed: PackedTimeline): TimelineData {
  const { ranges, syncs, holds, idle, marks, memory } = packed;
  const syncStart = summed(syncs["start"], syncs["start"]?.length ?? 0);
  const holdStart = summed(holds["start"], holds["start"]?.length ?? 0);
  const memoryAt = summed(memory["at"], memory["at"]?.length ?? 0);
  const memoryOf = (name: string, key: string): StepSeries =>
    new StepSeries(name, memoryAt, ints(memory[key], memoryAt.length, 0));
  return {
    first: packed.first_ns,
    last: Math.max(packed.last_ns, packed.first_ns + 1),
    whole: packed.whole,
    windows: packed.windows,
    open: packed.open,
    binNs: packed.bin_ns ?? 0,
    work: packed.work,
    apis: packed.apis,
    texts: packed.texts,
    threads: new Map(packed.threads.map((thread) => [thread.id, thread.name])),
    lanes: packed.lanes.map(laneOf),
    ranges: rangesOf(ranges),
    rangesLeftOut: packed.ranges_left_out,
    syncs: {
      start: syncStart,
      end: endsOf(syncStart, syncs["ns"]),
      thread: ints(syncs["thread"], syncStart.length, 0),
      api: ints(syncs["api"], syncStart.length, 0),
    },
    syncsLeftOut: packed.syncs_left_out,
    holds: {
      start: holdStart,
      end: endsOf(holdStart, holds["ns"]),
      thread: ints(holds["thread"], holdStart.length, 0),
      cause: ints(holds["cause"], holdStart.length, 0),
    },
    holdCauses: packed.hold_causes,
    held: Spans.union(Array.from(holdStart, (start, i) => [start, start + (holds["ns"]?.[i] ?? 0)])),
    idle: {
      spans: spansOf(idle.start, idle.ns),
      cause: Float64Array.from(idle.cause),
      causes: packed.idle_causes,
      leftOut: idle.left_out,
    },
    marks: {
      at: Float64Array.from(marks["at"] ?? []),
      thread: Float64Array.from(marks["thread"] ?? []),
      text: Float64Array.from(marks["text"] ?? []),
    },
    samples: packed.samples.map(seriesOf),
    conditions: packed.conditions.map(({ gpu, title, at, value }) => ({
      gpu,
      series: new StepSeries(title, summed(at, at.length), Float64Array.from(value)),
    })),
    stacks: packed.stacks && readStacks(packed.stacks),
    memory: [memoryOf("device", "device"), memoryOf("pinned host", "host")].filter((series) =>
      series.value.some((value) => value > 0),
    ),
  };
}

/** Time in which the profiler held the thread within [from, to). */
export function heldNs(timeline: TimelineData, thread: number, from: number, to: number): number {
  const { holds } = timeline;
  let sum = 0;
  for (let i = 0; i < holds.start.length && holds.start[i]! < to; ++i)
    if (holds.thread[i] === thread) sum += Math.max(0, Math.min(to, holds.end[i]!) - Math.max(from, holds.start[i]!));
  return sum;
}

/** The same for all threads together. */
export const heldWithin = ({ held }: TimelineData, from: number, to: number): number =>
  held.coveredUntil(to) - held.coveredUntil(from);

export async function readTimelines(traces: readonly Trace[]): Promise<readonly TimelineData[]> {
  const packed = await unpack<{ traces: PackedTimeline[] }>("timeline");
  return traces.map((_, i) => timelineOf(packed.traces[i]!));
}

/** What counts as busy: kernels, and graphs recorded as a whole. */
export const isGpuTime = (lane: Lane, place: number): boolean =>
  lane.kind[place] === Kind.kernel || lane.kind[place] === Kind.wholeGraph;
