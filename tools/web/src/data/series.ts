// SPDX-License-Identifier: Apache-2.0
//
// Values over time that add up (bytes of samples), and values that hold until they change (memory). Pure.
import { lowerBound } from "./spans";

/** Bytes of samples: the mean rate of any stretch of time is what its samples, cut at its ends, add up to. */
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

  private until(time: number): number {
    const next = lowerBound(this.start, time);
    if (next === 0) return 0;
    const last = next - 1;
    const length = this.end[last]! - this.start[last]!;
    const part = length <= 0 ? 1 : Math.min(1, (time - this.start[last]!) / length);
    return this.sums[last]! + (this.sums[next]! - this.sums[last]!) * part;
  }

  /** Whether any sample lies in [from, to). */
  covers(from: number, to: number): boolean {
    const next = lowerBound(this.start, to);
    return next > 0 && this.end[next - 1]! > from;
  }

  /** Mean of [from, to), per ns times `scale`. */
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

  /** Highest value that [from, to) sees. */
  most(from: number, to: number): number {
    let i = Math.max(0, lowerBound(this.at, from) - 1);
    let most = this.at.length === 0 || this.at[i]! > from ? 0 : this.value[i]!;
    for (; i < this.at.length && this.at[i]! < to; ++i) if (this.at[i]! >= from) most = Math.max(most, this.value[i]!);
    return most;
  }
}
