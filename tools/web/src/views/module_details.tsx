// SPDX-License-Identifier: Apache-2.0
//
// All values of one module, with links to the other views.
import type { JSX } from "preact";
import { useMemo } from "preact/hooks";
import { bytesText, countText, durationText, plainNumber, threeDigits } from "../data/numbers";
import { kernelKey, shortName, valueOf, type Trace } from "../data/trace";
import type { ModuleRow, Values } from "../data/rows";
import { Facts, type Fact } from "../ui/facts";
import { statedFacts } from "../ui/stated_columns";
import { hasData } from "../data/has_data";
import { update } from "../state";
import { HardwareMetrics } from "./hardware_metrics";

/** Shown in other places. */
const kStructure = "path depth name parent family saving_ns memcpy_bytes metrics missing_sets named texts".split(" ");

/** Values of a module. */
export const moduleFacts = (trace: Trace, row: Values): Fact[] =>
  statedFacts(trace.columns.module_details, row, valueOf);

function otherValues(trace: Trace, row: Values): Fact[] {
  const known = new Set([...kStructure, "top_stall", ...trace.columns.module_details.map((column) => column.key)]);
  return Object.entries(row)
    .filter(([key]) => !known.has(key))
    .map(([key, value]) => [
      key.replaceAll("_", " "),
      typeof value === "number" ? plainNumber(value) : JSON.stringify(value).replaceAll('"', ""),
    ]);
}

/** CUPTI's counters, from which the metrics are computed. */
function Counters({ row: { metrics = {} } }: { row: Values }): JSX.Element | null {
  const all = Object.entries(metrics);
  if (all.length === 0) return null;
  return (
    <details class="more">
      <summary title="Of CUPTI, rounded to five digits">{countText(all.length)} counters</summary>
      <Facts
        facts={all.map(
          ([name, metric]) => [name, threeDigits(metric.value ?? metric.mean), JSON.stringify(metric)] as Fact,
        )}
      />
    </details>
  );
}

export function ValueFacts({ trace, row }: { trace: Trace; row: Values }): JSX.Element {
  return (
    <>
      <Facts title="Time and bytes" facts={moduleFacts(trace, row)} />
      {row.kernels > 0 && <HardwareMetrics table={trace.named} row={row} />}
      <Counters row={row} />
      <Facts
        title="Copies"
        facts={Object.entries(row.memcpy_bytes ?? {}).map(
          ([kind, bytes]) => [kind, bytesText(bytes), String(bytes)] as Fact,
        )}
      />
      <Facts title="More" facts={otherValues(trace, row)} />
    </>
  );
}

function TopKernels({ trace, module }: { trace: Trace; module: number }): JSX.Element | null {
  const kernels = useMemo(
    () =>
      trace
        .kernelsWithin(module)
        .filter((pair) => pair.kernel >= 0)
        .slice(0, 8),
    [trace, module],
  );
  if (kernels.length === 0) return null;
  return (
    <>
      <h3>Heaviest kernels</h3>
      <ul class="links names">
        {kernels.map((pair) => {
          const row = trace.tables.kernels[pair.kernel]!;
          return (
            <li key={pair.kernel}>
              <button
                type="button"
                onClick={() => update({ view: "kernels", kernel: kernelKey(row), within: true })}
                title={row.name.slice(0, 2000)}
              >
                <bdi>{shortName(row).slice(0, 300)}</bdi>
              </button>
              <span>{durationText(pair.total_ns)}</span>
            </li>
          );
        })}
      </ul>
    </>
  );
}

export function Crumbs({ trace, module }: { trace: Trace; module: number }): JSX.Element {
  const chain: [number, ModuleRow][] = [];
  for (let at = module; at >= 0; at = trace.modules[at]!.parent) chain.unshift([at, trace.modules[at]!]);
  return (
    <nav class="crumbs" aria-label="Path of the module">
      {chain.map(([at, row], i) => (
        <span key={at}>
          {i > 0 && <span class="dim"> / </span>}
          <button
            type="button"
            aria-current={at === module ? "true" : undefined}
            onClick={() => update({ module: row.path })}
          >
            <bdi>{row.name.length > 80 ? `${row.name.slice(0, 80)}…` : row.name}</bdi>
          </button>
        </span>
      ))}
    </nav>
  );
}

export function ModuleDetails({ trace, path }: { trace: Trace; path: string | undefined }): JSX.Element {
  const row = trace.module(path);
  if (row === undefined) {
    return (
      <aside class="details nothing" aria-label="Outside of any range">
        <h2>{path === undefined ? "Select a module" : "No such module in this trace"}</h2>
        <p class="dim">A module is an NVTX range with everything in it. Below is the work outside of any range:</p>
        <ValueFacts trace={trace} row={trace.tables.outside} />
      </aside>
    );
  }
  const module = trace.byPath.get(row.path)!;
  return (
    <aside class="details" aria-label="Selected module">
      <h2>
        <bdi>{row.name.slice(0, 200)}</bdi>
      </h2>
      <Crumbs trace={trace} module={module} />
      <p class="dim">
        {countText(row.calls)} {row.calls === 1 ? "call" : "calls"}
      </p>
      <p class="ways">
        <button type="button" onClick={() => update({ view: "timeline" })}>
          In the timeline
        </button>
        <button type="button" onClick={() => update({ view: "kernels", within: true })}>
          Its kernels
        </button>
        {hasData(trace, "limits") && (
          <button type="button" onClick={() => update({ view: "limits", level: row.depth })}>
            Its limits
          </button>
        )}
      </p>
      <ValueFacts trace={trace} row={row} />
      <TopKernels trace={trace} module={module} />
    </aside>
  );
}
