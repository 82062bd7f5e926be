// SPDX-License-Identifier: Apache-2.0
//
// Modules: the icicle, the tree as a table, and the details of the selected one.
import type { JSX } from "preact";
import { useMemo, useState } from "preact/hooks";
import { kMetrics, metricTitle, valueOf, type Trace } from "../data/trace";
import type { ModuleRow } from "../data/rows";
import { update, useStore } from "../state";
import { ColumnSwitch, type Columns } from "../ui/column_switch";
import type { TableColumn } from "../ui/columns";
import { statedColumn } from "../ui/stated_columns";
import { Switch } from "../ui/switch";
import { Table, type TreeOf } from "../ui/table";
import { Icicle, ShareLegend } from "./icicle";
import { ModuleDetails } from "./module_details";

/** Children after their parents, siblings in order of first appearance or as sorted. */
function arranged(
  trace: Trace,
  folded: ReadonlySet<string>,
  sort: ((a: ModuleRow, b: ModuleRow) => number) | undefined,
): ModuleRow[] {
  const out: ModuleRow[] = [];
  const add = (places: readonly number[]): void => {
    const rows = places.map((at) => trace.modules[at]!);
    if (sort !== undefined) rows.sort(sort);
    for (const row of rows) {
      out.push(row);
      if (!folded.has(row.path)) add(trace.children[trace.byPath.get(row.path)!]!);
    }
  };
  add(trace.roots);
  return out;
}

export function useModuleTree(trace: Trace): TreeOf<ModuleRow> {
  const [folded, setFolded] = useState<ReadonlySet<string>>(new Set());
  return useMemo(
    () => ({
      depth: (row: ModuleRow) => row.depth - 1,
      hasChildren: (row: ModuleRow) => trace.children[trace.byPath.get(row.path)!]!.length > 0,
      folded,
      fold: (key: string, fold: boolean) => {
        const next = new Set(folded);
        if (fold) next.add(key);
        else next.delete(key);
        setFolded(next);
      },
      arrange: (sort) => arranged(trace, folded, sort),
    }),
    [trace, folded],
  );
}

/** `full`: whole paths in place of names, which have the marks. */
export function moduleColumns(trace: Trace, full: boolean, shown: Columns): TableColumn<ModuleRow>[] {
  const { modules, module_metrics: metrics } = trace.columns;
  return (shown === "metrics" ? metrics : modules).map((column) => {
    const isName = column.key === "path" && !full;
    return statedColumn<ModuleRow>(column, (row, key) => (isName ? row.name : valueOf(row, key)), {
      whole: trace.gpuTotal,
      ...(column.key !== "path" || isName ? { texts: (row: ModuleRow) => row.texts } : {}),
    });
  });
}

export function ModulesView({ trace }: { trace: Trace }): JSX.Element {
  const state = useStore();
  const [flat, setFlat] = useState(false);
  const tree = useModuleTree(trace);
  const [shown, show] = useState<Columns>("time");
  const columns = useMemo(() => moduleColumns(trace, flat, shown), [trace, flat, shown]);
  const metrics = kMetrics.filter((metric) => trace.has(metric));
  const metric = metrics.includes(state.metric) ? state.metric : "gpu";
  const selected = state.module === undefined ? -2 : (trace.byPath.get(state.module) ?? -2);
  const left = trace.tables.left_out["modules"] ?? 0;
  return (
    <div class="view modules">
      <div class="tools">
        <Switch
          label="Width"
          options={metrics.map((one) => [one, metricTitle[one]] as const)}
          value={metric}
          choose={(next) => update({ metric: next })}
        />
        <span class="fill" />
        <ShareLegend />
      </div>
      <Icicle
        trace={trace}
        metric={metric}
        selected={selected}
        select={(module) => update({ module: trace.modules[module]?.path })}
      />
      <div class="beside">
        <Table
          linked
          label="Modules"
          columns={columns}
          rows={trace.modules}
          keyOf={(row) => row.path}
          selected={state.module}
          search={(row) => row.path}
          select={(row) => update({ module: row.path })}
          open={() => update({ view: "timeline" })}
          {...(flat ? {} : { tree })}
          tools={
            <>
              <label class="check">
                <input type="checkbox" checked={flat} onChange={(event) => setFlat(event.currentTarget.checked)} /> full
                paths
              </label>
              <ColumnSwitch table={trace.named} shown={shown} show={show} />
            </>
          }
          note={
            <>
              {left > 0 && `${left.toLocaleString("en-US")} lighter modules are not in this page. `}Values include all
              modules below. {trace.tables.module_remarks}
            </>
          }
        />
        <ModuleDetails trace={trace} path={state.module} />
      </div>
    </div>
  );
}
