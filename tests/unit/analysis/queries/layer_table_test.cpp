// SPDX-License-Identifier: Apache-2.0
//
// Forward and backward pass of a module in one row: `report --section layers`.
#include "tools/analysis/queries/layer_table.h"

#include <nlohmann/json.hpp>
#include <sstream>

#include "tests/catch.h"
#include "tests/unit/analysis/queries/section_run.h"

using namespace rangefinder;
using test::line_of;
using test::recorded;
using test::SectionRun;

namespace {

enum Path : std::uint32_t {
  kOutside,
  kStep,
  kBert,
  kEncoder,
  kLayers,
  kLayer0,
  kLayer1,
  kPooler,
  kBackward,
  kBackBert,
  kBackEncoder,
  kBackLayers,
  kBackLayer0,
  kBackLayer1,
  kBackLoss,
  kNested,
  kNestedBert,
  kOptimizer
};

/// Ranges as the PyTorch hooks name them in a step of tests/gpu/programs/bert_train.py, with two layers. The
/// pooler is frozen, so it has no backward pass; the loss has no forward pass. `kNestedBert` is a backward
/// pass inside of a node, as of activation checkpoints.
std::vector<std::string> path_lines() {
  const std::vector<PathRecord> paths{test::path(kStep, 0, "step"),
                                      test::path(kBert, kStep, "bert"),
                                      test::path(kEncoder, kBert, "encoder"),
                                      test::path(kLayers, kEncoder, "layer"),
                                      test::path(kLayer0, kLayers, "0"),
                                      test::path(kLayer1, kLayers, "1"),
                                      test::path(kPooler, kBert, "pooler"),
                                      test::path(kBackward, kStep, "backward"),
                                      test::path(kBackBert, kBackward, "bert"),
                                      test::path(kBackEncoder, kBackBert, "encoder"),
                                      test::path(kBackLayers, kBackEncoder, "layer"),
                                      test::path(kBackLayer0, kBackLayers, "0"),
                                      test::path(kBackLayer1, kBackLayers, "1"),
                                      test::path(kBackLoss, kBackward, "loss"),
                                      test::path(kNested, kBackBert, "backward"),
                                      test::path(kNestedBert, kNested, "encoder"),
                                      test::path(kOptimizer, kStep, "optimizer")};
  std::vector<std::string> out;
  for (const PathRecord& path : paths) out.push_back(line_of(path));
  return out;
}

struct Training {
  bool bytes = true;           ///< exact bytes of each kernel
  bool backward_bytes = true;  ///< also of the backward pass
  bool backward = true;        ///< the steps have a backward pass
};

/// Two steps. Each leaf has one kernel a step, of different time and bytes.
void write_training(test::TraceOnDisk& trace, const Training& training) {
  Header header = test::header();
  header.counters = training.bytes ? "exact" : "off";
  trace.lines = {line_of(header), line_of(test::gpu()), line_of(ContextRecord{1, 0, 7, false}),
                 line_of(test::kernel_name(1, "gemm(float*)")), line_of(test::config(1))};
  for (std::string& line : path_lines()) trace.lines.push_back(std::move(line));
  std::uint32_t correlation = 0;
  std::uint64_t range = 0;
  TimeNs at = 1'000;
  for (int step = 0; step < 2; ++step) {
    const TimeNs step_begin = at;
    for (const Path leaf :
         {kLayer0, kLayer1, kPooler, kBackLoss, kBackLayer1, kBackLayer0, kNestedBert, kOptimizer}) {
      const bool backward = leaf > kBackward && leaf < kOptimizer;
      if (backward && !training.backward) continue;
      const TimeNs ns = 1'000 + 100 * static_cast<TimeNs>(leaf) + step;
      LaunchRecord launch = test::launch(++correlation, leaf);
      launch.host.start_ns = at - 50;
      launch.host.end_ns = at - 40;
      if (training.bytes && (!backward || training.backward_bytes)) {
        ExactRecord exact;
        exact.launch = launch;
        exact.name = 1;
        exact.measured = true;
        exact.gpu_ns = static_cast<std::uint64_t>(ns);
        exact.dram_read_bytes = 1'000'000U * leaf;
        exact.dram_write_bytes = 1'000U * leaf;
        exact.l2_bytes = 4'096;
        trace.lines.push_back(line_of(exact));
      } else {
        trace.lines.push_back(line_of(launch));
      }
      trace.lines.push_back(line_of(test::kernel(correlation, leaf, at, at + ns)));
      trace.lines.push_back(line_of(test::range(++range, leaf, at - 60, at + ns)));
      at += ns + 100;
    }
    trace.lines.push_back(line_of(test::range(++range, kBert, step_begin - 70, at)));
    trace.lines.push_back(line_of(test::range(++range, kStep, step_begin - 80, at)));
  }
  trace.write();
}

/// A recorded inference whose paths are those of a training without a step: `warmup/model` is
/// `backward/model`, and `iteration/model` is `model`. Real sampled or exact bytes, with their errors.
void write_recorded(test::TraceOnDisk& trace, const char* name) {
  std::istringstream lines(test::content(recorded(name) / "trace-00000.ndjson"));
  trace.lines.clear();
  nlohmann::ordered_json iteration;
  for (std::string line; std::getline(lines, line);) {
    auto json = nlohmann::ordered_json::parse(line);
    if (json.at("t") == "path") {
      if (json.at("name") == "warmup") json["name"] = "backward";
      if (json.at("name") == "iteration") iteration = json.at("id");
      if (json.at("parent") == iteration && json.at("name") == "model") json["parent"] = 0;
    }
    trace.lines.push_back(json.dump() + "\n");
  }
  trace.write();
}

std::vector<std::string> paths_of(const SectionRun& run) {
  std::vector<std::string> out;
  for (std::size_t i = 0; i < run.table("layers").rows.size(); ++i)
    out.push_back(run.text("layers", i, "path"));
  return out;
}

double or_zero(const std::string& number) {
  return number.empty() ? 0 : std::stod(number);
}

std::string backward_path(const std::string& forward) {
  return forward.starts_with("step/") ? "step/backward" + forward.substr(4) : "backward/" + forward;
}

/// Every row is the sum of two rows of the module table. Returns the number of rows with both passes.
std::size_t check_equal(const std::filesystem::path& folder, const SectionView& view,
                        const SelectionOptions& selected = {}) {
  const SectionRun layers("layers", folder, view, selected);
  SelectionOptions all_paths = selected;
  all_paths.range.clear();
  const SectionRun modules("modules", folder, {}, all_paths);
  std::size_t joined = 0;
  for (std::size_t i = 0; i < layers.table("layers").rows.size(); ++i) {
    const std::string path = layers.text("layers", i, "path");
    INFO(path);
    const auto forward = modules.find("modules", {{"path", path}});
    const auto backward = modules.find("modules", {{"path", backward_path(path)}});
    REQUIRE(forward);
    const auto both = [&](const char* key) {
      return or_zero(modules.text("modules", *forward, key)) +
             (backward ? or_zero(modules.text("modules", *backward, key)) : 0);
    };
    CHECK(layers.text("layers", i, "calls") == modules.text("modules", *forward, "calls"));
    CHECK(layers.text("layers", i, "forward_gpu_ns") == modules.text("modules", *forward, "gpu_ns"));
    CHECK(layers.text("layers", i, "backward_gpu_ns") ==
          (backward ? modules.text("modules", *backward, "gpu_ns") : ""));
    CHECK(layers.number("layers", i, "gpu_ns") == both("gpu_ns"));
    CHECK(layers.number("layers", i, "kernels") == both("kernels"));
    CHECK(layers.number("layers", i, "share") == Approx(both("share")).margin(1e-9));
    CHECK(or_zero(layers.text("layers", i, "dram_bytes")) ==
          both("dram_read_bytes") + both("dram_write_bytes"));
    joined += backward ? 1 : 0;
  }
  return joined;
}

SelectionOptions in_range(const char* glob) {
  SelectionOptions out;
  out.range = glob;
  return out;
}

}  // namespace

TEST_CASE("layers: numbers are those of the module table, for every selection") {
  test::TraceOnDisk trace;
  write_training(trace, {});
  SectionView flat, shallow;
  flat.flat = true;
  shallow.depth = 4;
  SelectionOptions iteration, window;
  iteration.iterations = parse_iterations("1:2");
  window.window = parse_window("0.000005:0.00001");

  CHECK(check_equal(trace.folder.path(), {}) == 5);
  CHECK(check_equal(trace.folder.path(), flat) == 5);
  CHECK(check_equal(trace.folder.path(), shallow) == 3);
  CHECK(check_equal(trace.folder.path(), {}, in_range("step/bert/**/layer/*")) == 2);
  CHECK(check_equal(trace.folder.path(), {}, iteration) == 5);
  CHECK(check_equal(trace.folder.path(), {}, window) > 0);
}

TEST_CASE("layers: numbers are those of the module table in recorded traces with bytes") {
  for (const char* const name : {"rtdetr_sampled", "rtdetr_exact"}) {
    CAPTURE(name);
    test::TraceOnDisk trace;
    write_recorded(trace, name);
    CHECK(check_equal(trace.folder.path(), {}) > 100);
  }
}

TEST_CASE("layers: one row a module, without the step, the loss and the optimizer") {
  test::TraceOnDisk trace;
  write_training(trace, {});

  const SectionRun run("layers", trace.folder.path());

  CHECK(paths_of(run) == std::vector<std::string>{"step/bert", "step/bert/encoder", "step/bert/encoder/layer",
                                                  "step/bert/encoder/layer/0", "step/bert/encoder/layer/1",
                                                  "step/bert/pooler"});
  run.check("layers", {{"path", "step/bert/encoder/layer/0"}},
            {{"calls", 2}, {"kernels", 4}, {"forward_gpu_ns", 3'001}, {"backward_gpu_ns", 4'401}});
  run.check("layers", {{"path", "step/bert/encoder/layer/0"}},
            {{"gpu_ns", 7'402}, {"dram_bytes", 2 * 17 * 1'001'000}});
  run.check("layers", {{"path", "step/bert/pooler"}}, {{"backward_gpu_ns", ""}, {"gpu_ns", 3'401}});
  CHECK(run.shown().find("\n    encoder  ") == std::string::npos);  // below step/bert: one level
  CHECK(run.shown().find("\n  encoder  ") != std::string::npos);
}

TEST_CASE("layers: a forward pass below a range `forward` of the program joins the backward pass beside it") {
  const auto kernel = [](std::uint32_t correlation, std::uint32_t path, TimeNs start, TimeNs end) {
    return line_of(test::kernel(correlation, path, start, end));
  };
  const SectionRun run = test::run_over(
      "layers", {line_of(test::kernel_name(1, "gemm(float*)")), line_of(test::config(1)),
                 line_of(test::path(1, 0, "step")), line_of(test::path(2, 1, "forward")),
                 line_of(test::path(3, 2, "bert")), line_of(test::path(4, 1, "backward")),
                 line_of(test::path(5, 4, "bert")), line_of(test::path(6, 4, "loss")),
                 kernel(1, 3, 1'000, 1'100), kernel(2, 5, 2'000, 2'300), kernel(3, 6, 3'000, 3'900)});

  CHECK(paths_of(run) == std::vector<std::string>{"step/forward/bert"});
  run.check("layers", 0, {{"forward_gpu_ns", 100}, {"backward_gpu_ns", 300}, {"gpu_ns", 400}});
}

TEST_CASE("layers: a backward pass inside of a node counts for the node alone") {
  test::TraceOnDisk trace;
  write_training(trace, {});

  const SectionRun run("layers", trace.folder.path());

  const double of_layers = run.number("layers", {{"path", "step/bert/encoder"}}, "backward_gpu_ns");
  CHECK(run.number("layers", {{"path", "step/bert"}}, "backward_gpu_ns") ==
        of_layers + 2 * (1'000 + 100 * kNestedBert) + 1);
}

TEST_CASE("layers: without a backward pass there are none, in the report of modules too") {
  test::TraceOnDisk with, without;
  write_training(with, {});
  write_training(without, {true, true, false});
  SectionView both;
  both.layers = true;
  const auto names = [](const SectionRun& run) {
    std::vector<std::string> out;
    for (const Table& table : run.tables) out.push_back(table.name);
    return out;
  };

  CHECK(SectionRun("layers", without.folder.path()).shown().find("No layers: ") == 0);
  CHECK(names(SectionRun("modules", without.folder.path(), both)) == std::vector<std::string>{"modules"});
  CHECK(names(SectionRun("modules", with.folder.path(), both)) ==
        std::vector<std::string>{"modules", "layers"});
  CHECK(names(SectionRun("modules", with.folder.path())) == std::vector<std::string>{"modules"});
}

TEST_CASE("layers: bytes are a lower bound if one pass was not measured, and absent if none was") {
  test::TraceOnDisk forward_only, neither;
  write_training(forward_only, {true, false});
  write_training(neither, {false, false});

  const SectionRun part("layers", forward_only.folder.path());
  const SectionRun none("layers", neither.folder.path());
  const auto json = part.made->json(part.input()).at("layers");

  part.check("layers", {{"path", "step/bert/encoder/layer/0"}}, {{"dram_bytes", 2 * 5 * 1'001'000}});
  CHECK(part.shown().find("10.0 MB+") != std::string::npos);
  CHECK(part.shown().find("+: lower bound") != std::string::npos);
  CHECK(json.at(3).at("bytes_source") == "exact");
  CHECK(json.at(3).at("bytes_partial") == true);
  CHECK_FALSE(json.back().contains("bytes_partial"));  // the pooler has one pass
  CHECK(none.text("layers", 0U, "dram_bytes").empty());
  CHECK(none.shown().find("DRAM  ") == std::string::npos);
}

TEST_CASE("layers: sampled bytes have the errors of both passes, and no number above 100 %") {
  test::TraceOnDisk trace;
  write_recorded(trace, "rtdetr_sampled");

  const SectionRun run("layers", trace.folder.path());
  const auto modules = SectionRun("modules", trace.folder.path());
  const auto json = run.made->json(run.input()).at("layers").at(0);

  const auto error_bytes = [&modules](const char* path) {
    const SectionRun::Where where{{"path", path}};
    return modules.number("modules", where, "bytes_error_pct") / 100 *
           (modules.number("modules", where, "dram_read_bytes") +
            modules.number("modules", where, "dram_write_bytes"));
  };
  const double dram = run.number("layers", 0U, "dram_bytes");
  CHECK(json.at("path") == "model");
  CHECK(json.at("bytes_source") == "sampled");
  CHECK(json.at("bytes_error_pct").get<double>() ==
        Approx(100 * (error_bytes("model") + error_bytes("backward/model")) / dram));
  bool hidden = false;
  for (std::size_t i = 0; i < run.table("layers").rows.size(); ++i) {
    const double percent = or_zero(run.text("layers", i, "bytes_error_pct"));
    const auto& cells = run.table("layers").rows[i];
    const bool no_number =
        std::any_of(cells.begin(), cells.end(), [](const Cell& cell) { return cell.shown.text() == "–"; });
    CHECK(no_number == (percent > 100));
    hidden |= no_number;
  }
  CHECK(hidden);
}

TEST_CASE("layers: sorted by either pass, and the heaviest alone with their ancestors") {
  test::TraceOnDisk trace;
  write_training(trace, {});
  SectionView by_backward, heaviest;
  by_backward.sort = "backward";
  by_backward.flat = true;
  heaviest.sort = "forward";
  heaviest.top = 4;

  const auto sorted = paths_of(SectionRun("layers", trace.folder.path(), by_backward));
  const auto top = paths_of(SectionRun("layers", trace.folder.path(), heaviest));

  CHECK(sorted[3] == "step/bert/encoder/layer/1");
  CHECK(sorted[5] == "step/bert/pooler");
  CHECK(top == std::vector<std::string>{"step/bert", "step/bert/encoder", "step/bert/encoder/layer",
                                        "step/bert/pooler"});
}
