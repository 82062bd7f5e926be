// SPDX-License-Identifier: Apache-2.0
//
// Rules about what the hardware counted in a kernel: stalls, lanes, pipes, throughput. The traces are
// synthetic.
#include <fstream>
#include <iterator>

#include "tests/catch.h"
#include "tests/unit/analysis/findings/findings_trace.h"
#include "tools/analysis/findings/rules.h"

namespace rangefinder {
namespace {
using namespace test;

constexpr int kLaunches = 10;
constexpr TimeNs kNs = 200'000;  // of a launch
constexpr std::uint64_t kMb = 1'000'000;
constexpr const char* kTensorGemm =
    "void cutlass::Kernel2<cutlass_80_tensorop_s1688gemm_128x128_16x5_nn_align4>(Params)";

/// A metric set, and its values in each launch.
struct Counted {
  std::vector<std::string> metrics = {};
  std::vector<double> values = {};
  std::uint64_t dram_bytes = kMb;  // read

  Counted& add(const std::string& metric, double value) {
    metrics.push_back(metric);
    values.push_back(value);
    return *this;
  }
  /// The only input of a named metric.
  Counted& named(const char* name, double value) {
    return add(find_named_metric(name)->inputs.front().name, value);
  }
  /// `percent` of the warps' time in this stall, the rest in issued instructions.
  Counted& stalled(const char* name, double percent) {
    const std::string stall = find_named_metric(name)->inputs.front().name,
                      selected = find_named_metric("stall_selected")->inputs.front().name;
    for (const MetricInput& input : find_named_metric(name)->under)
      add(input.name, input.name == stall ? percent : input.name == selected ? 100 - percent : 0);
    return *this;
  }
  /// The first part of a throughput reaches `percent` of its peak, the others none.
  Counted& throughput(const char* name, double percent) {
    constexpr double kPerSecond = 1e12;
    for (const MetricInput& part : find_named_metric(name)->inputs) {
      add(part.name + std::string(".sum"), percent / 100 * kPerSecond * static_cast<double>(kNs) * 1e-9);
      add(part.name + std::string(kPeakRate), kPerSecond);
      percent = 0;
    }
    return *this;
  }
};

std::vector<Finding> run(const char* kernel, const Counted& counted,
                         const LaunchConfigRecord& grid = grid_of(66'000, 256)) {
  MadeTrace trace;
  trace.put(MetricSetRecord{1, "made", counted.metrics});
  trace.add_name(kernel);
  const auto config = trace.add_config(grid);
  const auto path = trace.add_path("layer");
  for (int i = 0; i < kLaunches; ++i)
    add_exact(trace, {path, 1, counted.dram_bytes, 0, kMb, counted.values}, config, 1'000'000 + i * 300'000,
              kNs);
  return trace.found();
}

std::vector<Finding> stalled(const char* name, double percent, double memory, double compute = 10) {
  return run("gather(float*)", Counted()
                                   .stalled(name, percent)
                                   .throughput("memory_throughput", memory)
                                   .throughput("compute_throughput", compute));
}

TEST_CASE("a stall that takes most of the warps' time is found with its fix, while no unit is busy") {
  const Finding stall = required(stalled("stall_long_scoreboard", 63, 31), "stalls");

  CHECK(stall.where == "layer");
  CHECK(stall.effect == "waits for loads from memory in 63.0 % of its warps' time");
  CHECK(stall.why.find("Compute reaches 10.0 % and memory 31.0 % of a peak") != std::string::npos);
  CHECK(stall.next_step.find("more bytes in flight") != std::string::npos);
  CHECK_FALSE(stall.saving_ns);
  CHECK(text(stall, "stall") == "Long Scoreboard");
  check_evidence(stall, {{"stall_share", Approx(0.63)}, {"memory_throughput", Approx(0.31)}});
}

TEST_CASE("a stall beside a busy unit, a small one, and one of arithmetic are no finding") {
  const auto silent = [](const char* name, double percent, double memory, double compute) {
    return find(stalled(name, percent, memory, compute), "stalls") == nullptr;
  };

  CHECK(silent("stall_long_scoreboard", 63, 61, 10));
  CHECK(silent("stall_long_scoreboard", 63, 10, 61));
  CHECK(silent("stall_long_scoreboard", 29, 10, 10));
  CHECK(silent("stall_math_pipe_throttle", 63, 10, 10));
  CHECK(silent("stall_not_selected", 63, 10, 10));
  CHECK_FALSE(silent("stall_barrier", 31, 59, 59));
}

TEST_CASE("a kernel near the DRAM's peak by its bytes has no stall, measured throughput or not") {
  Counted counted = Counted().stalled("stall_long_scoreboard", 63);
  counted.dram_bytes = 700 * kMb;  // 3.5 of 4.8 TB/s
  const auto found = run("copy(float*)", counted);

  CHECK(find(found, "stalls") == nullptr);
  CHECK(text(required(found, "memory_bound"), "also").empty());
}

TEST_CASE("stalls of a grid under half a wave are those of a small problem") {
  const Counted counted = Counted().stalled("stall_barrier", 63);

  CHECK(find(run("scan(float*)", counted, grid_of(66, 256)), "stalls") == nullptr);
  const Finding stall = required(run("scan(float*)", counted), "stalls");
  CHECK(stall.why.find("was not measured: add --metrics speed-of-light") != std::string::npos);
}

TEST_CASE("every stall has a fix, but those that are no wait or have many reasons") {
  std::set<std::string> without;
  for (const NamedMetric& metric : named_metrics()) {
    if (metric.topic == MetricTopic::stalls && find_stall_advice(metric.name) == nullptr)
      without.insert(metric.name);
  }

  CHECK(without == std::set<std::string>{"stall_selected", "stall_not_selected", "stall_math_pipe_throttle",
                                         "stall_misc"});
  for (const StallAdvice& advice : stall_advice()) CHECK(find_named_metric(advice.metric) != nullptr);
}

TEST_CASE("docs/findings.md has the table of stalls and their fixes") {
  std::ifstream file(RANGEFINDER_DOCS "/findings.md");
  const std::string docs((std::istreambuf_iterator<char>(file)), {});

  for (const StallAdvice& advice : stall_advice()) {
    const std::string row = std::string("| ") + find_named_metric(advice.metric)->title + " | " +
                            advice.waits + " | " + advice.fix + " |\n";
    CAPTURE(row);
    CHECK(docs.find(row) != std::string::npos);
  }
}

TEST_CASE("a stall that scattered loads explain is part of their finding") {
  const Counted counted = Counted()
                              .stalled("stall_long_scoreboard", 63)
                              .add("l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum", 32'000)
                              .add("l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum", 1'000);
  const auto found = run("gather(float*)", counted);

  CHECK(find(found, "stalls") == nullptr);
  CHECK(text(required(found, "uncoalesced_loads"), "also").find("stalls (waits for loads") !=
        std::string::npos);
}

TEST_CASE("sectors of one grid and requests of another are no ratio of their kernel") {
  /// A launch of another grid for `ns` has only its sectors measured.
  const auto gather = [](std::uint32_t blocks_of_requests, TimeNs ns = 1) {
    MadeTrace trace;
    trace.put(MetricSetRecord{1, "memory", {"l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum"}});
    trace.put(MetricSetRecord{2, "memory/2", {"l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum"}});
    trace.add_name("gather(float*)");
    const auto config = trace.add_config(grid_of(66'000, 256));
    const auto path = trace.add_path("layer");
    add_exact(trace, {path, 1, kMb, 0, kMb, {32'000}, 1, 1024}, config, 1'000'000, kNs);
    add_exact(trace, {path, 1, kMb, 0, kMb, {1'000}, 2, blocks_of_requests}, config, 1'300'000, kNs);
    add_exact(trace, {path, 1, kMb, 0, kMb, {32'000}, 1, 7}, config, 1'600'000, ns);
    return trace.found();
  };

  CHECK(find(gather(1024), "uncoalesced_loads") != nullptr);
  CHECK(find(gather(64), "uncoalesced_loads") == nullptr);
  CHECK(find(gather(1024, kNs), "uncoalesced_loads") == nullptr);
}

Counted active(double threads) {
  return Counted()
      .add("smsp__thread_inst_executed.sum", threads * 1'000)
      .add("smsp__inst_executed.sum", 1'000);
}

TEST_CASE("warps with few active threads are found with the idle share of their lanes") {
  const Finding lanes = required(run("branches(int*)", active(12)), "divergence");

  CHECK(lanes.effect == "leaves 62.5 % of the lanes of its warps idle");
  CHECK(*lanes.saving_ns == Approx(0.625 * kLaunches * kNs));
  CHECK(lanes.next_step.find("same branch") != std::string::npos);
  check_evidence(lanes, {{"threads_per_instruction", 12}, {"idle_lanes", Approx(0.625)}});
}

TEST_CASE("warps that are nearly full, and kernels that memory limits, do not diverge") {
  CHECK(find(run("branches(int*)", active(24)), "divergence") == nullptr);
  CHECK(find(run("branches(int*)", active(12).throughput("memory_throughput", 61)), "divergence") == nullptr);
  CHECK(find(run("branches(int*)", active(12).throughput("memory_throughput", 59)), "divergence") != nullptr);
}

TEST_CASE("blocks of less than a warp are the reason for idle lanes, not branches") {
  const Finding lanes = required(run("tiny(int*)", active(16), grid_of(66'000, 16)), "divergence");

  CHECK(lanes.next_step == "choose blocks of a multiple of 32 threads");
  check_evidence(lanes, {{"threads_per_warp", 16}});
}

Counted pipes(double tensor, double fma) {
  return Counted().named("tensor_pipe", tensor).named("fp32_pipe", fma);
}

TEST_CASE("products on the FP32 pipe are found by their pipes, whatever their name says") {
  const Finding math = required(run("conv2d_direct(float*)", pipes(0, 62)), "fp32_math");

  check_evidence(math, {{"tensor_pipe", 0}, {"fp32_pipe", Approx(0.62)}});
  CHECK(find(run("conv2d_direct(float*)", pipes(0, 12)), "fp32_math") == nullptr);
  CHECK(find(run("n_body(float*)", pipes(0, 62)), "fp32_math") == nullptr);  // not for tensor cores
  CHECK(find(run("ampere_sgemm_128x64_nn", pipes(0, 12)), "fp32_math") != nullptr);
  CHECK(find(run("ampere_sgemm_128x64_nn", pipes(40, 12)), "fp32_math") == nullptr);
}

TEST_CASE("the time of a product's DRAM bytes stays, on tensor cores as in FP32") {
  Counted counted = pipes(0, 62);
  counted.dram_bytes = 481'430'400;  // half of what the DRAM moves in a launch
  const Finding math = required(run("ampere_sgemm_128x64_nn", counted), "fp32_math");

  check_evidence(math, {{"dram_peak_share", Approx(0.5)}});
  CHECK(*math.saving_ns == Approx(0.5 * kLaunches * kNs).epsilon(0.001));
}

TEST_CASE("a product that hardly uses its tensor cores is found with the unit that holds it") {
  const Finding low =
      required(run(kTensorGemm, pipes(12, 5).throughput("memory_throughput", 75)), "low_tensor_use");

  CHECK(low.effect == "uses its tensor cores in 12.0 % of the cycles");
  CHECK(low.why.find("DRAM holds it, at 75.0 % of its peak") != std::string::npos);
  check_evidence(low, {{"tensor_pipe", Approx(0.12)}, {"memory_throughput", Approx(0.75)}});
  CHECK(find(run(kTensorGemm, pipes(21, 5)), "low_tensor_use") == nullptr);
  CHECK(find(run("transpose(float*)", pipes(0, 5)), "low_tensor_use") == nullptr);
}

TEST_CASE("a kernel with several configurations is one finding about all of them") {
  MadeTrace trace;
  const Counted counted = pipes(12, 5);
  trace.put(MetricSetRecord{1, "made", counted.metrics});
  trace.add_name(kTensorGemm);
  const auto path = trace.add_path("layer");
  for (int i = 0; i < 2; ++i) {
    const auto config = trace.add_config(grid_of(66'000 + static_cast<std::uint32_t>(i), 256));
    add_exact(trace, {path, 1, kMb, kMb, kMb, counted.values}, config, 1'000'000 + i * 300'000, kNs);
  }
  const Finding low = required(trace.found(), "low_tensor_use");

  CHECK(low.of_ns == 2 * kNs);
  CHECK(text(low, "also").empty());
}

TEST_CASE("without a busy unit, the stall of a product is what holds it, and one finding") {
  const auto found = run(kTensorGemm, pipes(12, 5).stalled("stall_barrier", 45));

  const Finding low = required(found, "low_tensor_use");
  CHECK(low.why.find("Its warps wait at barriers in 45.0 % of their time (Barrier)") != std::string::npos);
  CHECK(low.next_step.find("smaller blocks") != std::string::npos);
  CHECK(text(low, "also").find("stalls (") != std::string::npos);
  CHECK(required(run(kTensorGemm, pipes(12, 5)), "low_tensor_use").code ==
        "rangefinder run --counters exact --metrics speed-of-light,stalls -- PROGRAM");
}

TEST_CASE("a product of one block is too small for the GPU, by its throughput and occupancy") {
  const Counted counted = Counted().throughput("compute_throughput", 0.14).named("achieved_occupancy", 6.1);
  const Finding small = required(run("gemm_tile(float*)", counted, grid_of(1, 128)), "grid_under_one_wave");

  CHECK(small.why.starts_with("1 of 132 multiprocessors has a block of `gemm_tile`"));
  CHECK(small.why.find("Compute reaches 0.14 % of its peak, and the achieved occupancy is 6.10 %") !=
        std::string::npos);
  check_evidence(small, {{"compute_throughput", Approx(0.0014)}, {"achieved_occupancy", Approx(0.061)}});
  CHECK(find(run("scan(float*)", counted, grid_of(1, 128)), "grid_under_one_wave") == nullptr);
}

TEST_CASE("a short program without ranges has small grids only where its throughput was measured") {
  const auto short_run = [](const Counted& counted) {
    MadeTrace trace;
    trace.put(MetricSetRecord{1, "made", counted.metrics});
    trace.add_name("gemm_tile(float*)");
    add_exact(trace, {0, 1, 0, 0, 0, counted.values}, trace.add_config(grid_of(2, 128)), 1'000'000, kNs);
    return trace.found();
  };

  const Finding small =
      required(short_run(Counted().throughput("compute_throughput", 0.14)), "grid_under_one_wave");
  CHECK(small.where.empty());
  CHECK(small.effect.starts_with("`gemm_tile` fills 0.1 % of the GPU"));
  CHECK(find(short_run(pipes(0, 1)), "grid_under_one_wave") == nullptr);
}

}  // namespace
}  // namespace rangefinder
