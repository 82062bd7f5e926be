// SPDX-License-Identifier: Apache-2.0
//
// A choice among a few options, as a row of buttons.
import type { JSX } from "preact";
import type { NamedTable } from "../data/named";

export function Switch<Value extends string | number>(props: {
  label: string;
  options: readonly (readonly [Value, string])[];
  value: Value;
  choose: (value: Value) => void;
}): JSX.Element {
  return (
    <div class="switch" role="radiogroup" aria-label={props.label}>
      <span class="dim">{props.label}</span>
      {props.options.map(([value, title]) => (
        <button
          key={value}
          type="button"
          role="radio"
          aria-checked={value === props.value}
          onClick={() => props.choose(value)}
        >
          {title}
        </button>
      ))}
    </div>
  );
}

export type Columns = "time" | "metrics";

/** Between the columns of time and bytes, and those of named metrics, if the page has any. */
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
