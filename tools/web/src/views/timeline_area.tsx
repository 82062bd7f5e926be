// SPDX-License-Identifier: Apache-2.0
//
// The selected part of the timeline: busy and idle time by cause, bytes, time by module and by kernel, and the host's
// stacks as a flame graph.
import type { ComponentChildren, JSX } from "preact";
import { useMemo } from "preact/hooks";
import { areaSums, type AreaPart, type AreaSums } from "../data/area";
import { countText, durationText, percentText } from "../data/numbers";
import type { TimelineData } from "../data/timeline";
import { kernelKey, shortName, type Trace } from "../data/trace";
import { update } from "../state";
import { Facts, type Fact } from "../ui/facts";
import { amountFacts } from "./byte_facts";
import { FlameGraph } from "./flame_graph";
import { relativeText, type Origin } from "./timeline_origin";
import type { Range } from "./timeline_zoom";

const kMaxParts = 12;

function Parts(props: {
  title: string;
  parts: readonly AreaPart[];
  name: (index: number) => string;
  choose: (index: number) => void;
  /** The end of a name says most. */
  paths?: boolean;
  of: number;
}): JSX.Element | null {
  const { parts } = props;
  if (parts.length === 0) return null;
  const rest = parts.slice(kMaxParts).reduce((sum, part) => sum + part.ns, 0);
  return (
    <div class="part">
      <h3>{props.title}</h3>
      <table>
        <tbody>
          {parts.slice(0, kMaxParts).map((part) => (
            <tr key={part.index}>
              <td class={props.paths === true && part.index >= 0 ? "path" : ""}>
                {part.index < 0 ? (
                  <span class="dim">{props.name(part.index)}</span>
                ) : (
                  <button
                    type="button"
                    class="link"
                    title={props.name(part.index)}
                    onClick={() => props.choose(part.index)}
                  >
                    <bdi>{props.name(part.index).slice(0, 200)}</bdi>
                  </button>
                )}
              </td>
              <td>{durationText(part.ns)}</td>
              <td>{percentText(part.ns / props.of)}</td>
              <td class="dim">{countText(part.count)}×</td>
            </tr>
          ))}
          {rest > 0 && (
            <tr>
              <td class="dim">{countText(parts.length - kMaxParts)} more</td>
              <td>{durationText(rest)}</td>
              <td>{percentText(rest / props.of)}</td>
              <td />
            </tr>
          )}
        </tbody>
      </table>
    </div>
  );
}

/** Exact counters run launches one at a time, which makes the pauses: the report has no idle time of such a trace. */
function timeFacts(sums: AreaSums, isExact: boolean): Fact[] {
  const own = Math.max(1, sums.ns - sums.heldNs);
  const share = (ns: number): string => `${durationText(ns)}, ${percentText(ns / own)}`;
  const out: Fact[] = [];
  if (isExact) out.push(["GPU busy", durationText(sums.busyNs)], ["GPU idle", "– (launches ran one at a time)"]);
  else {
    out.push(["GPU busy", share(sums.busyNs)], ["GPU idle", share(sums.idleNs)]);
    for (const { cause, ns } of sums.idle) out.push([`· ${cause}`, share(ns)]);
  }
  if (sums.heldNs > 0) out.push(["held by the profiler, in no sum", durationText(sums.heldNs)]);
  out.push(["kernels", countText(sums.kernels)]);
  return out;
}

function Bytes({ trace, sums }: { trace: Trace; sums: AreaSums }): JSX.Element {
  return (
    <>
      {sums.bytes.map((bytes) => (
        <div class="part small-part" key={bytes.gpu}>
          <Facts
            title={sums.bytes.length > 1 ? `Bytes of GPU ${bytes.gpu}` : "Bytes"}
            facts={[
              bytes.source === "exact" && ["exact, of launches", countText(bytes.measured)],
              ...amountFacts(trace, bytes, bytes.source === "samples" ? sums.ns : undefined),
            ]}
          />
        </div>
      ))}
    </>
  );
}

function Head({ children, close }: { children: ComponentChildren; close: () => void }): JSX.Element {
  return (
    <div class="line">
      {children}
      <span class="fill" />
      <button type="button" aria-label="Close" onClick={close}>
        ×
      </button>
    </div>
  );
}

export function AreaStrip(props: {
  trace: Trace;
  timeline: TimelineData;
  area: Range | undefined;
  origin: Origin;
  close: () => void;
}): JSX.Element | null {
  const { trace, timeline, area, origin } = props;
  const sums = useMemo(() => area && areaSums(timeline, area.from, area.to), [timeline, area?.from, area?.to]);
  if (area === undefined || sums === undefined) return null;
  const { kernels } = trace.tables;
  const total = Math.max(
    1,
    sums.byModule.reduce((sum, part) => sum + part.ns, 0),
  );
  return (
    <section class="strip area" aria-label="Selected part">
      <Head close={props.close}>
        <b>{durationText(sums.ns)} selected</b>
        <span class="dim">
          {relativeText(area.from, origin)} to {relativeText(area.to, origin)}
          {origin.at !== 0 && ` (${origin.title})`}
        </span>
        {!sums.whole && <span class="warn">The page does not have each kernel here: these are only some of them.</span>}
      </Head>
      <div class="parts">
        <div class="part small-part">
          <Facts title="Time" facts={timeFacts(sums, trace.tables.process.counters === "exact")} />
        </div>
        <Bytes trace={trace} sums={sums} />
        <Parts
          title="GPU time by module"
          paths
          parts={sums.byModule}
          name={(index) => trace.modules[index]?.path ?? "outside of any range"}
          choose={(index) => update({ module: trace.modules[index]?.path })}
          of={total}
        />
        <Parts
          title="GPU time by kernel"
          parts={sums.byKernel}
          name={(index) => (kernels[index] === undefined ? "(kernel not in this page)" : shortName(kernels[index]))}
          choose={(index) => update({ kernel: kernels[index] && kernelKey(kernels[index]) })}
          of={total}
        />
        {timeline.stacks !== undefined && <FlameGraph timeline={timeline} stacks={timeline.stacks} area={area} />}
      </div>
    </section>
  );
}
