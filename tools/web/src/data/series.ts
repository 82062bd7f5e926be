// SPDX-License-Identifier: Apache-2.0
//
// Values over time that add up (bytes of samples), and values that hold until they change (memory). Pure functions.
import { lowerBound } from "./spans";

/** Bytes of samples. The mean rate of an interval is the sum of its samples, cut at its ends, over its length. */
export class RateSeries {
  private readonly sums: Float64Array;

  constructor(
    readonly name: string,
    readonly start: Float64Array,
    readonly end: Float64Array,
    values: readonly number[],
    readonly scale: number,
  ) {
    this.sums = new Float64Array(values.length + 1);
    for (let i = 0; i < values.length; ++i) this.sums[i + 1] = this.sums[i]! + values[i]!;
  }

  /** The highest rate of one sample. */
  highest(): number {
    let out = 0;
    for (let i = 0; i < this.start.length; ++i)
      out = Math.max(out, (this.sums[i + 1]! - this.sums[i]!) / Math.max(1, this.end[i]! - this.start[i]!));
    return out * this.scale;
  }

  /** Length of the sample at `time`; 0: there is none. */
  lengthAt(time: number): number {
    const at = lowerBound(this.start, time + 1) - 1;
    return at >= 0 && this.end[at]! > time ? this.end[at]! - this.start[at]! : 0;
  }

  private until(time: number): number {
    const next = lowerBound(this.start, time);
    if (next === 0) return 0;
    const last = next - 1;
    const length = this.end[last]! - this.start[last]!;
    const part = length <= 0 ? 1 : Math.min(1, (time - this.start[last]!) / length);
    return this.sums[last]! + (this.sums[next]! - this.sums[last]!) * part;
  }

  /** True if [from, to) overlaps a sample. */
  covers(from: number, to: number): boolean {
    const next = lowerBound(this.start, to);
    return next > 0 && this.end[next - 1]! > from;
  }

  /** Mean over [from, to), per ns times `scale`. */
  mean(from: number, to: number): number {
    return ((this.until(to) - this.until(from)) / (to - from)) * this.scale;
  }
}

export class StepSeries {
  constructor(
    readonly name: string,
    readonly at: Float64Array,
    readonly value: Float64Array,
  ) {}

  /** Highest value of all. */
  highest(): number {
    let out = 0;
    for (const value of this.value) out = Math.max(out, value);
    return out;
  }

  /** Highest value in [from, to). */
  max(from: number, to: number): number {
    let i = Math.max(0, lowerBound(this.at, from) - 1);
    let max = this.at.length === 0 || this.at[i]! > from ? 0 : this.value[i]!;
    for (; i < this.at.length && this.at[i]! < to; ++i) if (this.at[i]! >= from) max = Math.max(max, this.value[i]!);
    return max;
  }
}
