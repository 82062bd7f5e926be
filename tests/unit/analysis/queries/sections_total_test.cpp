// SPDX-License-Identifier: Apache-2.0
//
// `--section modules --total`: the selected paths as one row.
#include <nlohmann/json.hpp>

#include "profiler/base/number_text.h"
#include "tests/catch.h"
#include "tests/unit/analysis/queries/section_run.h"

// In a namespace: layer_table_test.cpp, which may be compiled together with this, has a training of its own.
namespace rangefinder::total_test {
namespace {

using test::line_of;
using test::SectionRun;

enum Path : std::uint32_t {
  kOutside,
  kStep,
  kForward,
  kLayer,
  kAttention,
  kScores,
  kInnerAttention,
  kFeedForward,
  kBackward,
  kBackLayer,
  kBackAttention,
  kBackScores,
  kBackFeedForward,
  kOptimizer
};
constexpr int kSteps = 4;  // the first is the warm-up

/// Kernel time of a path in a step; only attention's differs between steps.
TimeNs kernel_ns(Path path, int step) {
  return 1'000 * path + (path == kAttention ? 100 * step : 0);
}

/// A training with its passes named by the program. `attention` is in `attention` once more.
void write_training(test::TraceOnDisk& trace) {
  std::vector<std::string> lines{line_of(test::kernel_name(1, "gemm(float*)")), line_of(test::config(1))};
  for (const PathRecord& path :
       {test::path(kStep, 0, "step"), test::path(kForward, kStep, "forward"),
        test::path(kLayer, kForward, "layer"), test::path(kAttention, kLayer, "attention"),
        test::path(kScores, kAttention, "scores"), test::path(kInnerAttention, kScores, "attention"),
        test::path(kFeedForward, kLayer, "feed_forward"), test::path(kBackward, kStep, "backward"),
        test::path(kBackLayer, kBackward, "layer"), test::path(kBackAttention, kBackLayer, "attention"),
        test::path(kBackScores, kBackAttention, "scores"),
        test::path(kBackFeedForward, kBackLayer, "feed_forward"), test::path(kOptimizer, kStep, "optimizer")})
    lines.push_back(line_of(path));
  std::uint32_t correlation = 0;
  std::uint64_t range = 0;
  TimeNs at = 10'000;
  const auto work = [&](Path path, TimeNs ns) {
    LaunchRecord launch = test::launch(++correlation, path);
    launch.host.start_ns = at;
    launch.host.end_ns = at + 10;
    lines.push_back(line_of(launch));
    lines.push_back(line_of(test::kernel(correlation, path, at + 20, at + 20 + ns)));
    if (path != kOutside) lines.push_back(line_of(test::range(++range, path, at - 5, at + 15)));
    at += ns + 100;
  };
  work(kOutside, 500);
  for (int step = 0; step < kSteps; ++step) {
    const TimeNs begin = at - 50;
    for (const Path path : {kAttention, kScores, kInnerAttention, kFeedForward, kBackFeedForward, kBackScores,
                            kBackAttention, kOptimizer})
      work(path, kernel_ns(path, step));
    lines.push_back(line_of(test::range(++range, kStep, begin, at)));
  }
  test::write_trace(trace, lines);
}

/// Of all steps.
double sum_ns(std::initializer_list<Path> paths, int first = 0) {
  double out = 0;
  for (int step = first; step < kSteps; ++step) {
    for (const Path path : paths) out += static_cast<double>(kernel_ns(path, step));
  }
  return out;
}

SectionRun total_of(const test::TraceOnDisk& trace, const std::string& range) {
  SectionView view;
  view.total = true;
  view.range = range;
  SelectionOptions selected;
  selected.range = range;
  return {"modules", trace.folder.path(), view, selected};
}

double gpu_ns(const test::TraceOnDisk& trace, const std::string& range) {
  return total_of(trace, range).number("total", 0, "gpu_ns");
}

}  // namespace

TEST_CASE("total: a kernel below two matching ranges counts once, in both passes") {
  test::TraceOnDisk trace;
  write_training(trace);

  SectionRun run = total_of(trace, "**/attention");

  const double forward = sum_ns({kAttention, kScores, kInnerAttention});
  const double backward = sum_ns({kBackScores, kBackAttention});
  const double rest = sum_ns({kFeedForward, kBackFeedForward, kOptimizer}) + 500;
  REQUIRE(run.table("total").rows.size() == 1);
  run.check("total", 0,
            {{"range", "**/attention"}, {"paths", 5}, {"calls", kSteps}, {"kernels", 5 * kSteps}});
  run.check("total", 0,
            {{"gpu_ns", forward + backward}, {"forward_gpu_ns", forward}, {"backward_gpu_ns", backward}});
  CHECK(run.number("total", 0, "share") == Approx((forward + backward) / (forward + backward + rest)));
  CHECK(run.text("total", 0, "other_gpu_ns").empty());
  CHECK(run.shown().find("Forward pass " + duration_text(static_cast<std::uint64_t>(forward)) +
                         ", backward pass ") != std::string::npos);
}

TEST_CASE("total: an iteration is the mean of those after the warm-up") {
  test::TraceOnDisk trace;
  write_training(trace);

  SectionRun run = total_of(trace, "**/attention");

  const double attention = sum_ns({kAttention, kScores, kInnerAttention, kBackScores, kBackAttention}, 1);
  const double all = attention + sum_ns({kFeedForward, kBackFeedForward, kOptimizer}, 1);
  run.check("total", 0,
            {{"iterations", kSteps - 1}, {"iteration_gpu_ns", attention / 3}, {"iteration_kernels", 5}});
  CHECK(run.number("total", 0, "iteration_share") == Approx(attention / all));
  const auto json = run.made->json(run.input());
  CHECK(json.at("total").at("iterations") == kSteps - 1);
  CHECK(json.at("iteration_path") == "step");
}

TEST_CASE("total: disjoint patterns add up to the whole, and ** is all but what is outside of ranges") {
  test::TraceOnDisk trace;
  write_training(trace);

  const double whole = gpu_ns(trace, "");

  CHECK(whole == gpu_ns(trace, "**") + 500);
  CHECK(whole == gpu_ns(trace, "**/attention") + gpu_ns(trace, "**/feed_forward") +
                     gpu_ns(trace, "step/optimizer") + 500);
  CHECK(gpu_ns(trace, "step") == gpu_ns(trace, "step/*"));
}

TEST_CASE("total: the whole has work that is in neither pass") {
  test::TraceOnDisk trace;
  write_training(trace);

  SectionRun run = total_of(trace, "");

  run.check("total", 0, {{"range", "(all)"}, {"share", 1}, {"other_gpu_ns", sum_ns({kOptimizer}) + 500}});
}

TEST_CASE("total: a pattern for the forward pass alone says what it does not select") {
  test::TraceOnDisk trace;
  write_training(trace);

  SectionRun run = total_of(trace, "step/forward/**/attention");

  run.check("total", 0,
            {{"gpu_ns", sum_ns({kAttention, kScores, kInnerAttention})},
             {"backward_gpu_ns", 0},
             {"unselected_backward_gpu_ns", sum_ns({kBackScores, kBackAttention})}});
  CHECK(run.shown().find("Not in this row: ") != std::string::npos);
}

TEST_CASE("total: exact bytes are those of the module table") {
  SectionView view;
  view.total = true;
  view.range = "**/decoder";
  SelectionOptions selected;
  selected.range = view.range;

  SectionRun total("modules", test::recorded("rtdetr_exact"), view, selected);
  SectionRun modules("modules", test::recorded("rtdetr_exact"), {}, selected);

  double bytes = 0, kernels = 0, calls = 0;
  for (std::size_t row = 0; row < modules.table("modules").rows.size(); ++row) {
    const std::string path = modules.text("modules", row, "path");
    if (!path.ends_with("/decoder")) continue;
    kernels += modules.number("modules", row, "kernels");
    calls += modules.number("modules", row, "calls");
    bytes += modules.number("modules", row, "dram_read_bytes") +
             modules.number("modules", row, "dram_write_bytes");
  }
  total.check("total", 0, {{"dram_bytes", bytes}, {"kernels", kernels}, {"calls", calls}});
  CHECK(kernels > 1'000);
}

}  // namespace rangefinder::total_test
