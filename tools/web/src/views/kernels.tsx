// SPDX-License-Identifier: Apache-2.0
//
// Kernels by name, or by name and module; of the whole trace or of the selected module.
import type { JSX } from "preact";
import { useMemo, useState } from "preact/hooks";
import { kernelKey, shortName, type KernelInModule, type Trace } from "../data/trace";
import type { KernelRow } from "../data/rows";
import { update, useStore } from "../state";
import { ColumnSwitch, type Columns } from "../ui/column_switch";
import type { TableColumn } from "../ui/columns";
import { namedColumns } from "../ui/named_columns";
import { Table } from "../ui/table";
import { KernelDetails } from "./kernel_details";

interface Shown {
  row: KernelRow;
  key: string;
  /** The launches of this pair only; undefined: all launches of the kernel. */
  pair?: KernelInModule;
  where?: string;
}

/** All launches of the kernel. */
const isWhole = ({ row, pair }: Shown): boolean => pair === undefined || pair.count === row.count;

const time =
  (of: keyof KernelRow & keyof KernelInModule) =>
  (shown: Shown): number | undefined =>
    (shown.pair === undefined ? shown.row[of] : shown.pair[of]) as number | undefined;

function columnsOf(trace: Trace, grouped: boolean, columns: Columns): TableColumn<Shown>[] {
  const all = Math.max(1, trace.gpuTotal);
  // Bytes and metrics are known per kernel name. For some of its launches they would be a guess.
  const whole = (value: (row: KernelRow) => number | undefined) => (shown: Shown) =>
    isWhole(shown) ? value(shown.row) : undefined;
  const more = (name: string) => whole((row) => (row as unknown as Record<string, number | undefined>)[name]);
  const mean = (shown: Shown): number | undefined =>
    shown.pair !== undefined ? shown.pair.total_ns / shown.pair.count : shown.row.mean_ns;
  const first: TableColumn<Shown>[] = [
    {
      key: "name",
      title: "Kernel",
      unit: "text",
      width: 280,
      value: (shown) => shown.row.name,
      text: (shown) => shortName(shown.row),
    },
    ...(grouped
      ? [
          {
            key: "module",
            title: "Module",
            unit: "text",
            width: 260,
            value: (shown: Shown) => shown.where,
          } satisfies TableColumn<Shown>,
        ]
      : []),
    { key: "library", title: "Library", unit: "text", width: 84, value: ({ row: { library } }) => library },
    { key: "count", title: "Launches", unit: "count", width: 92, value: time("count") },
    {
      key: "total_ns",
      title: "GPU time",
      unit: "ns",
      width: 92,
      value: time("total_ns"),
      bar: (shown) => (time("total_ns")(shown) ?? 0) / all,
    },
  ];
  if (columns === "metrics")
    return [...first, ...namedColumns<Shown>(trace.named, (shown) => (isWhole(shown) ? shown.row : undefined))];
  return [
    ...first,
    { key: "mean_ns", title: "Mean", unit: "ns", width: 80, value: mean },
    { key: "median_ns", title: "Median", unit: "ns", width: 80, value: more("median_ns") },
    { key: "p95_ns", title: "95 %", unit: "ns", width: 80, value: more("p95_ns"), tip: "95th percentile of durations" },
    { key: "min_ns", title: "Min", unit: "ns", width: 78, value: time("min_ns") },
    { key: "max_ns", title: "Max", unit: "ns", width: 78, value: time("max_ns") },
    {
      key: "dram_read_bytes",
      title: "DRAM read",
      unit: "bytes",
      width: 104,
      value: whole((row) => row.dram_read_bytes),
    },
    {
      key: "dram_write_bytes",
      title: "DRAM write",
      unit: "bytes",
      width: 110,
      value: whole((row) => row.dram_write_bytes),
    },
    { key: "l2_bytes", title: "L2", unit: "bytes", width: 84, value: whole((row) => row.l2_bytes) },
  ];
}

function shownOf(trace: Trace, grouped: boolean, within: number | undefined): Shown[] {
  const of = (pair: KernelInModule, where?: string): Shown[] => {
    const row = trace.tables.kernels[pair.kernel];
    return row === undefined
      ? []
      : [{ row, pair, key: `${kernelKey(row)}|${pair.module}`, ...(where === undefined ? {} : { where }) }];
  };
  if (grouped) {
    const pairs =
      within === undefined ? trace.pairs : trace.pairs.filter((pair) => trace.isWithin(pair.module, within));
    return pairs.flatMap((pair) => of(pair, trace.modules[pair.module]?.path ?? "(outside of any range)"));
  }
  if (within !== undefined) return trace.kernelsWithin(within).flatMap((pair) => of(pair));
  return trace.tables.kernels.map((row) => ({ row, key: kernelKey(row) }));
}

export function KernelsView({ trace }: { trace: Trace }): JSX.Element {
  const state = useStore();
  const module = state.module === undefined ? undefined : trace.byPath.get(state.module);
  const within = state.within ? module : undefined;
  const [wanted, want] = useState<Columns>("time");
  const columns = useMemo(() => columnsOf(trace, state.grouped, wanted), [trace, state.grouped, wanted]);
  const rows = useMemo(() => shownOf(trace, state.grouped, within), [trace, state.grouped, within]);
  const selected = rows.find(
    (shown) =>
      kernelKey(shown.row) === state.kernel &&
      (!state.grouped || module === undefined || shown.pair?.module === module),
  )?.key;
  const left = trace.tables.left_out;
  return (
    <div class="view kernels beside">
      <Table
        label="Kernels"
        columns={columns}
        rows={rows}
        keyOf={(shown) => shown.key}
        selected={selected}
        sort="total_ns"
        search={(shown) => `${shown.row.name} ${shown.where ?? ""}`}
        select={(shown) =>
          update({
            kernel: kernelKey(shown.row),
            ...(state.grouped ? { module: trace.modules[shown.pair!.module]?.path } : {}),
          })
        }
        open={() => update({ view: "timeline" })}
        tools={
          <>
            <label class="check">
              <input
                type="checkbox"
                checked={state.grouped}
                onChange={(event) => update({ grouped: event.currentTarget.checked })}
              />{" "}
              one row per module
            </label>
            <label class="check">
              <input
                type="checkbox"
                disabled={module === undefined}
                checked={state.within && module !== undefined}
                onChange={(event) => update({ within: event.currentTarget.checked })}
              />{" "}
              in the selected module
            </label>
            <ColumnSwitch table={trace.named} shown={wanted} show={want} />
          </>
        }
        note={
          <>
            {(left["kernels"] ?? 0) > 0 && `${left["kernels"]} lighter kernels are not in this page. `}
            {state.grouped &&
              (left["kernel_modules"] ?? 0) > 0 &&
              `${left["kernel_modules"]} lighter pairs are not in this page. `}
            {(state.grouped || within !== undefined) &&
              "Bytes and metrics are known per kernel, not for some of its launches."}
          </>
        }
      />
      <KernelDetails trace={trace} kernel={trace.kernel(state.kernel)} />
    </div>
  );
}
