// SPDX-License-Identifier: Apache-2.0
//
// Kernels by name, or by name and module; of the whole trace or of the selected module.
import type { JSX } from "preact";
import { useMemo, useState } from "preact/hooks";
import { kernelKey, shortName, valueOf, type KernelInModule, type Trace } from "../data/trace";
import type { KernelRow } from "../data/rows";
import { update, useStore } from "../state";
import type { TableColumn } from "../ui/columns";
import { statedColumn } from "../ui/stated_columns";
import { ColumnSwitch, type Columns } from "../ui/switch";
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

/** Bytes and metrics are known per kernel name. For some of its launches they would be a guess. */
function valueIn(shown: Shown, key: string): number | string | undefined {
  const { row, pair } = shown;
  const isTime = key.endsWith("_ns");
  if (pair !== undefined && isTime && pair.timed === 0) return undefined;
  if (pair !== undefined && key === "mean_ns") return Math.floor(pair.total_ns / pair.timed);
  if (pair !== undefined && key in pair) return pair[key as keyof KernelInModule];
  return isWhole(shown) || key === "name" || key === "library" ? valueOf(row, key) : undefined;
}

export function kernelColumns(trace: Trace, grouped: boolean, columns: Columns): TableColumn<Shown>[] {
  const { modules, kernels, kernel_metrics: metrics } = trace.columns;
  const out = (columns === "metrics" ? metrics : kernels).map((column) => {
    const isName = column.key === "name";
    return statedColumn<Shown>(column, valueIn, {
      whole: trace.gpuTotal,
      texts: (shown) => (isName ? { name: shortName(shown.row) } : isWhole(shown) ? shown.row.texts : undefined),
    });
  });
  const module = statedColumn<Shown>(modules[0]!, (shown) => shown.where);
  return grouped ? [...out.slice(0, 1), module, ...out.slice(1)] : out;
}

export function kernelRows(trace: Trace, grouped: boolean, within: number | undefined): Shown[] {
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
  const columns = useMemo(() => kernelColumns(trace, state.grouped, wanted), [trace, state.grouped, wanted]);
  const rows = useMemo(() => kernelRows(trace, state.grouped, within), [trace, state.grouped, within]);
  const selected = rows.find(
    (shown) =>
      kernelKey(shown.row) === state.kernel &&
      (!state.grouped || module === undefined || shown.pair?.module === module),
  )?.key;
  const left = trace.tables.left_out;
  return (
    <div class="view kernels beside">
      <Table
        linked
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
        open={() => update({ view: "kernel" })}
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
            {trace.tables.kernel_remarks}
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
