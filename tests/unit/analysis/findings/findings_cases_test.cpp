// SPDX-License-Identifier: Apache-2.0
//
// The cases of workloads/cases, recorded on an H200. Each shows the finding that it was made for, and its
// better version does not.
#include <algorithm>

#include "tests/catch.h"
#include "tests/unit/analysis/findings/findings_trace.h"

namespace rangefinder {
namespace {
using namespace test;

using Ids = std::set<std::string>;

std::ptrdiff_t count(const std::vector<Finding>& findings, std::string_view id) {
  return std::count_if(findings.begin(), findings.end(), [id](const Finding& f) { return f.id == id; });
}

/// Idle share of the time: per step the GPU computes 3 ms and copies `copy_ms`; `workers` load 8 images of 6
/// ms.
double idle_share(double workers, double copy_ms) {
  return 1 - (3 + copy_ms) / (8 * 6 / workers);
}

TEST_CASE("only the naive transpose has uncoalesced stores, 32 sectors instead of 4") {
  const auto found = recorded("case_transpose");

  // The recording has sectors of the naive transpose and of the tiled one, whose stores are coalesced.
  REQUIRE(count(found, "uncoalesced_stores") == 1);
  const Finding stores = required(found, "uncoalesced_stores");
  CHECK(stores.where == "rangefinder::cases::(anonymous namespace)::transpose_naive");
  check_evidence(
      stores,
      {{"sectors_per_request", Approx(32).epsilon(0.001)}, {"sectors_of_neighbours", 4}, {"launches", 30}});
  CHECK(static_cast<double>(*stores.saving_ns) == Approx(number(stores, "gpu_ns") * 7 / 8).epsilon(0.001));
}

TEST_CASE("the padded transpose has no bank conflicts and is bound by DRAM") {
  const auto found = recorded("case_transpose");

  // The recording has conflicts of the padded transpose only. All of them have coalesced loads.
  REQUIRE(ids(found) == Ids{"memory_bound", "pageable_or_synchronous_copies", "uncoalesced_stores"});
  REQUIRE(count(found, "memory_bound") == 1);
  const Finding bound = required(found, "memory_bound");
  CHECK(bound.where == "transpose/padded");
  // 30 times 8192 x 4096 floats, read and written.
  check_evidence(bound, {{"dram_peak_share", Approx(0.763).margin(0.005)},
                         {"dram_bytes", Approx(30.0 * 2 * 8192 * 4096 * 4).epsilon(0.01)}});
}

TEST_CASE("matrix products in FP32 are found with the saving of tensor cores") {
  const Finding math = required(recorded("case_gemm_fp32"), "fp32_math");

  CHECK(math.where.find("SimtEngine") != std::string::npos);
  check_evidence(math, {{"kernels", 40}, {"share_of_gpu_time", 1}, {"basis", "arithmetic"}});
  CHECK(static_cast<double>(*math.saving_ns) ==
        Approx(number(math, "gpu_ns") * (1 - 66.90816 / 535.26528)).epsilon(1e-4));
}

TEST_CASE("a matrix product of 1024 cubed is smaller than one wave of an H200") {
  const Finding grid = required(recorded("case_gemm_fp32"), "grid_under_one_wave");

  check_evidence(
      grid,
      {{"under_one_wave_share", 1}, {"launches", 40}, {"heaviest_blocks", 128}, {"multiprocessors", 132}});
  CHECK_FALSE(grid.saving_ns);
}

TEST_CASE("large matrix products on tensor cores are neither FP32 nor under one wave") {
  const auto found = recorded("case_gemm_tensor");

  // Most of the time is at 8192 cubed. The host checks the products while the GPU waits, and copies them
  // into pageable memory.
  REQUIRE(ids(found) == Ids{"idle_in_range", "pageable_or_synchronous_copies"});
  CHECK(find(found, "idle_in_range")->where == "gemm");
}

TEST_CASE("a GPU with one loader is idle for the computed share") {
  const auto found = recorded("case_starved_one");

  REQUIRE(ids(found) == Ids{"idle_in_range", "pageable_or_synchronous_copies", "grid_under_one_wave"});
  const Finding copies = required(found, "pageable_or_synchronous_copies");
  const double copy_ms = number(copies, "copy_ns") / number(copies, "copies") / 1e6;
  REQUIRE(found.front().id == "idle_in_range");
  const Finding& idle = found.front();
  CHECK(idle.where == "iteration/load");
  CHECK(idle.severity == Severity::serious);
  const double share = idle_share(1, copy_ms);
  check_evidence(idle, {{"repetitions", 59}, {"gaps", 59}, {"share_of_time", Approx(share).margin(0.01)}});
  CHECK(static_cast<double>(*idle.saving_ns) == Approx(share * number(idle, "time_ns")).epsilon(0.02));
}

TEST_CASE("batches from pageable memory are found, batches from pinned memory are not") {
  const Finding copies = required(recorded("case_starved_one"), "pageable_or_synchronous_copies");

  check_evidence(copies, {{"pageable", 59},  // the first iteration warms up
                          {"bytes", 59 * 39'321'600.0},
                          {"bytes_per_s", Approx(8.86e9).epsilon(0.01)}});
  CHECK(find(recorded("case_starved_pinned"), "pageable_or_synchronous_copies") == nullptr);
}

TEST_CASE("a GPU with eight loaders is idle for the smaller computed share") {
  const auto found = recorded("case_starved_pinned");

  REQUIRE(ids(found) == Ids{"idle_in_range", "grid_under_one_wave"});
  const Finding idle = required(found, "idle_in_range");
  CHECK(idle.where == "iteration/load");
  // 39.3 MB at the 55 GB/s of pinned memory are 0.71 ms.
  CHECK(number(idle, "share_of_time") == Approx(idle_share(8, 0.71)).margin(0.01));
}

TEST_CASE("unfused attention is found with the bytes of its scores, fused attention is not") {
  const auto found = recorded("case_attention");

  REQUIRE(ids(found) == Ids{"amplification", "attention_scores", "pageable_or_synchronous_copies"});
  REQUIRE(count(found, "attention_scores") == 1);
  const Finding scores = required(found, "attention_scores");
  CHECK(scores.where == "attention/unfused");
  check_evidence(scores, {{"times", 10}, {"share_of_gpu_time", Approx(0.348).margin(0.005)}});
  // The case has 201,326,592 bytes of scores; the kernels between the products move them through the L2.
  CHECK(number(scores, "l2_bytes") > 10 * 2 * 201'326'592.0);
}

TEST_CASE("unfused attention moves many times its declared bytes, the fused version fewer than declared") {
  const auto found = recorded("case_attention");

  REQUIRE(count(found, "amplification") == 1);
  const Finding bytes = required(found, "amplification");
  CHECK(bytes.where == "attention/unfused");
  check_evidence(bytes,
                 {{"declared_bytes", 10 * 25'165'824.0}, {"dram_amplification", Approx(49.1).margin(0.1)}});
}

TEST_CASE("RT-DETR with unfused attention writes scores in its decoder and its encoder") {
  const auto found = recorded("rtdetr_unfused");

  REQUIRE(ids(found) == Ids{"attention_scores", "grid_under_one_wave", "time_follows_bytes"});
  REQUIRE(count(found, "attention_scores") == 3);
  CHECK(found[0].where == "iteration/model/decoder/layers/*/self_attn");
  check_evidence(found[0], {{"times", 12}, {"between_ns", 85'985}});  // 4 iterations of 3 layers
  CHECK(found[0].saving_ns == 85'985u);                               // scale and softmax
  CHECK(found[1].where == "warmup/model/decoder/layers/*/self_attn");
  CHECK(number(found[1], "times") == 6);
  CHECK(found[2].where == "iteration/model/encoder/aifi/*/layers/*/self_attn");
  CHECK(number(found[2], "times") == 4);
}

TEST_CASE("RT-DETR with fused attention, measured with two alternating metric sets, writes no scores") {
  CHECK(ids(recorded("rtdetr_rotated")) == Ids{"grid_under_one_wave", "time_follows_bytes"});
}

}  // namespace
}  // namespace rangefinder
