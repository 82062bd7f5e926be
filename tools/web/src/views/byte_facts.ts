// SPDX-License-Identifier: Apache-2.0
//
// Bytes of an interval of the timeline as a list: amounts, rates and shares of the peak. Exact ones are those of the
// launches themselves; sampled ones are of all that ran on the GPU in that time.
import { bytesIn, type AreaBytes } from "../data/area";
import { bytesText, durationText, percentText, rateText } from "../data/numbers";
import type { TimelineData } from "../data/timeline";
import type { Trace } from "../data/trace";
import type { Fact } from "../ui/facts";
import type { Piece } from "./timeline_scene";
import { peakDram } from "./timeline_tracks";

const rateOf = (bytes: number, ns: number, peak: number | undefined): string => {
  const rate = (bytes / Math.max(1, ns)) * 1e9;
  return rateText(rate) + (peak === undefined ? "" : `, ${percentText(rate / peak)} of peak`);
};

/** Of `ns`, in which all of the bytes moved; undefined: no rates. */
export function amountFacts(trace: Trace, bytes: AreaBytes, ns: number | undefined): Fact[] {
  const { dramRead, dramWrite, l2, sampledShare } = bytes;
  const out: Fact[] = [];
  // As in the report, + marks a lower bound. Its rate would be none.
  const isPart = sampledShare < 1;
  const add = (name: string, amount: number | undefined): void => {
    if (amount !== undefined) out.push([name, bytesText(amount) + (isPart ? "+" : ""), `${Math.round(amount)} B`]);
  };
  if (isPart) {
    out.push(["sampled", `${percentText(sampledShare)} of the busy time: lower bounds`]);
    ns = undefined;
  }
  add("DRAM read", dramRead);
  add("DRAM written", dramWrite);
  if (ns !== undefined && (dramRead !== undefined || dramWrite !== undefined))
    out.push(["DRAM rate", rateOf((dramRead ?? 0) + (dramWrite ?? 0), ns, peakDram(trace, bytes.gpu))]);
  add("L2", l2);
  if (l2 !== undefined && ns !== undefined) out.push(["L2 rate", rateOf(l2, ns, trace.peakL2)]);
  return out;
}

/** `piece`: only its own bytes, where they were measured exactly. */
export function byteFacts(
  trace: Trace,
  timeline: TimelineData,
  gpu: number,
  from: number,
  to: number,
  piece?: Piece,
): Fact[] {
  const samples = timeline.samples.find((one) => one.gpu === gpu)?.rates[0];
  if (piece !== undefined) {
    const { dramRead, dramWrite, l2 } = timeline.lanes[piece.lane]!;
    const own = { dramRead: dramRead[piece.place]!, dramWrite: dramWrite[piece.place]!, l2: l2[piece.place]! };
    if (own.dramRead >= 0)
      return amountFacts(trace, { ...own, gpu, source: "exact", measured: 1, sampledShare: 1 }, to - from);
    if (samples === undefined) return [];
  }
  const length = samples?.lengthAt((from + to) / 2) ?? 0;
  if (length > to - from) return [["DRAM, L2", `shorter than a sample of ${durationText(length)}`]];
  const bytes = bytesIn(timeline, gpu, from, to);
  if (bytes === undefined) return samples === undefined ? [] : [["DRAM, L2", "not sampled at that time"]];
  // Launches that are measured exactly run one at a time, with pauses: their rate in between means nothing.
  if (bytes.source === "exact")
    return [["bytes", `of ${bytes.measured} launches, exact`], ...amountFacts(trace, bytes, undefined)];
  return [["bytes", "of all work at that time, sampled"], ...amountFacts(trace, bytes, to - from)];
}
