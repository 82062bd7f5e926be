// SPDX-License-Identifier: Apache-2.0
//
// The sampled columns by chip, from CUPTI's own host API: needs no GPU.
#include "profiler/counters/sampling/pm_metrics.h"

#include <string>
#include <vector>

#include "tests/catch.h"
#include "tests/unit/counters/counters_loaded.h"

using namespace rangefinder;

namespace {

using Names = std::vector<std::string>;

Names columns_on(const CuptiFunctions& cupti, const char* chip, std::uint32_t interval_ns) {
  const PmMetrics metrics = choose_pm_metrics(cupti, chip, {}, interval_ns);
  REQUIRE(metrics.config != nullptr);
  CHECK(metrics.config->passes() == 1);
  CHECK(metrics.names.size() == metrics.columns.size());
  CHECK(metrics.collected.count() == metrics.columns.size());
  return column_names(metrics.collected);
}

}  // namespace

TEST_CASE("on an H100 one pass holds every column, multiprocessors only at long intervals") {
  COUNTERS_OR_SKIP(cupti);

  CHECK(columns_on(cupti, "GH100", 20'000) == Names{"dram_read", "dram_write", "l2", "pcie_read",
                                                    "pcie_write", "nvlink_received", "nvlink_transmitted",
                                                    "engine_active"});
  CHECK(columns_on(cupti, "GH100", 50'000).size() == kSampleColumns);
}

TEST_CASE("other chips sample DRAM and L2 bytes in one pass, with what else fits") {
  COUNTERS_OR_SKIP(cupti);
  for (const char* chip : {"GA100", "AD102", "GB100"}) {
    INFO(chip);
    const Names columns = columns_on(cupti, chip, 20'000);

    REQUIRE(columns.size() >= 3);
    CHECK(Names(columns.begin(), columns.begin() + 3) == Names{"dram_read", "dram_write", "l2"});
  }
}

TEST_CASE("an unknown chip gives the error and no columns") {
  COUNTERS_OR_SKIP(cupti);

  const PmMetrics metrics = choose_pm_metrics(cupti, "ZZ999", {}, 20'000);

  CHECK(metrics.config == nullptr);
  CHECK(metrics.names.empty());
  CHECK(metrics.error != CUPTI_SUCCESS);
}
