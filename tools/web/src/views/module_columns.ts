// SPDX-License-Identifier: Apache-2.0
//
// Columns of the table of modules, with the values of the command line.
import { boundedText, kNoNumber, rateText } from "../data/numbers";
import {
  boundedDram,
  kCarryOverMark,
  limitShare,
  marksCarryOver,
  ofDram,
  sampledError,
  type Trace,
} from "../data/trace";
import type { ModuleRow } from "../data/rows";
import type { Columns } from "../ui/column_switch";
import type { TableColumn } from "../ui/columns";
import { namedColumns } from "../ui/named_columns";

export function moduleColumns(trace: Trace, full: boolean, shown: Columns): TableColumn<ModuleRow>[] {
  const all = Math.max(1, trace.gpuTotal);
  const atLeast = (row: ModuleRow): string => {
    const {
      sampled_share: sampled,
      launches,
      bytes_estimated: estimated,
    } = row as unknown as {
      sampled_share?: number;
      launches?: number;
      bytes_estimated?: boolean;
    };
    if (estimated) return "";
    return sampled !== undefined || launches !== undefined ? "+" : "";
  };
  const bytesColumn = (
    key: "dram_read_bytes" | "dram_write_bytes" | "l2_bytes",
    error: Parameters<typeof sampledError>[1],
    column: { title: string; width: number },
  ): TableColumn<ModuleRow> => ({
    ...column,
    key,
    unit: "bytes",
    value: (row) => row[key],
    text: (row) => {
      const { [key]: bytes } = row;
      if (bytes === undefined) return "";
      const { value } = boundedText(bytes, sampledError(row, error));
      if (value === kNoNumber) return value;
      return value + atLeast(row) + (key === "dram_write_bytes" && marksCarryOver(row) ? kCarryOverMark : "");
    },
  });
  const first: TableColumn<ModuleRow>[] = [
    { key: "path", title: "Module", unit: "text", width: 200, value: (row) => (full ? row.path : row.name) },
    { key: "calls", title: "Calls", unit: "count", width: 76, value: (row) => row.calls },
    { key: "kernels", title: "Kernels", unit: "count", width: 84, value: (row) => row.kernels },
    {
      key: "gpu_ns",
      title: "GPU time",
      unit: "ns",
      width: 96,
      value: (row) => row.gpu_ns,
      bar: (row) => (row.gpu_ns ?? 0) / all,
    },
  ];
  if (shown === "metrics")
    return [...first.filter(({ key }) => key !== "calls"), ...namedColumns<ModuleRow>(trace.named, (row) => row)];
  return [
    ...first,
    {
      key: "gpu_ns_exclusive",
      title: "Own",
      unit: "ns",
      width: 84,
      value: (row) => row.gpu_ns_exclusive,
      tip: "GPU time of kernels launched in the module itself",
    },
    {
      key: "host_ns",
      title: "Host",
      unit: "ns",
      width: 84,
      value: (row) => row.host_ns,
      tip: "Time from the start to the end of the range on the host",
    },
    bytesColumn("dram_read_bytes", "dram_read_error_pct", { title: "DRAM read", width: 104 }),
    bytesColumn("dram_write_bytes", "dram_write_error_pct", { title: "DRAM write", width: 110 }),
    {
      key: "bytes_error_pct",
      title: "DRAM ±",
      unit: "percent",
      width: 84,
      value: (row) => row.bytes_error_pct,
      text: (row) => (row.bytes_error_pct === undefined ? "" : boundedDram(row).error),
      tip: "Bound of the error of DRAM read + write",
    },
    {
      key: "carry_over_bytes",
      title: "Carry-over",
      unit: "bytes",
      width: 96,
      value: (row) => row.carry_over_bytes,
      tip: "Upper bound of written bytes that are of earlier work, and of bytes that this work left in L2",
    },
    bytesColumn("l2_bytes", "l2_error_pct", { title: "L2", width: 84 }),
    {
      key: "dram_bytes_per_s",
      title: "DRAM rate",
      unit: "rate",
      width: 94,
      value: (row) => row.dram_bytes_per_s,
      text: (row) => (row.dram_bytes_per_s === undefined ? "" : ofDram(row, rateText(row.dram_bytes_per_s))),
    },
    {
      key: "limit_share",
      title: "Of limit",
      unit: "share",
      width: 84,
      value: limitShare,
      bar: limitShare,
      tip: "Share of the nearest known limit: DRAM, L2 or compute",
    },
    { key: "limiter", title: "Bound by", unit: "text", width: 86, value: (row) => row.limiter },
  ];
}
