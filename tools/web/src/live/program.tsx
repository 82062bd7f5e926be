// SPDX-License-Identifier: Apache-2.0
//
// One running program: the rates of its modules as a table and as live plots.
import type { JSX } from "preact";
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { countText } from "../data/numbers";
import { statedColumn } from "../ui/stated_columns";
import { Switch } from "../ui/switch";
import { Table, type TableProps } from "../ui/table";
import {
  childrenOf,
  isMeasured,
  kNoHistory,
  parentOf,
  withEvent,
  type History,
  type LiveModule,
  type Rate,
} from "./history";
import { PerfettoButton } from "./perfetto_button";
import { RateLines } from "./rate_lines";
import { follow, type Connection } from "./server";

/** Of the second plot. */
const kRates: readonly Rate[] = ["dram_gb_per_s", "l2_gb_per_s", "launches_per_s"];

/** Of a tree: a row whose parent the server omitted is below its nearest ancestor that is there. */
function treeOf(rows: readonly LiveModule[]): Pick<TableProps<LiveModule>, "rows" | "below"> {
  const below = new Map<string, LiveModule[]>(rows.map((row) => [row.path, []]));
  const outermost: LiveModule[] = [];
  for (const row of rows) {
    let parent = parentOf(row.path);
    while (parent !== "" && !below.has(parent)) parent = parentOf(parent);
    (parent === "" ? outermost : below.get(parent)!).push(row);
  }
  return { rows: outermost, below: (row) => below.get(row.path)! };
}

export function stateText(connection: Connection, history: History): string {
  if (connection === "ended")
    return "The program has ended. Its trace is in the list of traces, if its folder is served.";
  if (connection === "refused") return "Cannot watch this program: it has ended, or too many pages watch it.";
  if (connection === "connecting") return "Connecting …";
  if (history.last === undefined) return "Waiting for the first interval …";
  if (history.last.event !== "delta")
    return `No window is open (${history.last.state}), so nothing is recorded. rangefinder attach --start opens one.`;
  return `Recording window ${history.last.window ?? 1}`;
}

export function Program({ pid }: { pid: number }): JSX.Element {
  const [history, setHistory] = useState<History>(kNoHistory);
  const [connection, setConnection] = useState<Connection>("connecting");
  const [paused, pause] = useState(false);
  const [selected, select] = useState<string>();
  const [rate, setRate] = useState<Rate>("dram_gb_per_s");
  const latest = useRef(kNoHistory);
  useEffect(() => {
    latest.current = kNoHistory;
    setHistory(kNoHistory);
    return follow(
      pid,
      (event) => {
        latest.current = withEvent(latest.current, event, Date.now() / 1000);
        setHistory(latest.current);
      },
      setConnection,
    );
  }, [pid]);
  const held = useRef(history);
  if (!paused) held.current = history;
  const shown = held.current;
  const tree = useMemo(() => treeOf([...shown.modules.values()]), [shown]);
  const columns = useMemo(
    () =>
      (shown.last?.columns ?? []).map((column) =>
        statedColumn<LiveModule>(column, (row, key) => (key === "path" ? row.name : row[key as keyof LiveModule])),
      ),
    [shown.last?.columns],
  );
  const inside = selected === undefined ? [] : childrenOf(shown, selected);
  // A module without children shows its own line.
  const paths = selected === undefined ? childrenOf(shown, undefined) : inside.length > 0 ? inside : [selected];
  const titleOf = (key: Rate): string => columns.find((column) => column.key === key)?.title ?? "";
  const rates = kRates.filter((one) => one === "launches_per_s" || isMeasured(shown, one));
  const other = rates.includes(rate) ? rate : "launches_per_s";
  const of = selected === undefined ? "outermost modules" : (shown.modules.get(selected)?.name ?? "").slice(0, 80);
  const left = shown.last?.left_out ?? 0;
  return (
    <div class="view live">
      <div class="tools">
        <span role="status" class={connection === "refused" ? "warn" : ""}>
          {stateText(connection, shown)}
        </span>
        {shown.lost > 0 && <span class="warn">{countText(shown.lost)} lost</span>}
        <span class="fill" />
        <button type="button" aria-pressed={paused} onClick={() => pause(!paused)}>
          {paused ? "Resume" : "Pause"}
        </button>
        <a class="button" href={`/trace?pid=${pid}`}>
          Open the trace so far
        </a>
        <PerfettoButton query={`pid=${pid}`} title={`process ${pid}`} />
      </div>
      <div class="plots">
        <RateLines history={shown} paths={paths} rate="gpu_ms_per_s" title={titleOf("gpu_ms_per_s")} of={of} />
        <RateLines
          history={shown}
          paths={paths}
          rate={other}
          title={titleOf(other)}
          of={of}
          tools={
            rates.length > 1 && (
              <Switch
                label="Show"
                options={rates.map((one) => [one, titleOf(one)] as const)}
                value={other}
                choose={setRate}
              />
            )
          }
        />
      </div>
      <Table
        label="Modules"
        columns={columns}
        {...tree}
        keyOf={(row) => row.path}
        selected={selected}
        select={(row) => select(row.path === selected ? undefined : row.path)}
        search={(row) => row.path}
        tools={
          <button type="button" disabled={selected === undefined} onClick={() => select(undefined)}>
            All modules
          </button>
        }
        note={
          <>
            {left > 0 && `${countText(left)} lighter modules are not shown. `}Rates of the last interval, inclusive of
            all modules below. Select a module to plot the modules below it.
          </>
        }
      />
    </div>
  );
}
