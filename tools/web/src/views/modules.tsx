// SPDX-License-Identifier: Apache-2.0
//
// Modules: the icicle, the tree as a table, and the details of the selected one.
import type { JSX } from "preact";
import { useMemo, useState } from "preact/hooks";
import { kMetrics, metricTitle, valueOf, type Metric, type Trace } from "../data/trace";
import type { ModuleRow } from "../data/rows";
import { update, useStore } from "../state";
import type { TableColumn } from "../ui/columns";
import { statedColumn, type Texts } from "../ui/stated_columns";
import { ColumnSwitch, Switch, type Columns } from "../ui/switch";
import { Table, type TableProps } from "../ui/table";
import { Icicle } from "./icicle";
import { ModuleDetails } from "./module_details";

/** The tree as rows: iterations first, unfolded to their third level; what runs outside of them is folded. */
function moduleTree(trace: Trace): Required<Pick<TableProps<ModuleRow>, "rows" | "below" | "unfolded">> {
  const { path } = trace.tables.iterations;
  const gpuOf = (module: number): number => trace.modules[module]!.gpu_ns ?? 0;
  // Replays of a graph have no module: most of the time is theirs.
  const heaviest = path === "" ? undefined : [...trace.roots].sort((a, b) => gpuOf(b) - gpuOf(a))[0];
  const loop = trace.placeOf(path) ?? heaviest ?? -1;
  const isAbove = (module: number): boolean => trace.isWithin(loop, module);
  const rowsOf = (modules: readonly number[]): ModuleRow[] =>
    [...modules.filter(isAbove), ...modules.filter((one) => !isAbove(one))].map((one) => trace.modules[one]!);
  const levels = (trace.modules[loop]?.depth ?? 1) + 2;
  const unfolded = trace.modules.flatMap(({ path, depth }, i) =>
    isAbove(i) || (depth < levels && (loop < 0 || trace.isWithin(i, loop))) ? [[path, true] as const] : [],
  );
  return {
    rows: rowsOf(trace.roots),
    below: (row) => rowsOf(trace.children[trace.byPath.get(row.path)!]!),
    unfolded: Object.fromEntries(unfolded),
  };
}

/** `full`: whole paths in place of names. */
export function moduleColumns(trace: Trace, full: boolean, shown: Columns): TableColumn<ModuleRow>[] {
  const { modules, module_metrics: metrics } = trace.columns;
  return (shown === "metrics" ? metrics : modules).map((column) => {
    const nameOf = ({ path, name, texts }: ModuleRow): string =>
      full ? path + (texts?.["path"] ?? name).slice(name.length) : (texts?.["path"] ?? name);
    const texts = (row: ModuleRow): Texts | undefined => (column.key === "path" ? { path: nameOf(row) } : row.texts);
    return statedColumn<ModuleRow>(column, valueOf, { whole: trace.gpuTotal, texts });
  });
}

const kLegends: Partial<Record<Metric, string>> = {
  host: "a hue: modules that differ by numbers only",
  saving: "the largest saving that a finding names, an iteration",
  change: "GPU time, an iteration; orange: slower in B, blue: faster",
};

export function ModulesView({ trace }: { trace: Trace }): JSX.Element {
  const state = useStore();
  const [flat, setFlat] = useState(false);
  const tree = useMemo(() => moduleTree(trace), [trace]);
  const [shown, show] = useState<Columns>("time");
  const columns = useMemo(() => moduleColumns(trace, flat, shown), [trace, flat, shown]);
  const metrics = kMetrics.filter((metric) => trace.has(metric));
  const metric = metrics.includes(state.metric) ? state.metric : "gpu";
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
        <span class="dim">{kLegends[metric] ?? "a hue: modules that differ by numbers only; pale: kernels"}</span>
      </div>
      <Icicle trace={trace} metric={metric} />
      <div class="beside">
        <Table
          linked
          label="Modules"
          columns={columns}
          {...(flat ? { rows: trace.modules } : tree)}
          key={String(flat)}
          keyOf={(row) => row.path}
          selected={state.module}
          search={(row) => row.path}
          select={(row) => update({ module: row.path })}
          open={() => update({ view: "timeline" })}
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
