// SPDX-License-Identifier: Apache-2.0
//
// Columns of the table of modules, with the values of the command line.
import { limitShare, type Trace } from "../data/trace";
import type { ModuleRow } from "../data/rows";
import type { TableColumn } from "../ui/columns";

export function moduleColumns(trace: Trace, full: boolean): TableColumn<ModuleRow>[] {
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
  return [
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
    {
      key: "dram_read_bytes",
      title: "DRAM read",
      unit: "bytes",
      width: 104,
      value: (row) => row.dram_read_bytes,
      sign: atLeast,
    },
    {
      key: "dram_write_bytes",
      title: "DRAM write",
      unit: "bytes",
      width: 110,
      value: (row) => row.dram_write_bytes,
      sign: atLeast,
    },
    {
      key: "bytes_error_pct",
      title: "DRAM ±",
      unit: "percent",
      width: 84,
      value: (row) => row.bytes_error_pct,
      tip: "Bound of the error of DRAM read + write",
    },
    { key: "l2_bytes", title: "L2", unit: "bytes", width: 84, value: (row) => row.l2_bytes, sign: atLeast },
    { key: "dram_bytes_per_s", title: "DRAM rate", unit: "rate", width: 94, value: (row) => row.dram_bytes_per_s },
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
