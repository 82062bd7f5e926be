// SPDX-License-Identifier: Apache-2.0
//
// The time to which the timeline's times are relative: the start of the visible iteration, else a round time at the
// left of the view. Pure functions.
import { axisText, durationText } from "../data/numbers";
import type { Trace } from "../data/trace";
import type { Range } from "./timeline_zoom";

export interface Origin {
  at: number;
  title: string;
}

/** A longer view shows many iterations. */
const kMaxIterations = 4;

export interface Iteration {
  /** Of the wall time: when the work of the one before is done, if that is later than the start on the host. */
  start: number;
  end: number;
  number: number;
}

/** In order of start; empty: there are none. */
export function iterationsOf(trace: Trace): Iteration[] {
  const out: Iteration[] = [];
  let done = -Infinity;
  for (const row of trace.tables.iterations.iterations?.rows ?? []) {
    const of = (key: string): number => (typeof row[key] === "number" ? row[key] : 0);
    const held = of("held_ns");
    const start = Math.max(done, of("start_ns"));
    done = Math.max(of("start_ns") + of("host_ns") + held, start + of("wall_ns") + held);
    out.push({ start, end: done, number: of("iteration") });
  }
  return out;
}

export function originOf(iterations: readonly Iteration[], { from, to }: Range, all: Range): Origin {
  const whole = { at: 0, title: "since the start" };
  const length = to - from;
  const middle = from + length / 2;
  const one = iterations.find(({ start, end }) => start <= middle && middle < end);
  if (one !== undefined && length < kMaxIterations * (one.end - one.start))
    return { at: one.start, title: `iteration ${one.number}` };
  if (length > (all.to - all.from) / 10) return whole;
  const step = 10 ** Math.floor(Math.log10(Math.max(1, length)));
  const round = Math.floor(from / step) * step;
  return round <= 0 ? whole : { at: round, title: `from ${axisText(round, step)}` };
}

/** "+1.13 ms" */
export const relativeText = (time: number, { at }: Origin): string =>
  at === 0 ? durationText(time) : `${time < at ? "−" : "+"}${durationText(Math.abs(time - at))}`;
