// SPDX-License-Identifier: Apache-2.0
//
// The piece under the pointer, and its tooltip.
import type { ComponentChildren, JSX } from "preact";
import { idleCauses } from "../data/area";
import { bytesText, countText, durationText, percentText, rateText } from "../data/numbers";
import type { ConfigRow } from "../data/rows";
import { heldNs, heldWithin, Kind, type Lane, type TimelineData } from "../data/timeline";
import { kernelKey, type Trace } from "../data/trace";
import { Facts, type Fact } from "../ui/facts";
import { laneLabel, rangeLabel } from "./timeline_paint";
import type { Piece, Placed } from "./timeline_scene";
import { byteFacts } from "./byte_facts";
import { relativeText, type Origin } from "./timeline_origin";
import { kHold, type TrackOf } from "./timeline_tracks";

export interface Hit {
  row: Placed;
  /** Index in the row's spans; -1: none, as in rows with lines. */
  place: number;
  time: number;
  /** Path of a module and key of a kernel that a click selects. */
  module?: string | undefined;
  kernel?: string | undefined;
  piece?: Piece | undefined;
  from?: number;
  to?: number;
}

export function hitAt(
  trace: Trace,
  timeline: TimelineData,
  row: Placed,
  time: number,
  nsOfPixel: number,
): Hit | undefined {
  const { track } = row;
  const hit: Hit = { row, place: -1, time };
  if (track.type === "rate" || track.type === "steps") return hit;
  if (track.type === "head" || track.type === "marks") return undefined;
  const spans = track.type === "lane" ? track.lane.spans : track.spans;
  const place = spans.at(time, 2 * nsOfPixel);
  if (place < 0) return track.type === "lane" && track.lane.busy !== undefined ? hit : undefined;
  Object.assign(hit, { place, from: spans.start[place], to: spans.end[place] });
  const pathOf = (module: number | undefined): string | undefined => trace.modules[module ?? -1]?.path;
  const ofLane = (lane: number, at: number): void => {
    const { [lane]: one } = timeline.lanes;
    const kernel = one!.kind[at] === 0 ? trace.tables.kernels[one!.name[at]!] : undefined;
    Object.assign(hit, {
      piece: { lane, place: at },
      module: pathOf(one!.module[at]),
      kernel: kernel && kernelKey(kernel),
    });
  };
  if (track.type === "lane") ofLane(timeline.lanes.indexOf(track.lane), place);
  else if (track.type === "ranges") hit.module = pathOf(track.modules[place]);
  else if (track.type === "calls" && track.lanes[place]! >= 0) ofLane(track.lanes[place]!, track.places[place]!);
  return hit;
}

function configFacts(config: ConfigRow | undefined): Fact[] {
  if (config === undefined) return [];
  return [
    ["grid", config.grid.join(" × ")],
    ["block", config.block.join(" × ")],
    ...(config.cluster ? [["cluster", config.cluster.join(" × ")] as Fact] : []),
    ["registers per thread", String(config.registers)],
    ["shared memory", bytesText(config.static_shared_bytes + config.dynamic_shared_bytes)],
    ["local memory per thread", bytesText(config.local_bytes_per_thread)],
  ];
}

/** All values of one kernel or copy. */
export function pieceFacts(trace: Trace, timeline: TimelineData, piece: Piece, origin: Origin): Fact[] {
  const lane = timeline.lanes[piece.lane]!;
  const at = piece.place;
  const [start, end] = [lane.spans.start[at]!, lane.spans.end[at]!];
  const out: Fact[] = [
    ["duration", durationText(end - start), `${end - start} ns`],
    ["start", relativeText(start, origin), `${start} ns`],
    ["stream", String(lane.stream[at])],
    ["correlation", String(lane.corr[at])],
  ];
  const launched = lane.launchThread[at] !== 0;
  if (launched) {
    const after = lane.launch[at]!;
    const held = heldNs(timeline, lane.launchThread[at]!, after, after + lane.launchNs[at]!);
    out.push(
      ["launched by", timeline.apis[lane.launchApi[at]!] ?? ""],
      ["launch to start", durationText(start - after), `${start - after} ns`],
      ["duration of the call", durationText(lane.launchNs[at]!)],
    );
    if (held > 0) out.push(["of it held by the profiler", durationText(held), `${held} ns`]);
  }
  if (lane.graph[at] !== 0) out.push(["graph", String(lane.graph[at])]);
  if (lane.kind[at] === Kind.memcpy || lane.kind[at] === Kind.memset)
    out.push(
      ["bytes", bytesText(lane.bytes[at]!), String(lane.bytes[at])],
      ["rate", rateText((lane.bytes[at]! / Math.max(1, end - start)) * 1e9)],
    );
  out.push(...byteFacts(trace, timeline, lane.gpu, start, end, piece));
  if (lane.kind[at] === 0)
    out.push(...configFacts(trace.tables.kernel_configs.find((row) => row.id === lane.config[at])));
  return out;
}

const Title = ({ children }: { children: ComponentChildren }): JSX.Element => (
  <b class="code">
    <bdi>{children}</bdi>
  </b>
);

interface TipProps {
  trace: Trace;
  timeline: TimelineData;
  hit: Hit;
  nsOfPixel: number;
  origin: Origin;
}

function LaneTip({ trace, timeline, lane, hit, origin }: TipProps & { lane: Lane }): JSX.Element {
  if (hit.place < 0 || hit.piece === undefined)
    return (
      <div>
        This page has no single kernels and copies at this time. The stream has {countText(lane.total)} of them; the
        marks at the top show where the page has single ones.
      </div>
    );
  return (
    <>
      <Title>{laneLabel(trace, timeline.lanes[hit.piece.lane]!, hit.piece.place, true).slice(0, 300)}</Title>
      {hit.module !== undefined && (
        <div class="dim">
          <bdi>{hit.module.slice(-200)}</bdi>
        </div>
      )}
      <Facts facts={pieceFacts(trace, timeline, hit.piece, origin)} />
    </>
  );
}

function RangeTip({ trace, timeline, hit, origin }: TipProps): JSX.Element {
  const track = hit.row.track as TrackOf<"ranges">;
  const place = track.places[hit.place]!;
  const { ranges } = timeline;
  const [from, to] = [hit.from ?? 0, hit.to ?? 0];
  const [gpuFrom, gpuTo] =
    track.gpu !== undefined
      ? [from, to]
      : [ranges.gpuStart[place]!, ranges.gpuStart[place]! + Math.max(0, ranges.gpuNs[place]!)];
  const gpu = track.gpu ?? timeline.lanes[0]?.gpu ?? 0;
  const held = gpuTo > gpuFrom ? heldWithin(timeline, gpuFrom, gpuTo) : 0;
  return (
    <>
      <Title>{rangeLabel({ trace, timeline }, place, track.modules[hit.place]!).slice(0, 300)}</Title>
      {hit.module !== undefined && (
        <div class="dim">
          <bdi>{hit.module.slice(-200)}</bdi>
        </div>
      )}
      <Facts
        facts={[
          ["start", relativeText(from, origin), `${from} ns`],
          place >= 0 && ["on the host", durationText(ranges.end[place]! - ranges.start[place]!)],
          place < 0 && ["captured in", "a CUDA graph: this is one replay"],
          gpuTo > gpuFrom && ["span on the GPU", durationText(gpuTo - gpuFrom - held)],
          held > 0 && ["of the time the profiler held", durationText(held)],
          place >= 0 && ranges.open[place] === 1 && ["end", "never closed"],
          ...(gpuTo > gpuFrom ? byteFacts(trace, timeline, gpu, gpuFrom, gpuTo) : []),
        ]}
      />
    </>
  );
}

function IdleTip({ timeline, hit, origin }: TipProps): JSX.Element {
  const [from, to] = [hit.from ?? 0, hit.to ?? 0];
  const idleNs = to - from - heldWithin(timeline, from, to);
  return (
    <>
      <div>Nothing ran on this GPU for {durationText(to - from)}</div>
      <Facts
        facts={[
          ["start", relativeText(from, origin), `${from} ns`],
          ...idleCauses(timeline, from, to, idleNs).map(({ cause, ns }): Fact => [cause, durationText(ns)]),
        ]}
      />
    </>
  );
}

export function HitTip(props: TipProps): JSX.Element {
  const { timeline, hit, nsOfPixel } = props;
  const { track } = hit.row;
  const length = (hit.to ?? 0) - (hit.from ?? 0);
  switch (track.type) {
    case "lane":
      return <LaneTip {...props} lane={track.lane} />;
    case "ranges":
      return <RangeTip {...props} />;
    case "calls": {
      if (hit.piece !== undefined) return <LaneTip {...props} lane={timeline.lanes[hit.piece.lane]!} />;
      if (track.lanes[hit.place] === kHold)
        return (
          <>
            <Title>{timeline.holdCauses[timeline.holds.cause[track.places[hit.place]!]!]}</Title>
            <div>the profiler held this thread for {durationText(length)}; host times leave this out</div>
          </>
        );
      return (
        <>
          <Title>{timeline.apis[timeline.syncs.api[track.places[hit.place]!]!]}</Title>
          <div>the host waited {durationText(length)}</div>
        </>
      );
    }
    case "idle":
      return <IdleTip {...props} />;
    case "rate":
      return (
        <>
          {track.series.map((series) => {
            const value = series.mean(hit.time - nsOfPixel / 2, hit.time + nsOfPixel / 2);
            return (
              <div key={series.name}>
                {series.name.replaceAll("_", " ")}: {track.percent ? percentText(value / 100) : rateText(value)}
                {track.peak !== undefined && `, ${percentText(value / track.peak)} of peak`}
              </div>
            );
          })}
          {track.series.every((series) => !series.covers(hit.time - nsOfPixel / 2, hit.time + nsOfPixel / 2)) && (
            <div class="dim">No sample here. Grey: work ran without being sampled. Otherwise nothing ran.</div>
          )}
          {/pcie|nvlink/.test(track.series[0]?.name ?? "") && (
            <div class="dim">
              Reported once in up to 50 samples; shown over that time. The sampling itself writes its records over PCIe:
              these bytes are in no sum.
            </div>
          )}
          {track.coarse && <div class="dim">Neighbouring samples are merged in this page.</div>}
        </>
      );
    case "steps":
      return (
        <>
          {track.series.map((series) => (
            <div key={series.name}>
              {series.name}: {track.text(series.max(hit.time, hit.time + nsOfPixel))}
            </div>
          ))}
        </>
      );
    default:
      return <></>;
  }
}
