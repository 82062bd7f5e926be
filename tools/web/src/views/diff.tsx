// SPDX-License-Identifier: Apache-2.0
//
// The difference of two traces: the verdict, then its rows, as `rangefinder diff` has them.
import type { JSX } from "preact";
import { useMemo, useState } from "preact/hooks";
import { isChange, kDiffTables, quantityText, unitOf, type Diff, type DiffRow, type DiffTable } from "../data/diff";
import { percentText, unitText } from "../data/numbers";
import { shortName, type Trace } from "../data/trace";
import { update, useStore } from "../state";
import type { TableColumn } from "../ui/columns";
import { Switch } from "../ui/switch";
import { Table } from "../ui/table";

function columnsOf(names: ReadonlyMap<string, string>): TableColumn<DiffRow>[] {
  const value = (key: "a" | "b" | "difference", title: string): TableColumn<DiffRow> => ({
    key,
    title,
    unit: "number",
    width: 96,
    value: (row) => row[key],
    text: (row) => (row[key] === undefined ? "" : unitText(row[key], unitOf(row.quantity))),
  });
  const share = (key: "relative" | "relative_interval", title: string, tip: string): TableColumn<DiffRow> => ({
    key,
    title,
    unit: "share",
    width: 84,
    tip,
    value: (row) => row[key],
    text: (row) =>
      row[key] === undefined ? "" : (key === "relative" && row[key] > 0 ? "+" : "") + percentText(row[key]),
  });
  return [
    {
      key: "name",
      title: "Name",
      unit: "text",
      width: 280,
      value: (row) => row.path ?? row.name ?? "iteration",
      text: (row) => row.path ?? names.get(row.name ?? "") ?? row.name ?? "iteration",
    },
    { key: "quantity", title: "What", unit: "text", width: 130, value: (row) => quantityText(row.quantity) },
    value("a", "A"),
    value("b", "B"),
    value("difference", "B−A"),
    share("relative", "Change", "B−A over A"),
    share("relative_interval", "±", "Half the 95 % confidence interval of the change; of sampled bytes their error"),
    { key: "n_a", title: "n A", unit: "count", width: 56, tip: "Batches of iterations", value: (row) => row.n_a },
    { key: "n_b", title: "n B", unit: "count", width: 56, tip: "Batches of iterations", value: (row) => row.n_b },
    { key: "verdict", title: "Verdict", unit: "text", width: 84, value: (row) => row.verdict },
    { key: "where", title: "Mostly in", unit: "text", width: 240, value: (row) => row.where },
  ];
}

const keyOf = (row: DiffRow): string => `${row.path ?? row.name ?? ""} ${row.quantity}`;

export function DiffView({ traces, diff }: { traces: readonly Trace[]; diff: Diff | undefined }): JSX.Element {
  const state = useStore();
  const [of, setOf] = useState<DiffTable>("iteration");
  const [all, setAll] = useState(false);
  const rows = useMemo(() => {
    const some = diff?.[of] ?? [];
    return all || of === "iteration" ? some : some.filter(isChange);
  }, [diff, of, all]);
  const columns = useMemo(() => {
    const kernels = traces.flatMap((trace) => trace.tables.kernels);
    return columnsOf(new Map(kernels.map((row) => [row.name, shortName(row)])));
  }, [traces]);
  if (diff === undefined)
    return (
      <div class="view">
        <p class="empty">A difference needs a page of two traces.</p>
      </div>
    );
  const selected = of === "modules" ? state.module : state.kernel;
  return (
    <div class="view diff">
      <h2 class="verdict">{diff.verdict.text}</h2>
      {diff.differences.map((text) => (
        <p key={text}>{text}</p>
      ))}
      <p class="dim">
        A: <bdi>{diff.a.trace}</bdi>, {diff.a.iterations} iterations · B: <bdi>{diff.b.trace}</bdi>, {diff.b.iterations}{" "}
        iterations
      </p>
      <Table
        label="Difference"
        key={of}
        columns={columns}
        rows={rows}
        keyOf={keyOf}
        selected={rows.map((row) => row.path ?? row.name).includes(selected) ? `${selected} gpu_ns` : undefined}
        search={keyOf}
        select={(row) => {
          if (of === "modules" && row.path !== undefined) update({ module: row.path });
        }}
        tools={
          <>
            <Switch
              label="Of"
              options={kDiffTables.filter((one) => diff[one] !== undefined).map((one) => [one, one] as const)}
              value={of}
              choose={setOf}
            />
            <label class="check">
              <input type="checkbox" checked={all} onChange={(event) => setAll(event.currentTarget.checked)} /> rows
              without a change
            </label>
          </>
        }
        note="Per iteration, warm-up excluded; calls are outside of iterations, each per call. The rows and verdicts are those of rangefinder diff."
      />
    </div>
  );
}
