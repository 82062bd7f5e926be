// SPDX-License-Identifier: Apache-2.0
//
// A choice among a few options, as a row of buttons.
import type { JSX } from "preact";

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
