// SPDX-License-Identifier: Apache-2.0
//
// All recordings at once: the finding that each must have first, the rules that each fires, and what must
// hold of every finding.
#include <fstream>
#include <iterator>
#include <map>
#include <nlohmann/json.hpp>

#include "profiler/base/iteration_names.h"
#include "tests/catch.h"
#include "tests/unit/analysis/findings/findings_trace.h"
#include "tests/unit/analysis/queries/section_run.h"
#include "tools/analysis/findings/finding_context.h"

namespace rangefinder {
namespace {
using namespace test;

struct First {
  const char *recording, *id, *where;  ///< no id: no finding
};
const std::vector<First> kFirst{
    {"case_attention", "attention_scores", "attention/unfused"},
    {"case_bert_amp", "launch_bound", "step"},
    {"case_bert_fp32", "fp32_math", "step"},
    {"case_gemm_1024_fp32", "fp32_math", "gemm/fp32/*"},
    {"case_gemm_1024_tf32", "", ""},
    {"case_gemm_fp32", "fp32_math", "gemm/fp32/*"},
    {"case_gemm_metrics", "fp32_math", "gemm/fp32"},
    {"case_gemm_small", "grid_under_one_wave", "gemm/fp32/32x64x16"},
    {"case_gemm_tensor", "", ""},
    {"case_overlap", "memory_bound", "overlap/copies/gemm"},
    {"case_starved_one", "idle_in_range", "iteration/load"},
    {"case_starved_pinned", "idle_in_range", "iteration/load"},
    {"case_transpose", "uncoalesced_stores", "transpose/naive"},
    {"case_transpose_metrics", "uncoalesced_stores", "transpose/naive"},
    {"compiled_default", "launch_bound", ""},
    {"compiled_graphs", "", ""},
    {"compiled_late", "idle_in_range", ""},
    {"compiled_modules", "idle_in_range", "step"},
    {"compiled_origins", "idle_in_range", "step"},
    {"copy_storm", "pageable_or_synchronous_copies", "copy_storm/d2h_pageable"},
    {"cpu_limited", "idle_in_range", "step"},
    {"decoder_exact", "small_graph_kernels", "decode/layer *"},
    {"decoder_sampled", "graph_below_peak", "decode/layer *"},
    {"eval_rtdetr_exact", "unfused_chain", "iterations*/model"},
    {"gemm_power", "power_capped", ""},
    {"gpm_steps", "", ""},
    {"graph_kinds_exact", "", ""},
    {"graph_broken", "unsafe_during_capture", "culprit"},
    {"graph_device_whole", "", ""},
    {"graph_kinds_off", "", ""},
    {"graph_kinds_sampled", "", ""},
    {"graph_replay", "", ""},
    {"hazards_exact", "", ""},
    {"hf_rtdetr_sampled", "launch_bound", "step"},
    {"hf_rtdetr_trace", "launch_bound", "step"},
    {"jax_scan", "memory_bound", "jit_train_step/layers/loop_dynamic_update_slice_fusion"},
    {"jax_scopes", "compilation", ""},
    {"jax_train", "graph_below_peak", "jit_train_step/(compiled: no scope)/fusion"},
    {"known_bytes_exact", "memory_bound", "known_bytes/copy_kernel/1GiB"},
    {"managed_memory", "idle_in_range", "managed_memory/host turn"},
    {"multi_stream", "", ""},
    {"multi_stream_ranges", "", ""},
    {"nvtx_shapes", "", ""},
    {"resnet_workers_0", "idle_in_range", "step/dataloader"},
    {"resnet_workers_1", "idle_in_range", "step/dataloader"},
    {"resnet_workers_8", "pageable_or_synchronous_copies", "step/H2D"},
    {"rtdetr_exact", "slower_than_bytes", "iteration/model/decoder/layers"},
    {"rtdetr_graph", "slower_than_bytes", "iteration/model/decoder/query_pos_head/layers/*"},
    {"rtdetr_graph_b8", "graph_below_peak",
     "iteration/model/backbone/model/encoder/stages/*/layers/*/layer/*"},
    {"rtdetr_r18", "", ""},
    {"rtdetr_r18_graph", "", ""},
    {"rtdetr_r18_unfused", "attention_scores", "iteration/model"},
    {"rtdetr_rotated", "slower_than_bytes", "iteration/model/decoder/layers"},
    {"rtdetr_sampled", "launch_bound", "iteration"},
    {"rtdetr_unfused", "slower_than_bytes", "iteration/model/decoder/layers"},
};

/// With those of set-up; each recording is read once.
const std::vector<Finding>& all_of(std::string_view recording) {
  static std::map<std::string, std::vector<Finding>> known;
  const auto [at, is_new] = known.try_emplace(std::string(recording));
  if (is_new) at->second = found_in(at->first, true);
  return at->second;
}

TEST_CASE("each recording has the finding first that an engineer would name") {
  for (const First& expected : kFirst) {
    auto found = all_of(expected.recording);
    std::erase_if(found, [](const Finding& finding) { return finding.outside; });
    INFO(expected.recording << (found.empty() ? "" : ": " + found.front().title));
    CHECK((found.empty() ? "" : found.front().id) == expected.id);
    CHECK((found.empty() ? "" : found.front().where) == expected.where);
  }
}

/// Rules that fired, those merged into another finding included.
std::set<std::string> fired(const std::string& recording) {
  std::set<std::string> out;
  for (const Finding& finding : all_of(recording)) {
    out.insert(finding.id);
    const std::string also = text(finding, "also");
    for (const Rule& rule : rule_table()) {
      if (also.find(std::string(rule.id) + " (") != std::string::npos) out.insert(std::string(rule.id));
    }
  }
  return out;
}

TEST_CASE("a rule fires on the recordings of its row; without any it fires on none") {
  std::map<std::string, std::set<std::string>> firing;  // recordings, by rule
  for (const First& one : kFirst) {
    for (const std::string& id : fired(one.recording)) firing[id].insert(one.recording);
  }

  for (const Rule& rule : rule_table()) {
    const std::set<std::string>& found = firing[std::string(rule.id)];
    for (const std::string_view recording : rule.recordings) {
      INFO(rule.id << " on " << recording);
      CHECK(found.count(std::string(recording)) == 1);
    }
    INFO(rule.id << " fires on " << (found.empty() ? "none" : *found.begin()));
    CHECK(rule.experimental() == found.empty());
  }
}

TEST_CASE("docs/findings.md has each rule in the section of its topic") {
  std::ifstream file(RANGEFINDER_DOCS "/findings.md");
  const std::string docs((std::istreambuf_iterator<char>(file)), {});

  for (const Rule& rule : rule_table()) {
    INFO(rule.id);
    const std::size_t section = docs.find("\n## " + std::string(rule.heading()) + "\n");
    REQUIRE(section != std::string::npos);
    const std::size_t row = docs.find("`" + std::string(rule.id) + "`", section);
    CHECK(row < docs.find("\n## ", section + 1));
    const std::string line = docs.substr(docs.rfind('\n', row) + 1, 3);
    CHECK(line == "| `");
  }
}

TEST_CASE("the table of recordings has all of them") {
  std::set<std::string> folders, table;
  for (const auto& entry : std::filesystem::directory_iterator(RANGEFINDER_TEST_GOLDEN))
    folders.insert(entry.path().filename().string());
  for (const First& one : kFirst) table.insert(one.recording);
  CHECK(table == folders);
}

/// GPU time of the modules that `where` stands for; empty: of all.
std::uint64_t module_ns(const TraceTotals& trace, const std::string& where) {
  std::uint64_t sum = 0;
  for (const PathTotals& row : trace.rows()) {
    const bool outermost = row.path != 0 && trace.parent_of(row.path) == 0;
    if (where.empty() ? outermost : row.path != 0 && numbers_folded(trace.path_text(row.path)) == where)
      sum += row.gpu_ns;
  }
  return sum;
}

void check_time(const TraceTotals& trace, const Iterations& iterations, const Finding& finding) {
  if (!finding.saving_ns) return;
  const auto [first, last] = trace.totals.gpu_span();
  CHECK(*finding.saving_ns <= finding.of_ns);
  CHECK(finding.share.value_or(0) <= 1);
  const bool of_gpu = !rule_named(finding.id).of_host();
  if (of_gpu) CHECK(*finding.saving_ns <= module_ns(trace, finding.where));
  if (!of_gpu && !finding.saving_each_ns) CHECK(*finding.saving_ns <= elapsed_ns(first, last));
  if (!finding.saving_each_ns || iterations.instances.empty()) return;
  std::uint64_t longest_ns = 0;
  // Until the GPU's work of the next one may begin: launches may run ahead of it.
  for (std::size_t i = 0; i < iterations.instances.size(); ++i) {
    const Iteration& one = iterations.instances[i];
    const bool last_one = i + 1 == iterations.instances.size();
    const TimeNs next = last_one ? last : iterations.instances[i + 1].start_ns;
    longest_ns = std::max(longest_ns, elapsed_ns(one.start_ns, std::max(one.end_ns, next)));
  }
  CHECK(*finding.saving_each_ns <= longest_ns);
}

TEST_CASE("no saving exceeds the time that it is about: the span, an iteration, the module") {
  for (const First& one : kFirst) {
    const auto files = open_trace_folder(std::filesystem::path(RANGEFINDER_TEST_GOLDEN) / one.recording);
    const WholeTrace whole(files, {});
    const TraceTotals& trace = whole.totals();
    const Iterations& iterations = whole.iterations();
    for (const Finding& finding : all_of(one.recording)) {
      INFO(one.recording << ": " << finding.title);
      check_time(trace, iterations, finding);
    }
  }
}

TEST_CASE("every finding is a complete statement with evidence and a next step, the most valuable first") {
  for (const First& one : kFirst) {
    const auto& found = all_of(one.recording);
    std::set<std::pair<std::string, Cause>> causes;
    for (std::size_t i = 0; i < found.size(); ++i) {
      const Finding& finding = found[i];
      INFO(one.recording << ": " << finding.title);
      CHECK((finding.where.empty() || finding.title.starts_with("`" + finding.where + "` ")));
      CHECK((!finding.saving_ns || finding.title.find(": up to ") != std::string::npos));
      CHECK(finding.why.ends_with("."));
      CHECK(finding.evidence.size() >= 3);
      CHECK_FALSE(finding.next_step.empty());
      CHECK_FALSE(finding.next_step.ends_with("."));
      if (!finding.outside) CHECK(causes.emplace(finding.where, rule_named(finding.id).cause).second);
      const bool same_part = i > 0 && found[i - 1].outside == finding.outside;
      if (same_part) CHECK(found[i - 1].saving_ns.value_or(0) >= finding.saving_ns.value_or(0));
      if (i > 0) CHECK((finding.outside || !found[i - 1].outside));
    }
  }
}

TEST_CASE("rules that lack data say what they need") {
  const SectionRun run("findings", std::filesystem::path(RANGEFINDER_TEST_GOLDEN) / "hf_rtdetr_trace");
  const auto json = run.made->json(run.input());

  std::map<std::string, std::string> needs;
  for (const auto& one : json["cannot_tell"]) needs[one["id"]] = one["needs"];
  CHECK(needs["uncoalesced_loads"] == "--counters exact --metrics memory");
  CHECK(needs["low_tensor_use"] == "--counters exact --metrics pipes");
  CHECK(needs["divergence"] == "--counters exact --metrics occupancy");
  CHECK(needs["stalls"] == "--counters exact --metrics stalls");
  CHECK(needs["memory_bound"] == "--counters sampled or exact");
  CHECK(needs.count("launch_bound") == 0);
  CHECK(needs.count("idle_in_range") == 0);
}

}  // namespace
}  // namespace rangefinder
