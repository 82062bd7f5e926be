// SPDX-License-Identifier: Apache-2.0
//
// Rules about bytes and memory counters. The traces are synthetic, with numbers expected of an H200.
#include "tests/catch.h"
#include "tests/unit/analysis/findings/findings_trace.h"

namespace rangefinder {
namespace {
using namespace test;

constexpr TimeNs kUs = 1'000;
constexpr std::uint64_t kMb = 1'000'000;

/// One kernel per path, with known bytes: {DRAM bytes read, microseconds}.
std::vector<Finding> modules(const std::vector<std::pair<std::uint64_t, TimeNs>>& sizes) {
  MadeTrace trace;
  trace.add_name("layer(float*)");
  const auto config = trace.add_config(grid_of(66'000, 256));
  TimeNs now = 1'000'000;
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    const auto path = trace.add_path("module " + std::to_string(i));
    const auto [bytes, us] = sizes[i];
    add_exact(trace, {path, 1, bytes, 0, bytes, {}}, config, now, us * kUs);
    now += us * kUs;
    trace.add_range(path, now - us * kUs - 50, now - 40);
    now += 50 * kUs;
  }
  return trace.found();
}

TEST_CASE("a module near the DRAM's peak is bound by it") {
  const auto found = modules({{430 * kMb, 100}});  // 4.3 TB/s

  const Finding* const bound = find(found, "memory_bound");
  REQUIRE(bound != nullptr);
  CHECK(bound->where == "module 0");
  CHECK(number(*bound, "dram_peak_share") == Approx(4.3 / 4.814304));
}

TEST_CASE("a module far from any peak is not bound by memory") {
  CHECK(find(modules({{100 * kMb, 100}}), "memory_bound") == nullptr);
}

TEST_CASE("time that follows bytes gives a line, and the outlier is named") {
  std::vector<std::pair<std::uint64_t, TimeNs>> sizes;
  for (std::uint64_t i = 1; i <= 20; ++i) sizes.emplace_back(i * 40 * kMb, static_cast<TimeNs>(10 + i * 10));
  sizes[2].second += 90;
  const auto found = modules(sizes);

  const Finding* const line = find(found, "time_follows_bytes");
  REQUIRE(line != nullptr);
  CHECK(number(*line, "r") > 0.9);
  CHECK(number(*line, "modules") == 20);
  CHECK(text(*line, "outliers").find("module 2: 130 us") != std::string::npos);
  CHECK(text(*line, "outliers").find("module 3") == std::string::npos);
}

TEST_CASE("times without relation to bytes give no line") {
  std::vector<std::pair<std::uint64_t, TimeNs>> sizes;
  for (std::uint64_t i = 1; i <= 20; ++i)
    sizes.emplace_back(i * 10 * kMb, 50 + static_cast<TimeNs>(i * 7 % 5) * 20);
  CHECK(find(modules(sizes), "time_follows_bytes") == nullptr);
}

/// One module that declares 100 MB per call and moves `dram`.
std::vector<Finding> declared(std::uint64_t dram) {
  MadeTrace trace;
  trace.put(CategoryRecord{0, 1, "rangefinder.bytes"});
  trace.add_name("layer(float*)");
  const auto config = trace.add_config(grid_of(66'000, 256));
  const auto path = trace.add_path("norm");
  add_exact(trace, {path, 1, dram, 0, dram, {}}, config, 1'000'000, 200 * kUs);
  RangeRecord range = test::range(1, path, 900'000, 1'300'000);
  range.extras.category = 1;
  range.extras.payload_type = PayloadType::u64;
  range.extras.payload = 100 * kMb;
  trace.put(range);
  return trace.found();
}

TEST_CASE("a module that moves three times its declared bytes is found, with the excess as saving") {
  const auto found = declared(300 * kMb);

  const Finding* const amplified = find(found, "amplification");
  REQUIRE(amplified != nullptr);
  CHECK(number(*amplified, "dram_amplification") == Approx(3));
  CHECK(*amplified->saving_ns == Approx(200'000 * 2.0 / 3).margin(1));
}

TEST_CASE("a module that moves slightly more than its declared bytes is no finding") {
  CHECK(find(declared(150 * kMb), "amplification") == nullptr);
}

/// The transpose of 8192 x 4096 words, which takes `us` microseconds.
std::vector<Finding> transpose(double load_sectors, double store_sectors, double conflicts, TimeNs us) {
  MadeTrace trace;
  MetricSetRecord set;
  set.id = 1;
  set.name = "coalescing";
  set.metrics = {"l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum",
                 "smsp__inst_executed_op_global_ld.sum",
                 "smsp__inst_executed_op_generic_ld.sum",
                 "l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum",
                 "smsp__inst_executed_op_global_st.sum",
                 "smsp__inst_executed_op_generic_st.sum",
                 "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_ld.sum",
                 "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_st.sum"};
  trace.put(set);
  trace.add_name("void cases::(anonymous namespace)::transpose<32>(float*, void (*)(int))");
  const auto config = trace.add_config(grid_of(32'768, 256));
  const auto path = trace.add_path("transpose");
  constexpr std::uint64_t kBytes = 134'217'728;
  constexpr double kRequests = 1'048'576;
  add_exact(trace,
            {path,
             1,
             kBytes,
             kBytes,
             2 * kBytes,
             {load_sectors, kRequests, 0, store_sectors, kRequests, 0, conflicts, 0}},
            config, 1'000'000, us * kUs);
  return trace.found();
}

TEST_CASE("the naive transpose has uncoalesced stores and no other problem") {
  const auto found = transpose(4'194'304, 33'554'432, 0, 550);

  const Finding* const stores = find(found, "uncoalesced_stores");
  REQUIRE(stores != nullptr);
  CHECK(stores->where == "cases::(anonymous namespace)::transpose<32>");
  CHECK(number(*stores, "sectors_per_request") == 32);
  CHECK(*stores->saving_ns == 550'000u * 7 / 8);
  CHECK(find(found, "uncoalesced_loads") == nullptr);
  CHECK(find(found, "bank_conflicts") == nullptr);
}

TEST_CASE("the transpose through an unpadded tile has bank conflicts") {
  const auto found = transpose(4'194'304, 4'194'304, 32'505'856, 150);

  const Finding* const conflicts = find(found, "bank_conflicts");
  REQUIRE(conflicts != nullptr);
  // 32.5 million cycles over 132 multiprocessors at 1.98 GHz are 124 us.
  CHECK(number(*conflicts, "share_of_kernel") == Approx(124.4 / 150).epsilon(0.01));
  CHECK(find(found, "uncoalesced_stores") == nullptr);
}

TEST_CASE("the padded transpose has neither uncoalesced stores nor bank conflicts") {
  const auto found = transpose(4'194'304, 4'194'304, 0, 80);

  CHECK(find(found, "uncoalesced_stores") == nullptr);
  CHECK(find(found, "bank_conflicts") == nullptr);
}

TEST_CASE("sixteen sectors per request are a coalesced warp of vectors") {
  CHECK(find(transpose(16'777'216, 16'777'216, 0, 80), "uncoalesced_loads") == nullptr);
}

/// A kernel with 448 bytes of local memory per thread; each launch moves `sectors` for it.
std::vector<Finding> spilling(double sectors) {
  MadeTrace trace;
  MetricSetRecord set;
  set.id = 1;
  set.name = "memory";
  set.metrics = {"l1tex__t_sectors_pipe_lsu_mem_local_op_ld.sum",
                 "l1tex__t_sectors_pipe_lsu_mem_local_op_st.sum"};
  trace.put(set);
  trace.add_name("fft(float2*)");
  LaunchConfigRecord grid = grid_of(66'000, 256, 64);
  grid.local_bytes_per_thread = 448;
  const auto config = trace.add_config(grid);
  const auto path = trace.add_path("fft");
  add_exact(trace, {path, 1, kMb, kMb, kMb, {sectors, 0}}, config, 1'000'000, 100 * kUs);
  return trace.found();
}

TEST_CASE("local memory that a kernel uses is found with its bytes") {
  const auto found = spilling(1'000'000);

  const Finding* const local = find(found, "local_memory");
  REQUIRE(local != nullptr);
  CHECK(local->severity == Severity::notable);
  CHECK(number(*local, "local_traffic_bytes") == 32'000'000);
}

TEST_CASE("local memory that a kernel reserves and never touches is no finding") {
  CHECK(find(spilling(0), "local_memory") == nullptr);
}

/// A kernel of eight warps per multiprocessor whose issue slots are `issue` percent busy.
std::vector<Finding> few_warps(double issue) {
  MadeTrace trace;
  MetricSetRecord set;
  set.id = 1;
  set.name = "compute";
  set.metrics = {"sm__issue_active.avg.pct_of_peak_sustained_active"};
  trace.put(set);
  trace.add_name("histogram(int*)");
  LaunchConfigRecord grid = grid_of(66'000, 128, 64);
  grid.dynamic_shared_bytes = 100'000;
  grid.shared_bytes_executed = 101'024;
  const auto config = trace.add_config(grid);
  const auto path = trace.add_path("histogram");
  add_exact(trace, {path, 1, kMb, kMb, kMb, {issue}}, config, 1'000'000, 100 * kUs);
  return trace.found();
}

TEST_CASE("low occupancy is found if issue slots are empty, not if they are busy") {
  const auto idle = few_warps(15);

  REQUIRE(find(idle, "low_occupancy") != nullptr);
  CHECK(number(*find(idle, "low_occupancy"), "issue_active") == Approx(0.15));
  CHECK(find(few_warps(85), "low_occupancy") == nullptr);
}

}  // namespace
}  // namespace rangefinder
