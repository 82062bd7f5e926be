// SPDX-License-Identifier: Apache-2.0
//
// The header of every view: the traced process, loss and error of the data, and the cost of recording.
import type { JSX } from "preact";
import { useMemo } from "preact/hooks";
import { countText, durationText } from "../data/numbers";
import { hasData } from "../data/has_data";
import type { Trace } from "../data/trace";
import { kViews, update, useStore, type View } from "../state";
import { CopyLink } from "./copy_link";
import { ThemeSelect } from "./theme_select";

export const viewTitle: Record<View, string> = {
  overview: "Overview",
  modules: "Modules",
  limits: "Limits",
  timeline: "Timeline",
  kernels: "Kernels",
  kernel: "Kernel",
  copies: "Copies",
  memory: "Memory",
  iterations: "Iterations",
  findings: "Findings",
  diff: "Diff",
  about: "About this trace",
};

export function lossText(trace: Trace): string {
  const lost = Object.values(trace.tables.loss).reduce((sum, n) => sum + n, 0);
  return lost === 0 ? "0 lost" : `${countText(lost)} lost or incomplete`;
}

/** Source of the bytes, and the error of sampled ones: of the module with the most GPU time. */
export function bytesText(trace: Trace): string {
  const heaviest = trace.modules
    .filter((row) => row.bytes_source !== undefined)
    .sort((a, b) => (b.gpu_ns ?? 0) - (a.gpu_ns ?? 0))[0];
  if (heaviest === undefined)
    return trace.tables.process.counters === "refused" ? "bytes refused" : "no bytes measured";
  const { measured_launches: measured, launches } = heaviest;
  if (heaviest.bytes_estimated === true && heaviest.bytes_source === "exact")
    return `exact bytes of ${measured} of ${launches} launches, estimated for all`;
  if (heaviest.bytes_source === "exact" || heaviest.bytes_source === "split") return `${heaviest.bytes_source} bytes`;
  const source = heaviest.bytes_source === "gpm" ? "NVML's bytes" : "sampled bytes";
  const { bytes_error_pct: error, dram_bytes: noNumber } = heaviest.texts ?? {};
  if (error === undefined) return `${source}, error unknown`;
  return `${source}, ${noNumber === undefined ? "±" : ""}${error} on the heaviest module`;
}

export function costText(trace: Trace): string | undefined {
  const cost = trace.tables.end?.own_cost;
  if (cost === undefined) return undefined;
  if ((cost["exact_ns"] ?? 0) > 0) return `own cost: threads blocked for ${durationText(cost["exact_ns"]!)}`;
  const median = cost["launch_callback_median_ns"] ?? 0;
  return `own cost ${durationText(median)} per launch`;
}

/** Machine, time and versions, most important first: a narrow window cuts off the end. */
function whereText({ tables }: Trace): string {
  const gpus = [...new Set(tables.gpus.map((gpu) => gpu.name))].map((name) => {
    const n = tables.gpus.filter((gpu) => gpu.name === name).length;
    return n > 1 ? `${n} × ${name}` : name;
  });
  const { pid, host, tool_version: version, driver_release: driver } = tables.process;
  const started = new Date(Number(BigInt(tables.started_unix_ns) / 1000000n));
  return [
    `process ${pid} on ${host}`,
    ...gpus,
    `${started.toISOString().replace("T", " ").slice(0, 19)} UTC`,
    driver === undefined ? "" : `driver ${String(driver)}`,
    `Rangefinder ${version}`,
  ]
    .filter((part) => part !== "")
    .join(" · ");
}

function Chip(props: { text: string; warn?: boolean; tip: string }): JSX.Element {
  return (
    <button
      type="button"
      class={props.warn ? "chip warn" : "chip"}
      title={props.tip}
      onClick={() => update({ view: "about" })}
    >
      {props.text}
    </button>
  );
}

function Chips({ trace }: { trace: Trace }): JSX.Element {
  const { tables } = trace;
  const lost = Object.keys(tables.loss).length > 0;
  const incomplete = tables.end === undefined || tables.torn || tables.broken_lines > 0;
  const cost = costText(trace);
  return (
    <div class="chips">
      <Chip text={lossText(trace)} warn={lost} tip="Records that are missing from the trace" />
      {incomplete && (
        <Chip
          text={tables.end === undefined ? "no end: killed or still running" : "damaged"}
          warn
          tip="How the recording ended"
        />
      )}
      <Chip text={bytesText(trace)} tip="How DRAM and L2 bytes were measured" />
      {cost !== undefined && <Chip text={cost} tip="What recording cost the application" />}
    </div>
  );
}

export function Header(props: { traces: readonly Trace[]; trace: Trace; hasDiff: boolean }): JSX.Element {
  const { traces, trace } = props;
  const state = useStore();
  const { tables } = trace;
  const withData = useMemo(() => kViews.filter((view) => hasData(trace, view)), [trace]);
  const isTab = { diff: props.hasDiff, kernel: state.view === "kernel" } as Partial<Record<View, boolean>>;
  const views = withData.filter((view) => isTab[view] ?? true);
  return (
    <header class="top">
      <div class="line">
        <h1>Rangefinder</h1>
        {traces.length > 1 ? (
          <select
            aria-label="Trace"
            value={state.trace}
            onChange={(event) => update({ trace: Number(event.currentTarget.value) })}
          >
            {traces.map((one) => (
              <option key={one.index} value={one.index}>
                {one.title} · {one.tables.folder.slice(-60)}
              </option>
            ))}
          </select>
        ) : (
          <b class="name">
            <bdi>{trace.title.slice(0, 80)}</bdi>
          </b>
        )}
        <span class="dim where" title={whereText(trace)}>
          <bdi>{whereText(trace).slice(0, 300)}</bdi>
        </span>
        <span class="fill" />
        <Chips trace={trace} />
        <CopyLink />
        <ThemeSelect />
      </div>
      <div class="tabs" role="tablist" aria-label="Views">
        {views.map((view) => (
          <button
            key={view}
            type="button"
            role="tab"
            id={`tab-${view}`}
            aria-selected={state.view === view}
            aria-controls="view"
            tabIndex={state.view === view ? 0 : -1}
            onClick={() => update({ view })}
            onKeyDown={(event) => {
              const step = event.key === "ArrowRight" ? 1 : event.key === "ArrowLeft" ? -1 : 0;
              if (step === 0) return;
              const next = views[(views.indexOf(view) + step + views.length) % views.length]!;
              update({ view: next });
              document.getElementById(`tab-${next}`)?.focus();
            }}
          >
            {viewTitle[view]}
            {view === "findings" && tables.findings.length > 0 ? ` ${tables.findings.length}` : ""}
          </button>
        ))}
      </div>
    </header>
  );
}
