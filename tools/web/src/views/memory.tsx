// SPDX-License-Identifier: Apache-2.0
//
// Memory: what PyTorch's caching allocator handed out by module; what the driver allocated by path, kind and time.
import type { JSX } from "preact";
import { countText } from "../data/numbers";
import type { Trace } from "../data/trace";
import { SwitchedTables } from "../ui/switched_tables";

const kOptions = [
  ["torch_memory", "PyTorch module"],
  ["memory", "path"],
  ["memory_kinds", "kind"],
  ["memory_live", "never freed"],
  ["memory_time", "time"],
] as const;

export function MemoryView({ trace }: { trace: Trace }): JSX.Element {
  return (
    <SwitchedTables
      trace={trace}
      label="Memory"
      tables={trace.tables.memory}
      options={kOptions}
      empty="No memory was allocated while recording."
      note={(by, { remarks }) => {
        const left = trace.tables.left_out[by] ?? 0;
        return (left > 0 ? `${countText(left)} more rows are not in this page. ` : "") + remarks;
      }}
    />
  );
}
