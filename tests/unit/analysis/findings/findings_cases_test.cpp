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
  const auto found = found_in("case_transpose");

  // The recording has sectors of the naive transpose and of the tiled one, whose stores are coalesced.
  REQUIRE(count(found, "uncoalesced_stores") == 1);
  const Finding stores = required(found, "uncoalesced_stores");
  CHECK(stores.where == "transpose/naive");
  CHECK(stores.kernel == "rangefinder::cases::(anonymous namespace)::transpose_naive");
  check_evidence(
      stores,
      {{"sectors_per_request", Approx(32).epsilon(0.001)}, {"sectors_of_neighbours", 4}, {"launches", 30}});
  CHECK(static_cast<double>(*stores.saving_ns) == Approx(number(stores, "gpu_ns") * 7 / 8).epsilon(0.001));
}

TEST_CASE("the padded transpose has no bank conflicts and is bound by DRAM") {
  const auto found = found_in("case_transpose");

  // The recording has conflicts of the padded transpose only. All of them have coalesced loads.
  REQUIRE(ids(found) == Ids{"memory_bound", "uncoalesced_stores"});
  const Finding bound = required(found, "memory_bound");
  CHECK(bound.where == "transpose/padded");
  // 30 times 8192 x 4096 floats, read and written.
  check_evidence(bound, {{"dram_peak_share", Approx(0.763).margin(0.005)},
                         {"dram_bytes", Approx(30.0 * 2 * 8192 * 4096 * 4).epsilon(0.01)}});
}

TEST_CASE("copies of set-up are shown on request, after what a loop costs") {
  const auto found = found_in("case_transpose", true);

  REQUIRE(found.size() == 4);
  CHECK(found[1].id == "memory_bound");
  CHECK(found[2].id == "pageable_or_synchronous_copies");
  CHECK(found[2].outside);
  CHECK(found[2].severity == Severity::info);
  CHECK(found[2].title ==
        "`transpose` copies between host and GPU with pageable memory: up to 28.7 ms in set-up or warm-up");
}

TEST_CASE("matrix products in FP32 are found with the saving of tensor cores, and in their module") {
  const Finding math = required(found_in("case_gemm_fp32"), "fp32_math");

  CHECK(math.where == "gemm/fp32/*");
  CHECK(math.kernel.find("SimtEngine") != std::string::npos);
  check_evidence(math, {{"kernels", 40}, {"share_of_gpu_time", 1}, {"basis", "arithmetic"}});
  CHECK(static_cast<double>(*math.saving_ns) ==
        Approx(number(math, "gpu_ns") * (1 - 66.90816 / 535.26528)).epsilon(1e-4));
}

TEST_CASE("what a benchmark does around its products is not their fault") {
  // The host checks the products while the GPU waits, and copies them, in a range that is opened once.
  CHECK(found_in("case_gemm_tensor").empty());
  CHECK(required(found_in("case_gemm_tensor", true), "idle_in_range").where == "gemm");
}

TEST_CASE("a GPU with one loader is idle for the computed share") {
  const auto found = found_in("case_starved_one");

  REQUIRE(ids(found) == Ids{"idle_in_range", "pageable_or_synchronous_copies"});
  const Finding copies = required(found, "pageable_or_synchronous_copies");
  const double copy_ms = number(copies, "copy_ns") / number(copies, "copies") / 1e6;
  const Finding& idle = found.front();
  CHECK(idle.title ==
        "`iteration/load` leaves the GPU idle while the host works: up to 40.4 ms, 84 % of an iteration");
  CHECK(idle.severity == Severity::serious);
  const double share = idle_share(1, copy_ms);
  CHECK(*idle.share == Approx(share).margin(0.01));
  check_evidence(idle, {{"repetitions", 59}, {"gaps", 59}, {"share_of_time", Approx(share).margin(0.01)}});
  CHECK(static_cast<double>(*idle.saving_ns) == Approx(share * number(idle, "time_ns")).epsilon(0.02));
  constexpr double kMedianMs = 48.0;
  CHECK(static_cast<double>(*idle.saving_each_ns) / 1e6 == Approx(*idle.share * kMedianMs).margin(0.05));
}

TEST_CASE("batches from pageable memory are found, batches from pinned memory are not") {
  const Finding copies = required(found_in("case_starved_one"), "pageable_or_synchronous_copies");

  CHECK(copies.where == "iteration/copy");
  check_evidence(copies, {{"pageable", 59},  // the first iteration warms up
                          {"bytes", 59 * 39'321'600.0},
                          {"bytes_per_s", Approx(8.86e9).epsilon(0.01)}});
  CHECK(find(found_in("case_starved_pinned"), "pageable_or_synchronous_copies") == nullptr);
}

TEST_CASE("a GPU with eight loaders is idle for the smaller computed share") {
  const auto found = found_in("case_starved_pinned");

  // Its step is a kernel of one block, which is a wait and no grid that could be larger.
  REQUIRE(ids(found) == Ids{"idle_in_range"});
  CHECK(found[0].where == "iteration/load");
  // 39.3 MB at the 55 GB/s of pinned memory are 0.71 ms.
  CHECK(number(found[0], "share_of_time") == Approx(idle_share(8, 0.71)).margin(0.01));
}

TEST_CASE("unfused attention is found with the bytes of its scores, fused attention is not") {
  const auto found = found_in("case_attention");

  REQUIRE(ids(found) == Ids{"attention_scores", "tail_wave"});
  REQUIRE(count(found, "attention_scores") == 1);
  const Finding scores = required(found, "attention_scores");
  CHECK(scores.where == "attention/unfused");
  check_evidence(scores, {{"times", 9}, {"share_of_gpu_time", Approx(0.389).margin(0.005)}});
  // The case has 201,326,592 bytes of scores; the kernels between the products move them through the L2.
  CHECK(number(scores, "l2_bytes") > 9 * 2 * 201'326'592.0);
  // Its row withholds DRAM / declared: carry-over may exceed the declared bytes.
  CHECK(text(scores, "also").empty());
}

TEST_CASE("the last wave of unfused attention is half empty") {
  const Finding tail = required(found_in("case_attention"), "tail_wave");

  CHECK(tail.where == "attention/unfused");
  check_evidence(
      tail, {{"waves", Approx(1.4545).epsilon(0.001)}, {"last_wave_filled", Approx(0.4545).epsilon(0.001)}});
  CHECK(static_cast<double>(*tail.saving_ns) ==
        Approx((1 - 1.4545 / 2) * static_cast<double>(tail.of_ns)).epsilon(0.01));
}

TEST_CASE("RT-DETR with unfused attention writes scores in its decoder and its encoder") {
  const auto found = found_in("rtdetr_unfused");

  REQUIRE(count(found, "attention_scores") == 1);  // one change mends all
  const Finding attention = required(found, "attention_scores");
  CHECK(attention.where == "iteration/model");
  REQUIRE(attention.modules.size() == 2);
  CHECK(attention.modules[0].where == "iteration/model/decoder/layers/*/self_attn");
  CHECK(attention.modules[1].where == "iteration/model/encoder/aifi/*/layers/*/self_attn");
  check_evidence(attention, {{"times", 16}});  // 4 iterations of 3 layers and one
  const auto all = static_cast<std::uint64_t>(number(attention, "attention_ns"));
  CHECK(all > static_cast<std::uint64_t>(number(attention, "between_ns")));
  CHECK(attention.saving_ns == all * 3 / 4);  // of 3 iterations
  // The warm-up has them too.
  CHECK(count(found_in("rtdetr_unfused", true), "attention_scores") == 2);
}

TEST_CASE("RT-DETR with fused attention, measured with two alternating metric sets, writes no scores") {
  CHECK(find(found_in("rtdetr_rotated"), "attention_scores") == nullptr);
}

TEST_CASE(
    "a decoder that replays a graph is below the DRAM peak, by layer, and has chains of short kernels") {
  const auto found = found_in("decoder_sampled");

  REQUIRE(found.front().id == "graph_below_peak");
  CHECK(found.front().where == "decode/layer *");
  check_evidence(found.front(), {{"modules", 24}, {"dram_peak_share", Approx(0.529).margin(0.01)}});
  const Finding chains = required(found, "small_graph_kernels");
  CHECK(chains.where == "decode/layer *");
  check_evidence(chains, {{"chains", 20 * 24 * 4 - 1}, {"kernels", 20 * 24 * 8 - 2}});
  CHECK(find(found_in("decoder_exact"), "graph_below_peak") == nullptr);  // bytes of whole replays
}

}  // namespace
}  // namespace rangefinder
