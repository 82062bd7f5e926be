// SPDX-License-Identifier: Apache-2.0
//
// The difference of two traces: which modules and kernels changed in time or bytes.
import type { JSX } from "preact";
import { useMemo, useState } from "preact/hooks";
import type { Trace } from "../data/trace";
import { update, useStore } from "../state";
import type { TableColumn } from "../ui/columns";
import { Switch } from "../ui/switch";
import { Table, type TreeOf } from "../ui/table";
import { change, kernelDiff, moduleDiff, perIteration, type DiffRow } from "./diff_rows";

function columnsOf(): TableColumn<DiffRow>[] {
  const side = (
    key: "a" | "b",
    of: string,
    title: string,
    unit: TableColumn<DiffRow>["unit"],
  ): TableColumn<DiffRow> => ({
    key: `${key}_${of}`,
    title: `${title} ${key.toUpperCase()}`,
    unit,
    width: 96,
    value: (row) => row[key][of],
  });
  const delta = (of: string, title: string, unit: TableColumn<DiffRow>["unit"]): TableColumn<DiffRow> => ({
    key: `change_${of}`,
    title: `${title} B−A`,
    unit,
    width: 100,
    value: (row) => change(row, of),
  });
  return [
    { key: "name", title: "Name", unit: "text", width: 280, value: (row) => row.name },
    side("a", "gpu_ns", "Time", "ns"),
    side("b", "gpu_ns", "Time", "ns"),
    delta("gpu_ns", "Time", "ns"),
    {
      key: "ratio_gpu_ns",
      title: "B / A",
      unit: "factor",
      width: 74,
      value: (row) =>
        row.a["gpu_ns"] && row.b["gpu_ns"] !== undefined ? row.b["gpu_ns"] / row.a["gpu_ns"] : undefined,
    },
    side("a", "dram", "DRAM", "bytes"),
    side("b", "dram", "DRAM", "bytes"),
    delta("dram", "DRAM", "bytes"),
    side("a", "l2", "L2", "bytes"),
    side("b", "l2", "L2", "bytes"),
    side("a", "kernels", "Kernels", "number"),
    side("b", "kernels", "Kernels", "number"),
  ];
}

function useDiffTree(roots: readonly DiffRow[]): TreeOf<DiffRow> {
  const [folded, setFolded] = useState<ReadonlySet<string>>(new Set());
  return useMemo(
    () => ({
      depth: (row: DiffRow) => row.depth - 1,
      hasChildren: (row: DiffRow) => row.children.length > 0,
      folded,
      fold: (key: string, fold: boolean) => {
        const next = new Set(folded);
        if (fold) next.add(key);
        else next.delete(key);
        setFolded(next);
      },
      arrange: (sort) => {
        const out: DiffRow[] = [];
        const add = (rows: readonly DiffRow[]): void => {
          for (const row of sort === undefined ? rows : [...rows].sort(sort)) {
            out.push(row);
            if (!folded.has(row.key)) add(row.children);
          }
        };
        add(roots);
        return out;
      },
    }),
    [roots, folded],
  );
}

export function DiffView({ traces, trace: a }: { traces: readonly Trace[]; trace: Trace }): JSX.Element {
  const state = useStore();
  const [of, setOf] = useState<"modules" | "kernels">("modules");
  const [each, setEach] = useState(true);
  const other = traces[state.against];
  const b = other !== undefined && other !== a ? other : traces.find((one) => one !== a);
  const scale = b === undefined ? undefined : perIteration(a, b);
  const used = useMemo(() => (each && scale !== undefined ? scale : { a: 1, b: 1 }), [each, scale?.a, scale?.b]);
  const roots = useMemo(
    () => (b === undefined ? [] : of === "modules" ? moduleDiff(a, b, used) : kernelDiff(a, b, used)),
    [a, b, of, used],
  );
  const tree = useDiffTree(roots);
  const rows = useMemo(() => {
    const out: DiffRow[] = [];
    const add = (row: DiffRow): void => {
      out.push(row);
      row.children.forEach(add);
    };
    roots.forEach(add);
    return out;
  }, [roots]);
  const columns = useMemo(columnsOf, []);
  if (b === undefined)
    return (
      <div class="view">
        <p class="empty">A difference needs two traces.</p>
      </div>
    );
  return (
    <div class="view diff">
      <p class="dim">
        A:{" "}
        <b>
          <bdi>{a.title}</bdi>
        </b>{" "}
        {a.tables.folder} · B:{" "}
        <select
          aria-label="Trace B"
          value={b.index}
          onChange={(event) => update({ against: Number(event.currentTarget.value) })}
        >
          {traces
            .filter((one) => one !== a)
            .map((one) => (
              <option key={one.index} value={one.index}>
                {one.title} · {one.tables.folder.slice(-60)}
              </option>
            ))}
        </select>
      </p>
      <Table
        label="Difference"
        key={of}
        columns={columns}
        rows={rows}
        keyOf={(row) => row.key}
        selected={of === "modules" ? state.module : state.kernel}
        search={(row) => row.key}
        select={(row) => update(of === "modules" ? { module: row.key } : { kernel: row.key })}
        {...(of === "modules" ? { tree } : { sort: "a_gpu_ns" })}
        tools={
          <>
            <Switch
              label="Of"
              options={
                [
                  ["modules", "modules"],
                  ["kernels", "kernels"],
                ] as const
              }
              value={of}
              choose={setOf}
            />
            <label class="check">
              <input
                type="checkbox"
                disabled={scale === undefined}
                checked={each && scale !== undefined}
                onChange={(event) => setEach(event.currentTarget.checked)}
              />{" "}
              per iteration{scale !== undefined ? ` (${scale.a} and ${scale.b})` : ""}
            </label>
          </>
        }
        note="Empty: not in that trace, or not measured. `rangefinder diff` tests whether a difference is more than noise."
      />
    </div>
  );
}
