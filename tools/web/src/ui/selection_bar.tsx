// SPDX-License-Identifier: Apache-2.0
//
// The selection, on every view: the module with its main numbers, and the kernel.
import type { JSX } from "preact";
import { bytesText, durationText, percentText } from "../data/numbers";
import { dramBytes, shortName, type Trace } from "../data/trace";
import { update, useStore } from "../state";
import { Crumbs } from "../views/module_details";

export function SelectionBar({ trace }: { trace: Trace }): JSX.Element {
  const state = useStore();
  const row = trace.module(state.module);
  const kernel = trace.kernel(state.kernel);
  const dram = row && dramBytes(row);
  return (
    <div class="selection" aria-label="Selection">
      {row === undefined && kernel === undefined && (
        <span class="dim">Nothing selected. A click on a module or kernel selects it in all views.</span>
      )}
      {row !== undefined && (
        <>
          <Crumbs trace={trace} module={trace.byPath.get(row.path)!} />
          <span class="numbers">
            {row.gpu_ns !== undefined &&
              `${durationText(row.gpu_ns)}, ${percentText(row.gpu_ns / Math.max(1, trace.gpuTotal))}`}
            {dram !== undefined && ` · DRAM ${bytesText(dram)}`}
            {row.l2_bytes !== undefined && ` · L2 ${bytesText(row.l2_bytes)}`}
          </span>
          <button type="button" aria-label="Clear the selected module" onClick={() => update({ module: undefined })}>
            ×
          </button>
        </>
      )}
      {kernel !== undefined && (
        <>
          <span class="kernel-name" title={kernel.name.slice(0, 2000)}>
            <bdi>{shortName(kernel).slice(0, 300)}</bdi>
          </span>
          <button type="button" aria-label="Clear the selected kernel" onClick={() => update({ kernel: undefined })}>
            ×
          </button>
        </>
      )}
    </div>
  );
}
