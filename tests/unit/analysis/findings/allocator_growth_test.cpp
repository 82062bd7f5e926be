// SPDX-License-Identifier: Apache-2.0
#include <fstream>

#include "tests/catch.h"
#include "tests/unit/analysis/findings/findings_trace.h"
#include "tools/analysis/queries/torch_memory.h"

using namespace rangefinder;
using namespace rangefinder::test;

namespace {

/// A row of torch_memory.json.
std::string row_text(const std::string& path, int calls, long later_growth, long kept) {
  return R"({"path":")" + path + R"(","calls":)" + std::to_string(calls) +
         R"(,"allocations":10,"allocated_bytes":9000000,"growth_bytes":1,"later_growth_bytes":)" +
         std::to_string(later_growth) + R"(,"peak_bytes":8,"live_at_peak_bytes":7,"kept_bytes":)" +
         std::to_string(kept) + "}";
}

struct AllocatorTrace : MadeTrace {
  explicit AllocatorTrace(const std::string& rows) {
    const std::uint32_t path = add_path("step"), name = add_name("busy()");
    const std::uint32_t config = add_config(grid_of(2'000, 256));
    add(path, name, config, 1'000'000, 500'000);
    std::ofstream(folder.path() / "torch_memory.json")
        << R"({"schema":"rangefinder.torch_memory","version":"1.1","pid":1,"devices":[{"device":0,"complete":true,)"
        << R"("allocated_at_start_bytes":5,"allocated_at_end_bytes":6,"modules":[)" << rows << "]}]}";
  }
};

constexpr long kMiB = 1 << 20;

}  // namespace

TEST_CASE("memory that each call keeps is found in the innermost module that keeps it") {
  const AllocatorTrace trace(row_text("", 0, 0, 80 * kMiB) + "," +
                             row_text("step", 10, 16 * kMiB, 20 * kMiB) + "," +
                             row_text("step/model", 10, 90 * kMiB, 19 * kMiB) + "," +
                             row_text("step/model/head", 10, 3 * kMiB, 2 * kMiB));

  const Finding found = required(trace.found(), "allocator_growth");

  CHECK(found.where == "step/model");
  check_evidence(found,
                 {{"growth_bytes_per_call", 2.0 * kMiB}, {"kept_bytes", 20.0 * kMiB}, {"repetitions", 10}});
}

TEST_CASE("memory that is made in the first calls, freed elsewhere, or too little is not found") {
  for (const std::string& rows :
       {row_text("step", 10, 1'000, 90 * kMiB), row_text("step", 10, 16 * kMiB, kMiB),
        row_text("step", 4, 16 * kMiB, 20 * kMiB)})
    CHECK(find(AllocatorTrace(rows).found(), "allocator_growth") == nullptr);
}

TEST_CASE("a file of another form is no file") {
  const AllocatorTrace trace(R"({"path":3})");

  CHECK(read_torch_memory(trace.folder.path()).empty());
  CHECK(find(trace.found(), "allocator_growth") == nullptr);
}
