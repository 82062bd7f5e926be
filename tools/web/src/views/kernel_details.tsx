// SPDX-License-Identifier: Apache-2.0
//
// All of one kernel: findings about it, what it computes, memory by level, hardware metrics, durations, launches,
// modules. Beside a table, or as a page with columns.
import type { ComponentChildren, JSX } from "preact";
import { optionFor } from "../data/named";
import { bytesText, countText, durationText, percentText } from "../data/numbers";
import type { KernelRow } from "../data/rows";
import { kernelKey, valueOf, type Trace } from "../data/trace";
import { update, useStore } from "../state";
import { useTheme } from "../theme";
import { kFont, useCanvas, type Surface } from "../ui/canvas";
import { Facts, type Fact } from "../ui/facts";
import { statedFacts } from "../ui/stated_columns";
import { FindingCard } from "./findings";
import { HardwareMetrics } from "./hardware_metrics";

/** Values of a kernel. */
export const kernelFacts = (trace: Trace, row: KernelRow): Fact[] =>
  statedFacts(trace.columns.kernel_details, row, valueOf);

const startOf = (bucket: number): number => 2 ** (bucket / 4);

function Part(props: { title: string; children: ComponentChildren }): JSX.Element {
  return (
    <section class="part-of-kernel" aria-label={props.title}>
      <h3>{props.title}</h3>
      {props.children}
    </section>
  );
}

/** Durations on a logarithmic axis. */
function Durations({ row }: { row: KernelRow }): JSX.Element | null {
  const theme = useTheme();
  const first = row.durations[0]?.[0] ?? 0;
  const last = row.durations[row.durations.length - 1]?.[0] ?? 0;
  const max = Math.max(1, ...row.durations.map(([, count]) => count));
  const draw = ({ context, width, height }: Surface): void => {
    context.clearRect(0, 0, width, height);
    const bins = Math.max(4, last - first + 1);
    const wide = width / bins;
    context.fillStyle = theme.accent;
    for (const [bucket, count] of row.durations) {
      const high = Math.max(1, (count / max) * (height - 18));
      context.fillRect((bucket - first) * wide, height - 16 - high, Math.max(1, wide - 1), high);
    }
    context.fillStyle = theme.dim;
    context.font = kFont;
    context.textBaseline = "bottom";
    context.fillText(durationText(startOf(first)), 0, height);
    const end = durationText(startOf(last + 1));
    context.fillText(end, width - context.measureText(end).width, height);
  };
  const canvas = useCanvas(draw, [row, theme]);
  if (row.durations.length === 0) return null;
  return (
    <Part title="Durations">
      <canvas
        ref={canvas}
        class="histogram"
        role="img"
        aria-label={`Durations from ${durationText(startOf(first))} to ${durationText(startOf(last + 1))}`}
      />
    </Part>
  );
}

/** What a level can have. */
const kRates: Record<string, string[]> = {
  l1: ["bytes_per_launch", "hit_rate", "throughput"],
  l2: ["bytes_per_launch", "hit_rate", "throughput"],
  dram: ["bytes_per_launch", "throughput"],
};

/** From the kernel down to DRAM: what each level moved, and what it found. */
function MemoryChart({ row }: { row: KernelRow }): JSX.Element {
  const { memory } = row;
  const most = Math.max(1, ...memory.map((level) => level.bytes_per_launch ?? 0));
  const lacks = (key: "bytes_per_launch" | "hit_rate" | "throughput"): boolean =>
    memory.some((level) => level[key] === undefined && kRates[level.key]?.includes(key));
  const sets = [
    ...(lacks("bytes_per_launch") || lacks("hit_rate") ? ["memory"] : []),
    ...(lacks("throughput") ? ["speed-of-light"] : []),
  ];
  return (
    <Part title="Memory, a launch">
      <ol class="memory-chart">
        {memory.map(({ key, title, bytes_per_launch: bytes, hit_rate: hits, throughput }) => (
          <li key={key}>
            <span class="track" aria-hidden="true">
              <span style={{ width: `${(100 * (bytes ?? 0)) / most}%` }} />
            </span>
            <b>{title}</b>
            <span>{bytes === undefined ? "not measured" : bytesText(bytes)}</span>
            <span class="dim">
              {[
                hits === undefined ? "" : `${percentText(hits / 100)} hits`,
                throughput === undefined ? "" : `${percentText(throughput / 100)} of its peak`,
              ]
                .filter((text) => text !== "")
                .join(", ")}
            </span>
          </li>
        ))}
      </ol>
      {sets.length > 0 && (
        <p class="dim missing">
          Hit rates, bytes or shares that are absent: not measured, by <code>{optionFor(sets)}</code>
        </p>
      )}
    </Part>
  );
}

const sizeText = (size: readonly number[]): string => size.join("×");

function Configurations({ trace, kernel }: { trace: Trace; kernel: number }): JSX.Element | null {
  const rows = trace.tables.kernel_configs.filter((row) => row.kernel === kernel);
  if (rows.length === 0) return null;
  return (
    <Part title="Launch configurations">
      <div class="small">
        <table>
          <thead>
            <tr>
              <th>Grid</th>
              <th>Block</th>
              <th title="Registers per thread">Regs</th>
              <th title="Shared memory, static and dynamic">Shared</th>
              <th>Launches</th>
              <th>GPU time</th>
            </tr>
          </thead>
          <tbody>
            {rows.slice(0, 40).map((row) => (
              <tr key={row.id}>
                <td title={row.cluster ? `cluster ${sizeText(row.cluster)} blocks` : "no cluster"}>
                  {sizeText(row.grid)}
                  {row.cluster ? " *" : ""}
                </td>
                <td>{sizeText(row.block)}</td>
                <td>{row.registers}</td>
                <td title={`${row.local_bytes_per_thread} B of local memory per thread`}>
                  {bytesText(row.static_shared_bytes + row.dynamic_shared_bytes)}
                </td>
                <td>{countText(row.count)}</td>
                <td>{durationText(row.total_ns)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      {rows.length > 40 && <p class="dim">and {rows.length - 40} more</p>}
    </Part>
  );
}

function Modules({ trace, kernel }: { trace: Trace; kernel: number }): JSX.Element {
  const pairs = trace.pairs.filter((pair) => pair.kernel === kernel).sort((a, b) => b.total_ns - a.total_ns);
  return (
    <Part title="Runs in">
      <ul class="links">
        {pairs.slice(0, 30).map((pair) => {
          const path = trace.modules[pair.module]?.path;
          return (
            <li key={pair.module}>
              {path === undefined ? (
                <span>(outside of any range)</span>
              ) : (
                <button
                  type="button"
                  class="path"
                  title={path.slice(0, 2000)}
                  onClick={() => update({ view: "modules", module: path })}
                >
                  <bdi>{path.slice(-300)}</bdi>
                </button>
              )}
              <span>
                {countText(pair.count)} · {durationText(pair.total_ns)}
              </span>
            </li>
          );
        })}
      </ul>
      {pairs.length > 30 && <p class="dim">and {pairs.length - 30} more modules</p>}
    </Part>
  );
}

export function KernelDetails(props: { trace: Trace; kernel: KernelRow | undefined; wide?: boolean }): JSX.Element {
  const { trace, kernel: row } = props;
  if (row === undefined)
    return (
      <aside class="details nothing" aria-label="Kernel">
        <h2>Select a kernel</h2>
        <p class="dim">Its values, configurations and modules appear here.</p>
      </aside>
    );
  const kernel = trace.kernelByName.get(kernelKey(row))!;
  const findings = trace.tables.findings.filter(({ links }) =>
    Object.values(links).some((one) => one.kernel === kernel),
  );
  return (
    <aside class={props.wide ? "details wide" : "details"} aria-label="Selected kernel">
      <h2 class="code">
        <bdi>{row.name.slice(0, 1000)}</bdi>
      </h2>
      <p class="ways">
        <button type="button" onClick={() => update({ view: "timeline" })}>
          In the timeline
        </button>
        <button type="button" onClick={() => update({ view: props.wide ? "kernels" : "kernel" })}>
          {props.wide ? "All kernels" : "As a page"}
        </button>
      </p>
      {findings.length > 0 && (
        <Part title="Findings about it">
          {findings.map((finding, i) => (
            <FindingCard key={i} trace={trace} finding={finding} brief />
          ))}
        </Part>
      )}
      {row.origins !== undefined && (
        <Part title="What it computes">
          <dl class="facts">
            {row.origins.map(({ operators, source, paths }, i) => (
              <div key={i} title={source}>
                <dt>{operators}</dt>
                <dd>
                  <code>{source.split("/").slice(-2).join("/")}</code>
                  {paths > 1 && ` in ${countText(paths)} modules`}
                </dd>
              </div>
            ))}
          </dl>
        </Part>
      )}
      <Part title="Time and bytes">
        <Facts facts={kernelFacts(trace, row)} />
        {row.texts !== undefined && <p class="dim">{trace.tables.kernel_remarks}</p>}
      </Part>
      <MemoryChart row={row} />
      <HardwareMetrics table={trace.named} row={row} />
      <Durations row={row} />
      <Configurations trace={trace} kernel={kernel} />
      <Modules trace={trace} kernel={kernel} />
      <Facts title="Name" facts={[["mangled", (row.mangled ?? "").slice(0, 4000)]]} />
    </aside>
  );
}

/** The selected kernel, with the window to itself. */
export function KernelView({ trace }: { trace: Trace }): JSX.Element {
  return (
    <div class="view one-kernel">
      <KernelDetails trace={trace} kernel={trace.kernel(useStore().kernel)} wide />
    </div>
  );
}
