// SPDX-License-Identifier: Apache-2.0
//
// Data of the overview, written by tools/page/page_overview.cpp, and sums over a part of a replay.
//
//   opening lines, evidence ─▶ links: states of the page
//   strip: a bar an iteration      picture: replays with spans, kernels and samples; bytes of layers in replays
//
// Times of a replay are relative to its start.
import type { View } from "../state";
import type { Metric } from "./trace";

export interface Link {
  text: string;
  view: View;
  /** Index of the row. */
  module?: number;
  kernel?: number;
  finding?: number;
  metric?: Metric;
  from?: number;
  to?: number;
}

export interface OpeningLine {
  label: string;
  value: string;
  about: string;
  links: Link[];
}

/** A module by which an iteration is divided. */
export interface ShownLayer {
  module: number;
  name: string;
  path: string;
  /** Layers of one family differ by numbers only. */
  family: number;
  member: number;
  members: number;
  gpu_ns: number;
}

export interface Bar {
  iteration: number;
  from: number;
  to: number;
  wall_ns?: number;
  gpu_ns: number;
  /** GPU time by layer; the last: in no layer. */
  parts: number[];
  /** Why it is in no statistics. */
  excluded?: string;
}

export interface Strip {
  /** Iterations in all. */
  count: number;
  /** Iterations a bar; it shows the slowest of them. */
  group: number;
  layers: ShownLayer[];
  bars: Bar[];
  median?: number;
}

export interface PictureLayer extends ShownLayer {
  gpu_ns: number;
  dram_read_bytes: number;
  dram_write_bytes: number;
  l2_bytes: number;
  /** False: the error bound forbids a number. */
  shown: boolean;
  /** Of one replay. */
  each_bytes: number;
  declared_each_bytes?: number;
  text: string;
  error?: string;
  ratio?: number;
  ratio_text?: string;
  peak_text?: string;
}

export type LimitKey = "dram" | "l2" | "compute" | "latency" | "below_dram" | "";

/** Bytes and the bound of their error. */
type Bounded = [bytes: number, error: number] | null;
export interface Band {
  read: Bounded;
  write: Bounded;
  l2: Bounded;
}

export interface Replay {
  iteration: number;
  from: number;
  to: number;
  /** Absent: the page has no work of this replay. */
  spans?: [start: number, ns: number, level: number, lane: number, layer: number, path: number][];
  /** Columns; starts are relative to the one before. `other`: places of copies and memsets. */
  pieces?: { start: number[]; ns: number[]; kernel: number[]; layer: number[]; other: number[] };
  points?: { start: number[]; ns: number[]; read: number[]; write: number[]; l2: number[]; unit_bytes: number };
  lost?: [from: number, to: number][];
  held?: [from: number, to: number][];
  bands?: Band[];
  omitted?: number;
}

/** Kernels, copies and memsets: kernel -1 is none. Samples, in bytes. Times are relative to the replay. */
export interface ReplayWork {
  pieces: [start: number, ns: number, kernel: number, layer: number, isKernel: boolean][];
  points: [start: number, ns: number, read: number, write: number, l2: number][];
}

const unpackedWork = new WeakMap<Replay, ReplayWork>();

export function workOf(replay: Replay): ReplayWork {
  const known = unpackedWork.get(replay);
  if (known !== undefined) return known;
  const { pieces, points } = replay;
  const out: ReplayWork = { pieces: [], points: [] };
  const others = new Set(pieces?.other);
  let at = 0;
  pieces?.start.forEach((step, i) => {
    at += step;
    out.pieces.push([at, pieces.ns[i]!, pieces.kernel[i]!, pieces.layer[i]!, !others.has(i)]);
  });
  at = 0;
  points?.start.forEach((step, i) => {
    at += step;
    const [read, write, l2] = [points.read, points.write, points.l2].map((all) => all[i]! * points.unit_bytes);
    out.points.push([at, points.ns[i]!, read!, write!, l2!]);
  });
  unpackedWork.set(replay, out);
  return out;
}

export interface Scale {
  full_bytes_per_s: number;
  peak: boolean;
  text: string;
}

/** DRAM bytes of a layer in a replay; null: not computed. */
export type HeatCell = [bytes: number, error: number, shown: number, beyond: number] | null;

export interface Picture {
  headline: string;
  caption: string;
  median: number;
  layers: PictureLayer[];
  families: string[];
  scales: { dram: Scale; l2: Scale };
  heat: { cells: HeatCell[][]; medians: number[] };
  /** By kernel. */
  limits: Record<string, LimitKey>;
  limit_texts: Record<LimitKey, string>;
  /** Name and module by path. */
  paths: Record<string, [name: string, module: number]>;
  replays: Replay[];
}

export interface Overview {
  title: string[];
  warnings: string[];
  lines: OpeningLine[];
  findings: string;
  next: { what?: string; code?: string; command?: string };
  /** By finding. */
  evidence: Link[][];
  conditions: string;
  /** "replay" or "iteration"; absent: there are none. */
  what?: string;
  of?: string;
  strip?: Strip;
  picture?: Picture;
}

export interface Sums {
  ns: number;
  read: number;
  write: number;
  l2: number;
  busy: number;
  held: number;
  idle: number;
  /** Kernel time by layer; -1: in no layer. */
  layers: Map<number, number>;
}

/** Length of the union of intervals, which are in order of start, inside [from, to). */
function unionLength(all: readonly (readonly [number, number])[], from: number, to: number): number {
  let length = 0;
  let until = from;
  for (const [start, end] of all) {
    const begin = Math.max(start, until);
    const stop = Math.min(end, to);
    if (stop <= begin) continue;
    length += stop - begin;
    until = stop;
  }
  return length;
}

/** Of the part [from, to) of a replay. Bytes of a sample count by the part of its time. */
export function sumsOf(replay: Replay, from: number, to: number): Sums {
  const out: Sums = { ns: to - from, read: 0, write: 0, l2: 0, busy: 0, held: 0, idle: 0, layers: new Map() };
  const inside = (start: number, ns: number): number => Math.max(0, Math.min(start + ns, to) - Math.max(start, from));
  for (const [start, ns, read, write, l2] of workOf(replay).points) {
    const part = ns > 0 ? inside(start, ns) / ns : 0;
    out.read += read * part;
    out.write += write * part;
    out.l2 += l2 * part;
  }
  const kernels: [number, number][] = [];
  for (const [start, ns, , layer, isKernel] of workOf(replay).pieces) {
    const length = inside(start, ns);
    if (!isKernel || length === 0) continue;
    kernels.push([start, start + ns]);
    out.layers.set(layer, (out.layers.get(layer) ?? 0) + length);
  }
  const held = [...(replay.held ?? [])].sort((a, b) => a[0] - b[0]);
  out.busy = unionLength(kernels, from, to);
  out.held = unionLength(held, from, to);
  out.idle =
    out.ns -
    unionLength(
      [...kernels, ...held].sort((a, b) => a[0] - b[0]),
      from,
      to,
    );
  return out;
}

/** The layer that runs at a time of a replay; -1: none. */
export function layerAt(replay: Replay, at: number): number {
  const span = (replay.spans ?? []).find(([start, ns, , , layer]) => layer >= 0 && at >= start && at < start + ns);
  return span === undefined ? -1 : span[4];
}

/** The layer that is the module, contains it or is in it; -1: none. */
export function layerOfModule(layers: readonly ShownLayer[], module: string | undefined): number {
  if (module === undefined) return -1;
  return layers.findIndex(({ path }) => path === module || module.startsWith(`${path}/`));
}
