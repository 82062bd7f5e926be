// SPDX-License-Identifier: Apache-2.0
//
// The choice between the columns of time and bytes, and those of named metrics, if the page has any.
import type { JSX } from "preact";
import type { NamedTable } from "../data/named";
import { Switch } from "./switch";

export type Columns = "time" | "metrics";

export function ColumnSwitch(props: {
  table: NamedTable;
  shown: Columns;
  show: (columns: Columns) => void;
}): JSX.Element | null {
  if (props.table.metrics.length === 0) return null;
  return (
    <Switch
      label="Show"
      options={[["time", "time, bytes"] as const, ["metrics", "metrics"] as const]}
      value={props.shown}
      choose={props.show}
    />
  );
}
