// SPDX-License-Identifier: Apache-2.0
//
// All values of one kernel: times, bytes, histogram of durations, launch configurations, modules.
import type { JSX } from "preact";
import { bytesText, countText, durationText } from "../data/numbers";
import type { KernelRow } from "../data/rows";
import { kernelKey, valueOf, type Trace } from "../data/trace";
import { update } from "../state";
import { useTheme } from "../theme";
import { kFont, useCanvas, type Surface } from "../ui/canvas";
import { Facts, type Fact } from "../ui/facts";
import { statedFacts } from "../ui/stated_columns";
import { HardwareMetrics } from "./hardware_metrics";

/** Values of a kernel. */
export const kernelFacts = (trace: Trace, row: KernelRow): Fact[] =>
  statedFacts(trace.columns.kernel_details, row, valueOf);

const startOf = (bucket: number): number => 2 ** (bucket / 4);

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
    <>
      <h3>Durations</h3>
      <canvas
        ref={canvas}
        class="histogram"
        role="img"
        aria-label={`Durations from ${durationText(startOf(first))} to ${durationText(startOf(last + 1))}`}
      />
    </>
  );
}

const sizeText = (size: readonly number[]): string => size.join("×");

function Configurations({ trace, kernel }: { trace: Trace; kernel: number }): JSX.Element | null {
  const rows = trace.tables.kernel_configs.filter((row) => row.kernel === kernel);
  if (rows.length === 0) return null;
  return (
    <>
      <h3>Launch configurations</h3>
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
    </>
  );
}

function Modules({ trace, kernel }: { trace: Trace; kernel: number }): JSX.Element {
  const pairs = trace.pairs.filter((pair) => pair.kernel === kernel).sort((a, b) => b.total_ns - a.total_ns);
  return (
    <>
      <h3>Runs in</h3>
      <ul class="links">
        {pairs.slice(0, 30).map((pair) => {
          const path = trace.modules[pair.module]?.path;
          return (
            <li key={pair.module}>
              {path === undefined ? (
                <span>(outside of any range)</span>
              ) : (
                <button type="button" title={path.slice(0, 2000)} onClick={() => update({ module: path })}>
                  <bdi>{path.length > 300 ? `…${path.slice(-300)}` : path}</bdi>
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
    </>
  );
}

export function KernelDetails({ trace, kernel: row }: { trace: Trace; kernel: KernelRow | undefined }): JSX.Element {
  if (row === undefined)
    return (
      <aside class="details nothing" aria-label="Kernel">
        <h2>Select a kernel</h2>
        <p class="dim">Its values, configurations and modules appear here.</p>
      </aside>
    );
  const kernel = trace.kernelByName.get(kernelKey(row))!;
  return (
    <aside class="details" aria-label="Selected kernel">
      <h2 class="code">
        <bdi>{row.name.slice(0, 1000)}</bdi>
      </h2>
      <p class="ways">
        <button type="button" onClick={() => update({ view: "timeline" })}>
          In the timeline
        </button>
      </p>
      <Facts title="Time and bytes" facts={kernelFacts(trace, row)} />
      {row.texts !== undefined && <p class="dim">{trace.tables.kernel_remarks}</p>}
      <HardwareMetrics table={trace.named} row={row} />
      <Durations row={row} />
      <Configurations trace={trace} kernel={kernel} />
      <Modules trace={trace} kernel={kernel} />
      <Facts title="Name" facts={[["mangled", (row.mangled ?? "").slice(0, 4000)]]} />
    </aside>
  );
}
