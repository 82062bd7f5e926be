// SPDX-License-Identifier: Apache-2.0
//
// Named metrics of one module or kernel by topic, and the option that measures what is missing.
import type { ComponentChildren, JSX } from "preact";
import {
  largestFirst,
  namedText,
  namedTip,
  notMeasured,
  optionFor,
  stallsOf,
  valuesOf,
  type HasNamed,
  type NamedTable,
  type NamedValue,
} from "../data/named";

/** Stalls that show without a click. */
const kTopStalls = 6;
/** The two limits of a kernel; the others are parts of memory. */
const kLimits = new Set(["compute_throughput", "memory_throughput"]);

function Bar({ percent }: { percent: number }): JSX.Element {
  return (
    <span class="track" aria-hidden="true">
      <span style={{ width: `${Math.min(100, Math.max(0, percent))}%` }} />
    </span>
  );
}

function Limit({ one }: { one: NamedValue }): JSX.Element {
  return (
    <div class="limit" title={namedTip(one)}>
      <b>{one.metric.title}</b>
      <b>{namedText(one)}</b>
      <Bar percent={one.value} />
      {one.part !== undefined && <span class="dim">busiest: {one.part}</span>}
    </div>
  );
}

function Bars({ values, title }: { values: readonly NamedValue[]; title: "title" | "column" }): JSX.Element {
  return (
    <>
      {values.map((one) => (
        <div class="metric" key={one.metric.name} title={namedTip(one)}>
          <span>
            {one.metric[title]}
            {one.part !== undefined && one.part !== one.metric[title] && <span class="dim"> · {one.part}</span>}
          </span>
          <Bar percent={one.value} />
          <span>{namedText(one)}</span>
        </div>
      ))}
    </>
  );
}

function Values({ values }: { values: readonly NamedValue[] }): JSX.Element {
  return (
    <dl class="facts">
      {values.map((one) => (
        <div key={one.metric.name} title={namedTip(one)}>
          <dt>{one.metric.title}</dt>
          <dd>{namedText(one)}</dd>
        </div>
      ))}
    </dl>
  );
}

function Topic(props: { title: string; has: boolean; children: ComponentChildren }): JSX.Element | null {
  if (!props.has) return null;
  return (
    <section class="topic">
      <h4>{props.title}</h4>
      {props.children}
    </section>
  );
}

function Stalls({ stalls }: { stalls: readonly NamedValue[] }): JSX.Element {
  const rest = stalls.slice(kTopStalls);
  return (
    <>
      <Bars values={stalls.slice(0, kTopStalls)} title="title" />
      {rest.length > 0 && (
        <details class="more">
          <summary>{rest.length} more</summary>
          <Bars values={rest} title="title" />
        </details>
      )}
    </>
  );
}

function NotMeasured({ table, row }: { table: NamedTable; row: HasNamed }): JSX.Element | null {
  const topics = notMeasured(table, row);
  const { missing_sets: sets = [] } = row;
  if (topics.length === 0) return null;
  const all = topics.length === table.topics.length;
  const cause = table.metrics.length === 0 && sets.length === 0 ? "" : ", or in too few launches";
  return (
    <>
      <p class="dim missing">
        Not measured{cause}
        {all ? "" : `: ${topics.join(", ")}`}. Record with <code>{optionFor(all ? ["all"] : topics)}</code>
      </p>
      {sets.length > 0 && (
        <p class="dim missing">
          Not all kernels were measured with the metric {sets.length === 1 ? "set" : "sets"} {sets.join(", ")}.
        </p>
      )}
    </>
  );
}

export function HardwareMetrics({ table, row }: { table: NamedTable; row: HasNamed }): JSX.Element {
  const of = (topic: string): NamedValue[] => valuesOf(table, row, topic);
  const speed = of("speed-of-light");
  const [occupancy, memory, roofline] = [of("occupancy"), of("memory"), of("roofline")];
  const pipes = largestFirst(of("pipes"));
  const stalls = stallsOf(table, row);
  return (
    <section class="hardware" aria-label="Hardware metrics">
      <h3>Hardware metrics</h3>
      <Topic title="Share of the peak" has={speed.length > 0}>
        {speed
          .filter(({ metric }) => kLimits.has(metric.name))
          .map((one) => (
            <Limit key={one.metric.name} one={one} />
          ))}
        <Bars values={speed.filter(({ metric }) => !kLimits.has(metric.name))} title="column" />
      </Topic>
      <Topic title="Occupancy" has={occupancy.length > 0}>
        <Values values={occupancy} />
      </Topic>
      <Topic title="Memory" has={memory.length > 0}>
        <Values values={memory} />
      </Topic>
      <Topic title="Pipes" has={pipes.length > 0}>
        <Bars values={pipes} title="column" />
      </Topic>
      <Topic title="Stall reasons, share of the warps' time" has={stalls.length > 0}>
        <Stalls stalls={stalls} />
      </Topic>
      <Topic title="Operations" has={roofline.length > 0}>
        <Values values={roofline} />
      </Topic>
      <NotMeasured table={table} row={row} />
    </section>
  );
}
