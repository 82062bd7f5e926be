// SPDX-License-Identifier: Apache-2.0
//
// The difference of two traces: the verdict with its caveats, then its rows, as `rangefinder diff` has them, worst
// first.
import type { JSX } from "preact";
import { useMemo, useState } from "preact/hooks";
import { kDiffTables, type Diff, type DiffRow, type DiffTable } from "../data/diff";
import type { Trace } from "../data/trace";
import { update, useStore } from "../state";
import type { TableColumn } from "../ui/columns";
import { statedColumn } from "../ui/stated_columns";
import { Switch } from "../ui/switch";
import { Table } from "../ui/table";
import { Icicle } from "./icicle";

const keyOf = (row: DiffRow): string => `${row.path ?? row.name ?? ""} ${row.quantity ?? row.metric ?? ""}`;

/** Texts and numbers only, by the keys of columns. */
const valueOf = (row: DiffRow, key: string): number | string | undefined => row[key as Exclude<keyof DiffRow, "texts">];

export const diffColumns = (diff: Diff, of: DiffTable): TableColumn<DiffRow>[] =>
  (diff.columns[of] ?? []).map((column) => ({
    ...statedColumn(column, valueOf, { texts: (row: DiffRow) => row.texts }),
    ...(["relative", "verdict"].includes(column.key) && { tone: (row: DiffRow) => row.tone, width: 96 }),
  }));

/** The lines of `rangefinder diff` below the verdict. */
export const diffLines = (diff: Diff): string[] => [
  ...(diff.set_ups === undefined ? [] : [diff.set_ups]),
  ...(diff.ratios === undefined ? [] : [diff.ratios.text]),
];

export function DiffView({ diff, traces }: { diff: Diff | undefined; traces: readonly Trace[] }): JSX.Element {
  const state = useStore();
  const [of, setOf] = useState<DiffTable>("iteration");
  const [all, setAll] = useState(false);
  const rows = useMemo(() => {
    const some = diff?.[of] ?? [];
    return all || of === "iteration" ? some : some.filter(({ tone }) => tone !== undefined);
  }, [diff, of, all]);
  const columns = useMemo(() => (diff === undefined ? [] : diffColumns(diff, of)), [diff, of]);
  if (diff === undefined)
    return (
      <div class="view">
        <p class="empty">A difference needs a page of two traces.</p>
      </div>
    );
  const selected = of === "modules" ? state.module : state.kernel;
  const worst = diff.iteration[0]?.tone ?? "";
  return (
    <div class="view diff">
      <h2 class={`verdict ${worst}`}>{diff.verdict.text}</h2>
      {diffLines(diff).map((text) => (
        <p key={text}>{text}</p>
      ))}
      <p class="dim sides">{diff.sides.trimEnd()}</p>
      {of === "modules" && traces[1]?.has("change") && (
        <>
          <p class="dim">Width: change of GPU time an iteration, of modules in B; orange: slower in B, blue: faster</p>
          <Icicle trace={traces[1]} metric="change" />
        </>
      )}
      <Table
        linked
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
        note={diff.explanation}
      />
    </div>
  );
}
