// SPDX-License-Identifier: Apache-2.0
//
// A list of names and values: the details of the selection.
import type { ComponentChildren, JSX } from "preact";

export type Fact = readonly [name: string, value: ComponentChildren, plain?: string];

export function Facts(props: { title?: string; facts: readonly (Fact | false | undefined)[] }): JSX.Element | null {
  const known = props.facts.filter(
    (fact): fact is Fact => fact !== false && fact !== undefined && fact[1] !== undefined && fact[1] !== "",
  );
  if (known.length === 0) return null;
  return (
    <>
      {props.title !== undefined && <h3>{props.title}</h3>}
      <dl class="facts">
        {known.map(([name, value, plain]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd title={plain ?? ""}>{value}</dd>
          </div>
        ))}
      </dl>
    </>
  );
}
