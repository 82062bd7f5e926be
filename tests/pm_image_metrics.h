// SPDX-License-Identifier: Apache-2.0
//
// What pm_decode samples, and so what the counter images that it writes hold.
#pragma once

namespace rangefinder::test {

inline constexpr const char* kPmImageMetrics[] = {
    "dram__bytes_read.sum", "dram__bytes_write.sum",
    "lts__t_bytes.sum",     "gr__cycles_active.avg.pct_of_peak_sustained_elapsed",
    "pcie__read_bytes.sum", "pcie__write_bytes.sum"};

}  // namespace rangefinder::test
