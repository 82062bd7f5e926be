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

TEST_CASE("a module near the DRAM's peak is bound by it, one far from any peak is not") {
  const Finding bound = required(modules({{430 * kMb, 100}}), "memory_bound");  // 4.3 TB/s

  CHECK(bound.where == "module *");
  check_evidence(bound, {{"dram_peak_share", Approx(4.3 / 4.814304)}});
  CHECK(find(modules({{100 * kMb, 100}}), "memory_bound") == nullptr);
}

TEST_CASE(
    "a module far below every roof is found with the time above the highest, one of short kernels is not") {
  // 24 MB are 5 us at the peak of 4.8 TB/s.
  const Finding slow = required(modules({{24 * kMb, 100}}), "slower_than_roofs");

  check_evidence(slow, {{"slower", Approx(100 / 4.985).epsilon(0.01)}, {"dram_bytes", 24.0 * kMb}});
  CHECK(*slow.saving_ns == Approx(100'000 - 4'985).margin(10));
  CHECK(find(modules({{2 * kMb, 9}}), "slower_than_roofs") == nullptr);
  CHECK(find(modules({{200 * kMb, 100}}), "slower_than_roofs") == nullptr);
}

TEST_CASE("time that follows bytes gives a line, and the outlier is named") {
  std::vector<std::pair<std::uint64_t, TimeNs>> sizes;
  for (std::uint64_t i = 1; i <= 20; ++i) sizes.emplace_back(i * 40 * kMb, static_cast<TimeNs>(10 + i * 10));
  sizes[2].second += 90;
  const Finding line = required(modules(sizes), "time_follows_bytes");

  CHECK(number(line, "r") > 0.9);
  CHECK(number(line, "modules") == 20);
  CHECK(text(line, "outliers").find("module 2: 130 us") != std::string::npos);
  CHECK(text(line, "outliers").find("module 3") == std::string::npos);
  // 130 us where the line, which the outlier lifts, has 52.
  const Finding slower = required(modules(sizes), "slower_than_bytes");
  check_evidence(slower,
                 {{"level", "DRAM"}, {"gpu_busy_ns", 130'000}, {"by_bytes_ns", Approx(52'112).margin(10)}});
  CHECK(*slower.saving_ns == Approx(130'000 - number(slower, "by_bytes_ns")).margin(1));
}

TEST_CASE("times without relation to bytes give no line") {
  std::vector<std::pair<std::uint64_t, TimeNs>> sizes;
  for (std::uint64_t i = 1; i <= 20; ++i)
    sizes.emplace_back(i * 10 * kMb, 50 + static_cast<TimeNs>(i * 7 % 5) * 20);
  CHECK(find(modules(sizes), "time_follows_bytes") == nullptr);
}

/// One module that declares 100 MB per call and moves these bytes.
std::vector<Finding> declared(std::uint64_t read, std::uint64_t written = 0) {
  MadeTrace trace;
  trace.put(CategoryRecord{0, 1, "rangefinder.bytes"});
  trace.add_name("layer(float*)");
  const auto config = trace.add_config(grid_of(66'000, 256));
  const auto path = trace.add_path("norm");
  add_exact(trace, {path, 1, read, written, read + written, {}}, config, 1'000'000, 200 * kUs);
  RangeRecord range = test::range(1, path, 900'000, 1'300'000);
  range.extras = {1, 0, PayloadType::u64, 100 * kMb, 0, {}};
  trace.put(range);
  return trace.found();
}

TEST_CASE(
    "a module that moves three times its declared bytes is found, one that moves slightly more is not") {
  const Finding amplified = required(declared(300 * kMb), "amplification");

  check_evidence(amplified, {{"dram_amplification", Approx(3)}});
  CHECK(*amplified.saving_ns == Approx(200'000 * 2.0 / 3).margin(1));  // the excess
  CHECK(find(declared(150 * kMb), "amplification") == nullptr);
  // Up to the 62.9 MB of the L2 may be write-backs of earlier work.
  CHECK(find(declared(150 * kMb, 110 * kMb), "amplification") == nullptr);
  CHECK(find(declared(150 * kMb, 120 * kMb), "amplification") != nullptr);
}

/// The transpose of 8192 x 4096 words, which takes `us` microseconds.
std::vector<Finding> transpose(double load_sectors, double store_sectors, double conflicts, TimeNs us) {
  MadeTrace trace;
  trace.put(MetricSetRecord{
      1,
      "memory",
      {"l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum", "l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum",
       "l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum", "l1tex__t_requests_pipe_lsu_mem_global_op_st.sum",
       "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_ld.sum",
       "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_st.sum"}});
  trace.add_name("void cases::(anonymous namespace)::transpose<32>(float*, void (*)(int))");
  const auto config = trace.add_config(grid_of(32'768, 256));
  const auto path = trace.add_path("transpose");
  constexpr std::uint64_t kBytes = 134'217'728;
  constexpr double kRequests = 1'048'576;
  const std::vector<double> values{load_sectors, kRequests, store_sectors, kRequests, conflicts, 0};
  add_exact(trace, {path, 1, kBytes, kBytes, 2 * kBytes, values}, config, 1'000'000, us * kUs);
  return trace.found();
}

TEST_CASE("the transpose through an unpadded tile has bank conflicts") {
  const auto found = transpose(4'194'304, 4'194'304, 32'505'856, 150);

  const Finding conflicts = required(found, "bank_conflicts");
  CHECK(conflicts.where == "transpose");
  CHECK(conflicts.kernel == "cases::(anonymous namespace)::transpose<32>");
  // 32.5 million cycles over 132 multiprocessors at 1.98 GHz are 124 us.
  check_evidence(conflicts, {{"share_of_kernel", Approx(124.4 / 150).epsilon(0.01)}});
  CHECK(find(found, "uncoalesced_stores") == nullptr);
}

TEST_CASE("loads of a sector for each thread are found with the share of their bytes that is used") {
  const Finding loads = required(transpose(33'554'432, 4'194'304, 0, 150), "uncoalesced_loads");

  check_evidence(loads, {{"sectors_per_request", 32},
                         {"bytes_used", Approx(0.125)},
                         {"requests_per_launch", Approx(1'048'576)}});
  CHECK(loads.why.find("use 12.5 % of the bytes that they move") != std::string::npos);
}

TEST_CASE("sixteen sectors per request are a coalesced warp of vectors") {
  CHECK(find(transpose(16'777'216, 16'777'216, 0, 80), "uncoalesced_loads") == nullptr);
}

/// A kernel with 448 bytes of local memory per thread; each launch moves `sectors` for it.
std::vector<Finding> spilling(double sectors) {
  MadeTrace trace;
  trace.put(MetricSetRecord{
      1,
      "memory",
      {"l1tex__t_sectors_pipe_lsu_mem_local_op_ld.sum", "l1tex__t_sectors_pipe_lsu_mem_local_op_st.sum"}});
  trace.add_name("fft(float2*)");
  LaunchConfigRecord grid = grid_of(66'000, 256, 64);
  grid.local_bytes_per_thread = 448;
  const auto config = trace.add_config(grid);
  const auto path = trace.add_path("fft");
  add_exact(trace, {path, 1, kMb, kMb, kMb, {sectors, 0}}, config, 1'000'000, 100 * kUs);
  return trace.found();
}

TEST_CASE("local memory that a kernel uses is found with its bytes, one that it never touches is not") {
  const Finding local = required(spilling(1'000'000), "local_memory");

  CHECK(local.severity == Severity::notable);
  check_evidence(local, {{"local_traffic_bytes", 32'000'000}});
  CHECK(find(spilling(0), "local_memory") == nullptr);
}

/// A kernel of eight warps per multiprocessor whose issue slots are `issue` percent busy.
std::vector<Finding> few_warps(double issue) {
  MadeTrace trace;
  trace.put(MetricSetRecord{1, "occupancy", {"sm__issue_active.avg.pct_of_peak_sustained_active"}});
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
  check_evidence(required(few_warps(15), "low_occupancy"), {{"issue_active", Approx(0.15)}});
  CHECK(find(few_warps(85), "low_occupancy") == nullptr);
}

}  // namespace
}  // namespace rangefinder
