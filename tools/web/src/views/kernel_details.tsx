// SPDX-License-Identifier: Apache-2.0
//
// All values of one kernel: times, bytes, histogram of durations, launch configurations, modules.
import type { JSX } from "preact";
import { bytesText, countText, durationText, percentText, plainNumber } from "../data/numbers";
import type { KernelRow } from "../data/rows";
import { kernelKey, type Trace } from "../data/trace";
import { update } from "../state";
import { useTheme } from "../theme";
import { kFont, useCanvas, type Surface } from "../ui/canvas";
import { Facts, type Fact } from "../ui/facts";
import { HardwareMetrics } from "./hardware_metrics";

const kShown = new Set([
  "name",
  "mangled",
  "short",
  "library",
  "count",
  "total_ns",
  "mean_ns",
  "median_ns",
  "p95_ns",
  "min_ns",
  "max_ns",
  "dram_read_bytes",
  "dram_write_bytes",
  "l2_bytes",
  "durations",
  "named",
  "texts",
  "top_stall",
]);

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

const valueText = (key: string, value: unknown): string =>
  typeof value !== "number" ? String(value) : key === "occupancy" ? percentText(value) : plainNumber(value);

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
      <aside class="details" aria-label="Kernel">
        <h2>Select a kernel</h2>
        <p class="dim">Its values, configurations and modules appear here.</p>
      </aside>
    );
  const kernel = trace.kernelByName.get(kernelKey(row))!;
  const values = row as unknown as Record<string, number | undefined>;
  const { library = "" } = row;
  const fact = (name: string, value: number | undefined, text: (n: number) => string): Fact | undefined =>
    value === undefined ? undefined : [name, text(value), String(value)];
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
      <Facts
        title="Time"
        facts={[
          ["launches", countText(row.count), String(row.count)],
          fact("GPU time", row.total_ns, durationText),
          fact("mean", row.mean_ns, durationText),
          fact("median", values["median_ns"], durationText),
          fact("95th percentile", values["p95_ns"], durationText),
          fact("shortest", row.min_ns, durationText),
          fact("longest", row.max_ns, durationText),
        ]}
      />
      <Facts
        title="Bytes"
        facts={[
          fact("DRAM read", row.dram_read_bytes, bytesText),
          fact("DRAM written", row.dram_write_bytes, bytesText),
          fact("L2", row.l2_bytes, bytesText),
        ]}
      />
      <HardwareMetrics table={trace.named} row={row} />
      <Durations row={row} />
      <Configurations trace={trace} kernel={kernel} />
      <Modules trace={trace} kernel={kernel} />
      <Facts
        title="Name"
        facts={[
          ["library", library],
          ["mangled", (row.mangled ?? "").slice(0, 4000)],
          ...Object.entries(row)
            .filter(([key]) => !kShown.has(key))
            .map(([key, value]) => [key.replaceAll("_", " "), valueText(key, value)] as Fact),
        ]}
      />
    </aside>
  );
}
