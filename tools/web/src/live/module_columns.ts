// SPDX-License-Identifier: Apache-2.0
//
// Columns of the live table of modules, the same as in `rangefinder top`.
import type { TableColumn } from "../ui/columns";
import type { LiveModule } from "./history";

const bytes = (gigabytes: number | undefined): number | undefined =>
  gigabytes === undefined ? undefined : gigabytes * 1e9;

export const kModuleColumns: TableColumn<LiveModule>[] = [
  { key: "path", title: "Module", unit: "text", width: 220, value: (row) => row.name },
  {
    key: "gpu_ms_per_s",
    title: "GPU ms/s",
    unit: "number",
    width: 100,
    value: (row) => row.gpu_ms_per_s,
    tip: "Milliseconds of kernels per second; overlapping kernels all count",
  },
  {
    key: "share",
    title: "Share",
    unit: "share",
    width: 90,
    value: (row) => row.share,
    bar: (row) => row.share,
    tip: "Share of the GPU time of all modules",
  },
  { key: "launches_per_s", title: "Launches/s", unit: "number", width: 110, value: (row) => row.launches_per_s },
  { key: "dram_bytes_per_s", title: "DRAM", unit: "rate", width: 110, value: (row) => bytes(row.dram_gb_per_s) },
  { key: "l2_bytes_per_s", title: "L2", unit: "rate", width: 110, value: (row) => bytes(row.l2_gb_per_s) },
  {
    key: "peak_share",
    title: "Of DRAM peak",
    unit: "share",
    width: 110,
    value: (row) => row.peak_share,
    bar: (row) => row.peak_share,
  },
];
