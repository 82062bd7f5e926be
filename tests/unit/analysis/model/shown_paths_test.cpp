// SPDX-License-Identifier: Apache-2.0
//
// Paths as reports show them: iterations folded, dotted names as levels.
#include "tools/analysis/model/shown_paths.h"

#include "profiler/base/iteration_names.h"
#include "tests/catch.h"
#include "tests/unit/analysis/model/read_once.h"
#include "tests/unit/analysis/model/trace_on_disk.h"
#include "tools/analysis/diff/iteration_series.h"
#include "tools/analysis/model/selection.h"
#include "tools/analysis/model/trace.h"
#include "tools/analysis/model/trace_totals.h"

namespace rangefinder {
namespace {

using test::line_of;
using test::path;
using test::TraceOnDisk;

/// Adds one path below another for each name; returns the shown text of the last.
std::string shown(ShownPaths& paths, const std::vector<std::string>& names, std::uint32_t first_id = 1) {
  std::uint32_t id = first_id - 1, parent = 0;
  for (const std::string& name : names) {
    static_cast<void>(paths.add(path(++id, parent, name)));
    parent = id;
  }
  return paths.text(paths.id_of(id));
}

std::string shown(const std::vector<std::string>& names, const std::string& glob = "") {
  ShownPaths paths(glob);
  return shown(paths, names);
}

/// What a program of ten iterations writes whose hooks push the full name of each module. The names below the
/// root repeat the root's. Each iteration: one kernel of 1 us in backbone's first block, of 2 us in its
/// second.
struct NamedModules : TraceOnDisk {
  NamedModules() {
    lines = {line_of(test::header()), line_of(test::gpu()), line_of(test::kernel_name(1, "gemm(float*)"))};
    for (std::uint32_t i = 0; i < 10; ++i) {
      const std::uint32_t id = 10 * i;
      const TimeNs at = 100'000 * TimeNs{i};
      lines.push_back(line_of(path(id + 1, 0, "iterations" + std::to_string(i + 10))));
      lines.push_back(line_of(path(id + 2, id + 1, "")));
      lines.push_back(line_of(path(id + 3, id + 2, "model")));
      lines.push_back(line_of(path(id + 4, id + 3, "model.backbone")));
      lines.push_back(line_of(path(id + 5, id + 4, "model.backbone.res_layers.0")));
      lines.push_back(line_of(path(id + 6, id + 4, "model.backbone.res_layers.1")));
      lines.push_back(line_of(test::kernel(id + 1, id + 5, at + 1'000, at + 2'000, id + 5)));
      lines.push_back(line_of(test::kernel(id + 2, id + 6, at + 2'000, at + 4'000, id + 6)));
      for (std::uint32_t level = 6; level >= 1; --level)
        lines.push_back(line_of(test::range(id + level, id + level, at + level, at + 50'000 - level)));
    }
    write();
  }
  [[nodiscard]] TraceFolder files() const { return open_trace_folder(folder.path()); }
};

const PathTotals* row_of(const TraceTotals& trace, const std::vector<PathTotals>& rows,
                         const std::string& text) {
  for (const PathTotals& row : rows) {
    if (row.path != 0 && trace.path_text(row.path) == text) return &row;
  }
  return nullptr;
}

TEST_CASE("only the number after a word for an iteration is folded") {
  const auto folded = [](const char* name) { return iteration_name(name).value_or(IterationName{}).folded; };
  CHECK(folded("iterations12") == "iterations*");
  CHECK(folded("Iteration 2") == "Iteration *");
  CHECK(folded("step_17") == "step_*");
  CHECK(folded("STEP: 17/100") == "STEP: */100");
  CHECK(folded("ProfilerStep#12") == "ProfilerStep#*");
  CHECK(folded("rank0_train_step_17") == "rank0_train_step_*");
  CHECK(folded("Batches[3]") == "Batches[*]");
  CHECK(folded("Epoch 3 step 4") == "Epoch * step *");
  CHECK(folded("step") == "step");
  for (const char* const other :
       {"layer_3", "conv1", "stage2", "batch_norm1", "step2d", "optimizer_step", "17"})
    CHECK_FALSE(iteration_name(other));
}

TEST_CASE("iterations are one path, and layers below them keep their numbers") {
  ShownPaths paths;
  CHECK(shown(paths, {"iterations10", "layer_3"}) == "iterations*/layer_3");
  CHECK(shown(paths, {"iterations11", "layer_3"}, 3) == "iterations*/layer_3");
  CHECK(paths.id_of(2) == paths.id_of(4));
  CHECK(shown({"Epoch 3", "step 4", "layer 5"}) == "Epoch */step */layer 5");
  CHECK(shown({"iteration 3", "step 7"}) == "iteration */step 7");  // of a sampler, say
}

TEST_CASE("a dotted name becomes levels, without the part that its parent has") {
  CHECK(shown({"backbone", "backbone.res_layers.0"}) == "backbone/res_layers/0");
  CHECK(shown({"model", "model.encoder", "model.encoder.norm"}) == "model/encoder/norm");
  CHECK(shown({"decoder", "layers.0", "layers.0.fc1"}) == "decoder/layers/0/fc1");
  CHECK(shown({"backbone", "block", "backbone.layers.0"}) == "backbone/block/layers/0");
  CHECK(shown({"model", "model._orig_mod", "model._orig_mod.fc"}) == "model/fc");
}

TEST_CASE("names with dots that are no modules stay") {
  for (const char* const name :
       {"train.py", "Optimizer.step#SGD", "aten::add.out", "0.5", "a..b", "took 0.3 s"})
    CHECK(shown({name}) == name);
}

TEST_CASE("a range without a name is no level, and its work belongs to its parent") {
  ShownPaths paths;
  CHECK(shown(paths, {"iteration 1", "", "model"}) == "iteration */model");
  CHECK(paths.is_omitted(2));
  CHECK(paths.text(paths.id_of(2)) == "iteration *");
}

TEST_CASE("operations lie in the function that runs them, whatever is between") {
  const std::string function = "XlaModule:#hlo_module=jit_step,program_id=5#";
  const std::string product = "Thunk:#name=jit(step)/mlp/dot_general,hlo_op=gemm.4,unique_hlo_op_id=9#";
  const std::string buffer = "Thunk:#hlo_op=command_buffer_1#",
                    loop = "Thunk:#name=jit(step)/while,hlo_op=while.2#";
  CHECK(shown({function, product}) == "jit_step/mlp/dot_general");
  CHECK(shown({function, buffer, product}) == "jit_step/mlp/dot_general");
  CHECK(shown({function, loop, buffer, product}) == "jit_step/mlp/dot_general");
  CHECK(shown({function, product, product}) == "jit_step/mlp/dot_general");
  CHECK(shown({"train", function, product}) == "train/jit_step/mlp/dot_general");
  CHECK(shown({"train", product}) == "train/mlp/dot_general");
}

TEST_CASE("what a framework does before it runs a program is one row a kind") {
  const std::string compilation = "XlaCompile:#module=jit_step#", candidate = "XlaModule:#hlo_module=dot.7#";
  CHECK(shown({compilation, "XlaPassPipeline:#name=a#", "XlaPass:#name=b#"}) == "(compilation)");
  CHECK(shown({"epoch", compilation}) == "(compilation)");
  CHECK(shown({candidate, "Thunk:#hlo_op=dot.7#"}) == "(autotuning)");
  CHECK(shown({compilation, candidate, "Thunk:#hlo_op=dot.7#"}) == "(autotuning)");
  ShownPaths paths;
  CHECK(shown(paths, {compilation, "XlaPass:#name=b#"}) == "(compilation)");
  CHECK(paths.is_omitted(2));  // of its calls
}

TEST_CASE("a glob for iterations folds what it matches, and names a part of a series") {
  CHECK(shown({"infer_12", "stage1"}, "infer_*") == "infer_*/stage1");
  CHECK(shown({"infer_12"}) == "infer_12");
  CHECK(shown({"iterations12"}, "iterations1?") == "iterations1?");
  CHECK(shown({"iterations2"}, "iterations1?") == "iterations*");
  CHECK(shown({"iterations12"}, "iterations12") == "iterations12");
  CHECK(shown({"model", "layers.3"}, "model/layers/3") == "model/layers/3");
}

TEST_CASE("a name with too many dots to be levels stays one level") {
  std::string dotted = "m";
  for (int i = 0; i < 200; ++i) dotted += ".0";
  CHECK(shown({dotted}) == dotted);
}

TEST_CASE("ten iterations of dotted modules are one tree with ten calls") {
  const NamedModules trace;
  const TraceTotals totals = test::load_totals(trace.files());
  const std::vector<PathTotals> rows = totals.totals.paths();

  CHECK(rows.size() == 7);  // iterations*, model, backbone, res_layers, 0, 1; outside of any range
  const PathTotals* const iterations = row_of(totals, rows, "iterations*");
  const PathTotals* const block = row_of(totals, rows, "iterations*/model/backbone/res_layers/1");
  REQUIRE(iterations != nullptr);
  REQUIRE(block != nullptr);
  CHECK(iterations->calls == 10);
  CHECK(iterations->gpu_ns == 30'000);
  CHECK(block->calls == 10);
  CHECK(block->gpu_ns == 20'000);
  CHECK(rows.back().calls == 0);  // the ranges without a name
}

TEST_CASE("paths as recorded are still in the trace") {
  const NamedModules trace;
  TraceFolder files = trace.files();
  files.recorded_paths = true;
  const TraceTotals totals = test::load_totals(files);
  CHECK(totals.totals.paths().size() == 61);
  CHECK(totals.path_text(15) == "iterations11//model/model.backbone/model.backbone.res_layers.0");
}

TEST_CASE("globs select paths as they are shown") {
  const NamedModules trace;
  SelectionOptions options;
  options.range = "iterations*/model/backbone/res_layers/0";
  Trace rows(trace.files(), {.columns = TotalsFold::kColumns});
  Selection selection(options, Iterations());
  const TraceTotals totals = load_totals(rows, selection);
  REQUIRE(totals.rows().size() == 2);
  CHECK(totals.rows()[0].kernels == 10);
}

TEST_CASE("a comparison has one row a module of a program with numbered iterations") {
  const NamedModules trace;
  const IterationSeries series = IterationSeries::load(trace.files(), "", {});
  CHECK(series.iterations == 9);
  CHECK(series.iteration_path == "iterations*");
  REQUIRE(series.paths.count("iterations*/model/backbone/res_layers/1") == 1);
  const Spreads& spreads = series.paths.at("iterations*/model/backbone/res_layers/1").spreads;
  CHECK(spreads[static_cast<std::size_t>(Quantity::gpu_ns)].mean() == Approx(2'000));
}

}  // namespace
}  // namespace rangefinder
