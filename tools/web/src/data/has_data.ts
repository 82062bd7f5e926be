// SPDX-License-Identifier: Apache-2.0
//
// Which views a trace has data for: others are no tabs.
import type { View } from "../state";
import { plotsOf } from "./limits";
import type { Trace } from "./trace";

const rowsIn = (tables: object): boolean => Object.values(tables).some((table) => table.rows.length > 0);

export function hasData(trace: Trace, view: View): boolean {
  const { tables } = trace;
  switch (view) {
    case "modules":
      return tables.modules.length > 0;
    case "limits":
      return plotsOf(trace).length > 0;
    case "kernels":
      return tables.kernels.length > 0;
    case "copies":
      return rowsIn(tables.copies);
    case "memory":
      return rowsIn(tables.memory);
    case "iterations":
      return tables.iterations.iterations.rows.length > 0;
    default:
      return true;
  }
}
