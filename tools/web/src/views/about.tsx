// SPDX-License-Identifier: Apache-2.0
//
// Facts about the recording: machine, versions, loss, own cost, how bytes were measured.
import type { ComponentChildren, JSX } from "preact";
import { bytesText, countText, durationText, percentText, rateText, threeDigits } from "../data/numbers";
import type { Trace } from "../data/trace";
import { Facts, type Fact } from "../ui/facts";

const version = (number: unknown): string =>
  typeof number !== "number" || number === 0 ? "" : `${Math.floor(number / 1000)}.${Math.floor((number % 1000) / 10)}`;
const cupti = (number: number): string =>
  number === 0
    ? ""
    : `${Math.floor(number / 10000)}.${Math.floor((number % 10000) / 100)}${number % 100 > 0 ? ` Update ${number % 100}` : ""}`;

function machine(trace: Trace): Fact[] {
  const { process, cupti_version } = trace.tables;
  const text = (key: string): string => String(process[key] ?? "");
  return [
    ["folder", trace.tables.folder],
    ["program", text("executable")],
    ["command", ((process["command"] as string[] | undefined) ?? []).join(" ")],
    ["process", `${text("pid")} on ${text("host")}`],
    ["rank", text("rank")],
    ["Rangefinder", text("tool_version")],
    ["driver", text("driver_release")],
    ["driver's CUDA", version(process["driver_version"])],
    ["CUDA runtime", version(process["runtime_version"])],
    ["CUPTI", cupti(cupti_version)],
    ["counters", text("counters")],
    ["reason for no counters", text("counters_reason")],
  ];
}

function gpus(trace: Trace): JSX.Element[] {
  return trace.tables.gpus.map((gpu) => (
    <Facts
      key={gpu.id}
      title={`GPU ${gpu.id}`}
      facts={[
        ["name", gpu.name],
        ["uuid", gpu.uuid],
        ["compute capability", gpu.compute_capability.join(".")],
        ["multiprocessors", countText(gpu.sm_count)],
        ["memory", bytesText(gpu.memory_bytes)],
        ["L2", bytesText(gpu.l2_bytes)],
        gpu.peak_dram_bytes_per_s !== undefined && ["DRAM peak", rateText(gpu.peak_dram_bytes_per_s)],
        ...Object.entries(gpu.peak_flops ?? {}).map(
          ([type, flops]) => [`peak ${type.replaceAll("_", " ")}`, `${threeDigits(flops / 1e12)} TFLOP/s`] as Fact,
        ),
      ]}
    />
  ));
}

function measured(trace: Trace): Fact[] {
  const { samples, truth, sample_intervals_ns: intervals, counts, duration_ns, left_out } = trace.tables;
  const out: Fact[] = [
    ["duration", durationText(duration_ns)],
    ["kernels", countText(counts.kernels)],
    ["copies", countText(counts.copies)],
    ["memsets", countText(counts.memsets)],
    ["ranges", countText(counts.ranges)],
    ["lines", countText(counts.lines)],
  ];
  if (samples !== undefined) {
    out.push(
      ["hardware samples", `${countText(samples.count)}, ${countText(samples.idle)} more while idle`],
      ["sampling interval", intervals.map(durationText).join(", ")],
    );
    for (const [key, method] of Object.entries(samples.method))
      out.push([key.replaceAll("_", " "), method === "unmixed" ? "fitted over iterations" : "shared by time"]);
    for (const [key, value] of Object.entries(samples.unattributed))
      out.push([`unattributed ${key.replaceAll("_", " ")}`, bytesText(value)]);
  }
  if (truth !== undefined)
    out.push([
      "copies of known size",
      `${countText(truth.copies)}: measured ${bytesText(truth.measured_bytes)} of ${bytesText(truth.known_bytes)}, ${percentText(truth.measured_bytes / Math.max(1, truth.known_bytes))}`,
    ]);
  for (const [key, n] of Object.entries(left_out))
    if (n > 0) out.push([`not in this page: ${key.replaceAll("_", " ")}`, countText(n)]);
  return out;
}

function loss(trace: Trace): Fact[] {
  const { loss: causes, torn, broken_lines, first_broken, end } = trace.tables;
  const out: Fact[] = Object.entries(causes).map(([cause, n]) => [cause.replaceAll("_", " "), countText(n)]);
  if (out.length === 0) out.push(["records lost", "0"]);
  out.push(["ended by", end?.reason ?? "no end line: killed or still running"]);
  if (torn) out.push(["last line", "torn, skipped"]);
  if (broken_lines > 0) out.push(["unreadable lines", `${countText(broken_lines)}; the first: ${first_broken ?? ""}`]);
  for (const [kind, balance] of Object.entries(end?.launches ?? {})) {
    if (balance["launched"])
      out.push([
        `${kind} launches`,
        Object.entries(balance)
          .map(([what, n]) => `${countText(n)} ${what}`)
          .join(", "),
      ]);
  }
  return out;
}

function cost(trace: Trace): Fact[] {
  return Object.entries(trace.tables.end?.own_cost ?? {}).map(([key, value]) => {
    if (key.endsWith("_ns")) return [key.slice(0, -3).replaceAll("_", " "), durationText(value), `${value} ns`];
    return [key.replaceAll("_", " "), /bytes/.test(key) ? bytesText(value) : countText(value), String(value)];
  });
}

const Card = ({ children }: { children: ComponentChildren }): JSX.Element => <section class="card">{children}</section>;

export function AboutView({ trace }: { trace: Trace }): JSX.Element {
  return (
    <div class="view about">
      <pre class="card summary">{trace.tables.summary}</pre>
      <Card>
        <Facts title="Program and versions" facts={machine(trace)} />
      </Card>
      <Card>{gpus(trace)}</Card>
      <Card>
        <Facts title="What was recorded" facts={measured(trace)} />
      </Card>
      <Card>
        <Facts title="Loss and completeness" facts={loss(trace)} />
      </Card>
      <Card>
        <Facts title="Rangefinder's own cost" facts={cost(trace)} />
      </Card>
    </div>
  );
}
