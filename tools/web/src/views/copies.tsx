// SPDX-License-Identifier: Apache-2.0
//
// Copies by direction and memory, by module and by size, and memsets.
import type { JSX } from "preact";
import type { Trace } from "../data/trace";
import { SwitchedTables } from "../ui/switched_tables";

const kOptions = [
  ["memcpy", "direction"],
  ["modules", "module"],
  ["sizes", "size"],
  ["memset", "memsets"],
] as const;

export function CopiesView({ trace }: { trace: Trace }): JSX.Element {
  return (
    <SwitchedTables
      trace={trace}
      label="Copies"
      tables={trace.tables.copies}
      options={kOptions}
      empty="The trace has no copies."
      note={(by, { remarks }) =>
        "Bytes are those that the program requested. " +
        (by === "modules" ? "A module's row has the copies launched in the module itself." : remarks)
      }
    />
  );
}
