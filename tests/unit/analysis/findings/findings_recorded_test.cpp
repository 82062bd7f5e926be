// SPDX-License-Identifier: Apache-2.0
//
// Runs recorded on an H200: what the rules find in them, and above all what they do not find.
#include "tests/catch.h"
#include "tests/unit/analysis/findings/findings_trace.h"

namespace rangefinder {
namespace {
using namespace test;

TEST_CASE("RT-DETR in PyTorch is launch-bound and unfused, and calls prevent a CUDA graph") {
  const auto found = found_in("hf_rtdetr_trace");

  CHECK(ids(found) == std::set<std::string>{"launch_bound", "unfused_chain"});
  REQUIRE(found.front().id == "launch_bound");
  check_evidence(found.front(),
                 {{"kernels_per_repetition", 1183}, {"share_of_time", Approx(0.698).margin(0.005)}});
  CHECK(text(found.front(), "also") ==
        "capture_obstacles (makes calls that prevent the capture of an iteration in a CUDA graph)");
  CHECK(found.front().code == "model = torch.compile(model, mode=\"reduce-overhead\")");
}

TEST_CASE("the chains of RT-DETR in PyTorch are its frozen batch normalisations and activations") {
  const Finding chain = required(found_in("hf_rtdetr_trace"), "unfused_chain");

  CHECK(chain.where == "step/model");
  REQUIRE(chain.modules.size() > 2);
  CHECK(chain.modules[0].where ==
        "step/model/backbone/model/encoder/stages/*/layers/*/layer/*/normalization");
  check_evidence(chain, {{"kernels", "add, rsqrt, MulFunctor x 2, add"}, {"chains", 1'939}});
}

TEST_CASE("sampling adds the findings that need bytes, and changes no other") {
  auto with_bytes = ids(found_in("hf_rtdetr_trace"));
  with_bytes.insert({"time_follows_bytes", "slower_than_bytes"});
  CHECK(ids(found_in("hf_rtdetr_sampled")) == with_bytes);
}

TEST_CASE("RT-DETR with this repository's kernels has a module that is slower than its bytes explain") {
  const Finding exact = required(found_in("rtdetr_exact"), "slower_than_bytes");

  CHECK(exact.where == "iteration/model/decoder/layers");
  check_evidence(exact, {{"level", "L2"}, {"slower", Approx(1.79).margin(0.02)}});
}

TEST_CASE("the product with most time in RT-DETR hardly uses its tensor cores") {
  const Finding low = required(found_in("rtdetr_rotated"), "low_tensor_use");

  CHECK(low.where == "iteration/model/backbone/model/encoder/stages/*/layers/*/layer/*");
  CHECK(low.kernel.find("WgmmaEngine<__half, 1, 1, 64>") != std::string::npos);
  check_evidence(low, {{"tensor_pipe", Approx(0.1077).margin(0.001)},
                       {"achieved_occupancy", Approx(0.097).margin(0.001)}});
}

TEST_CASE("no finding names its own rule as another symptom") {
  for (const Finding& finding : found_in("case_gemm_metrics", true)) {
    INFO(finding.id << " of " << finding.where);
    CHECK(text(finding, "also").find(finding.id + " (") == std::string::npos);
  }
}

TEST_CASE("a program whose streams wait for each other now and then, and that uses a pool, has no finding") {
  CHECK(found_in("multi_stream").empty());
}

TEST_CASE("gaps and waits that exact windows cause are no finding") {
  const auto found = ids(found_in("multi_stream_ranges"));

  CHECK(found.count("exposed_stream_wait") == 0);
  CHECK(found.count("launch_bound") == 0);
  CHECK(found.count("idle_in_range") == 0);
}

TEST_CASE("copies with pageable memory are found among pinned ones") {
  const auto found = found_in("copy_storm");

  check_evidence(required(found, "pageable_or_synchronous_copies"), {{"copies", 3}, {"pageable", 3}});
  CHECK(find(found, "idle_in_range") == nullptr);
}

TEST_CASE("a GPU that alternates with the host is idle in the host's range") {
  CHECK(required(found_in("managed_memory"), "idle_in_range").where == "managed_memory/host turn");
}

TEST_CASE("the line over bytes is that of the depth that explains most") {
  const Finding line = required(found_in("rtdetr_exact"), "time_follows_bytes");

  CHECK(text(line, "level") == "L2");
  check_evidence(line, {{"depth", 4}, {"modules", 19}, {"r", Approx(0.998).margin(0.002)}});
}

TEST_CASE("kernels that only move bytes are bound by DRAM, at its achieved bandwidth") {
  const auto found = found_in("known_bytes_exact");

  const Finding bound = required(found, "memory_bound"), line = required(found, "time_follows_bytes");
  CHECK(bound.where == "known_bytes/copy_kernel/1GiB");
  CHECK(ids(found) == std::set<std::string>{"memory_bound", "time_follows_bytes"});
  for (const Finding& one : found) CHECK(one.where != "known_bytes/setup");  // runs once
  check_evidence(bound, {{"dram_peak_share", Approx(0.833).margin(0.01)}});
  CHECK(number(line, "r") > 0.99);
  check_evidence(line, {{"effective_bytes_per_s", Approx(4.108e12).epsilon(0.001)}});
  CHECK(find(found, "amplification") == nullptr);  // the declared bytes are what it moves
}

TEST_CASE("replayed graphs after a clean capture are no finding") {
  CHECK(ids(found_in("graph_replay")).empty());
}

TEST_CASE("an NVTX test program with empty kernels has no finding") {
  CHECK(ids(found_in("nvtx_shapes")).empty());
}

}  // namespace
}  // namespace rangefinder
