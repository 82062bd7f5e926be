// SPDX-License-Identifier: Apache-2.0
//
// The visible time range: zooming and moving, limited to the trace. Pure functions.

export interface Range {
  from: number;
  to: number;
}

/** Minimum visible time: CUPTI's clock ticks in 32 ns. */
const kMinNs = 100;

export function clamped(range: Range, all: Range): Range {
  const whole = all.to - all.from;
  const length = Math.min(whole * 1.04, Math.max(kMinNs, range.to - range.from));
  const margin = whole * 0.02;
  const from = Math.min(Math.max(range.from, all.from - margin), Math.max(all.from - margin, all.to + margin - length));
  return { from, to: from + length };
}

/** `factor` below 1 zooms in. `at` keeps its place on the screen. */
export function zoomed(range: Range, at: number, factor: number): Range {
  return { from: at - (at - range.from) * factor, to: at + (range.to - at) * factor };
}

export const moved = (range: Range, part: number): Range => {
  const by = (range.to - range.from) * part;
  return { from: range.from + by, to: range.to + by };
};

/** The range with a margin on both sides. */
export const around = (from: number, to: number, room = 0.5): Range => {
  const beside = Math.max(kMinNs, (to - from) * room);
  return { from: from - beside, to: to + beside };
};
