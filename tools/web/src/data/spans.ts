// SPDX-License-Identifier: Apache-2.0
//
// Intervals sorted by start, and searches in them. Pure functions.

/** First index whose value is not below `wanted`. */
export function lowerBound(values: Float64Array, wanted: number, from = 0): number {
  let low = from;
  let high = values.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (values[middle]! < wanted) low = middle + 1;
    else high = middle;
  }
  return low;
}

export class Spans {
  /** Maximum end up to an index. It never decreases, so it can be searched. */
  private readonly reach: Float64Array;
  /** Length of the union of all intervals before an index. */
  private readonly covered: Float64Array;

  constructor(
    readonly start: Float64Array,
    readonly end: Float64Array,
  ) {
    this.reach = new Float64Array(start.length);
    this.covered = new Float64Array(start.length + 1);
    let reach = -Infinity;
    for (let i = 0; i < start.length; ++i) {
      this.covered[i + 1] = this.covered[i]! + Math.max(0, end[i]! - Math.max(start[i]!, reach));
      reach = Math.max(reach, end[i]!);
      this.reach[i] = reach;
    }
  }

  static of(pairs: readonly (readonly [number, number])[]): Spans {
    return new Spans(
      Float64Array.from(pairs, (pair) => pair[0]),
      Float64Array.from(pairs, (pair) => pair[1]),
    );
  }

  /** In any order. */
  static union(pairs: [number, number][]): Spans {
    return Spans.of(pairs.sort((a, b) => a[0] - b[0]));
  }

  get length(): number {
    return this.start.length;
  }

  /** The first that may end after `time`. */
  firstAfter(time: number): number {
    return lowerBound(this.reach, time);
  }

  /** The first that starts at `time` or later. */
  firstFrom(time: number, from = 0): number {
    return lowerBound(this.start, time, from);
  }

  /**
   * The next one to draw after `i`, whose pixel ends at `time`: those that end in that pixel too are skipped. Of
   * intervals that do not overlap only the last one that starts there may be longer.
   */
  nextDrawn(i: number, time: number): number {
    const next = Math.max(i + 1, this.firstFrom(time, i));
    return next - 1 > i && this.end[next - 1]! > time ? next - 1 : next;
  }

  /** The interval that covers `time` within `slack` ns, the latest of several; -1: none. */
  at(time: number, slack = 0): number {
    let best = -1;
    for (let i = this.firstAfter(time - slack); i < this.length && this.start[i]! <= time + slack; ++i) {
      if (this.end[i]! >= time - slack) best = i;
    }
    return best;
  }

  /** Length of the union up to `time`. */
  coveredUntil(time: number): number {
    const next = this.firstFrom(time);
    if (next === 0) return 0;
    return this.covered[next]! - Math.max(0, this.reach[next - 1]! - time);
  }

  /** Covered share of [from, to). */
  busy(from: number, to: number): number {
    return Math.min(1, Math.max(0, (this.coveredUntil(to) - this.coveredUntil(from)) / (to - from)));
  }
}
