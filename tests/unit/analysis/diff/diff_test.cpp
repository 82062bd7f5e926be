// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <map>
#include <random>
#include <string>
#include <string_view>

#include "profiler/metrics/named_metrics.h"
#include "tests/catch.h"
#include "tests/unit/analysis/model/trace_on_disk.h"
#include "tools/analysis/diff/baseline.h"
#include "tools/analysis/diff/fused_modules.h"
#include "tools/analysis/diff/kernel_comparison.h"
#include "tools/analysis/diff/trace_diff.h"
#include "tools/analysis/model/missing.h"
#include "tools/analysis/table/table_render.h"

namespace rangefinder {
namespace {
using namespace test;

struct Program {
  unsigned seed = 1;
  std::uint64_t iterations = 64;
  double attention_ns = 20'000;  ///< mean of model/attention's kernel
  double noise = 0.03;           ///< standard deviation of each kernel's time over its mean
  std::string mlp_kernel = "relu(int)";
  double dram_bytes = 0;  ///< of each attention kernel; 0: no exact lines
};

/// iteration ─ model ─ { attention: gemm, mlp: relu }; all kernel times have Program::noise.
struct NoisyRun : TraceOnDisk {
  explicit NoisyRun(const Program& program) : random(program.seed) {
    lines = {line_of(header()),
             line_of(gpu()),
             line_of(path(1, 0, "iteration")),
             line_of(path(2, 1, "model")),
             line_of(path(3, 2, "attention")),
             line_of(path(4, 2, "mlp")),
             line_of(kernel_name(1, "void gemm<float>(float*, int)")),
             line_of(kernel_name(2, program.mlp_kernel)),
             line_of(config(1))};
    TimeNs now = 1'000;
    for (std::uint64_t i = 0; i < program.iterations; ++i) {
      const TimeNs start = now;
      now = add(program, 3, 1, program.attention_ns, now);
      now = add(program, 4, 2, 10'000, now);
      lines.push_back(line_of(range(i + 1, 1, start, now)));
      now += 100;
    }
    write();
  }

  TimeNs add(const Program& program, std::uint32_t in_path, std::uint32_t name, double mean_ns,
             TimeNs start) {
    std::normal_distribution<double> noise(1, program.noise);
    const auto end = start + static_cast<TimeNs>(mean_ns * noise(random));
    KernelRecord record = kernel(++correlation, in_path, start, end);
    record.name = name;
    lines.push_back(line_of(record));
    if (program.dram_bytes > 0 && name == 1) {
      ExactRecord exact;
      exact.launch = {{start, start + 5, 4711, in_path, 0}, "cuLaunchKernel", correlation, 0, 0};
      exact.name = name;
      exact.measured = true;
      exact.gpu_ns = 1;
      exact.dram_read_bytes = static_cast<std::uint64_t>(program.dram_bytes * noise(random));
      lines.push_back(line_of(exact));
    }
    return end + 10;
  }

  [[nodiscard]] IterationSeries series() const {
    return IterationSeries::load(open_trace_folder(folder.path()), "", {});
  }

  std::mt19937 random;
  std::uint32_t correlation = 0;
};

/// Kernels of these runs take some 10 us: changes of any size count.
const DiffOptions kAnySize{.min_ns = 0, .min_share = 0};

TraceDiff diff_of(const Program& a, const Program& b, const DiffOptions& options = kAnySize) {
  return compare(NoisyRun(a).series(), NoisyRun(b).series(), options);
}

IterationSeries read_baseline_of(const IterationSeries& series) {
  const TemporaryFolder folder;
  const std::filesystem::path file = folder.path() / "baseline.json";
  std::ofstream(file) << baseline_text(series);
  return read_baseline(file);
}

const Change& row(const std::vector<Change>& changes, std::string_view key,
                  Quantity quantity = Quantity::gpu_ns) {
  for (const Change& change : changes) {
    if (change.key == key && change.quantity == quantity) return change;
  }
  throw std::runtime_error("no row " + std::string(key));
}

TEST_CASE("Student's t has the values of the tables") {
  CHECK(student_t(0.05, 1) == Approx(12.7062).epsilon(1e-5));
  CHECK(student_t(0.05, 10) == Approx(2.22814).epsilon(1e-5));
  CHECK(student_t(0.01, 30) == Approx(2.75000).epsilon(1e-5));
  CHECK(student_p(2.22814, 10) == Approx(0.05).epsilon(1e-4));
  CHECK(student_p(0, 5) == Approx(1));
}

TEST_CASE("Welch's test gives the published example's result") {
  // 27.5 21.0 19.0 23.6 17.0 17.9 16.9 20.1 21.9 22.6 23.1 19.6 19.0 21.7 21.4 against
  // 27.1 22.0 20.8 23.4 23.4 23.5 25.8 22.0 24.8 20.2 21.9 22.1 22.9 20.5 24.4: t = 2.46, p = 0.021
  Moments a, b;
  for (const double x :
       {27.5, 21.0, 19.0, 23.6, 17.0, 17.9, 16.9, 20.1, 21.9, 22.6, 23.1, 19.6, 19.0, 21.7, 21.4}) {
    a.add(x);
  }
  for (const double x :
       {27.1, 22.0, 20.8, 23.4, 23.4, 23.5, 25.8, 22.0, 24.8, 20.2, 21.9, 22.1, 22.9, 20.5, 24.4}) {
    b.add(x);
  }
  const auto result = welch(a, b);
  REQUIRE(result);
  CHECK(result->p == Approx(0.021).margin(0.0005));
}

TEST_CASE("a trimmed mean is without the extreme eighth, and its spread is that of Yuen's test") {
  const Moments trimmed = trimmed_moments({7, 900, 5, 6, 4, 3, 2, -500});
  CHECK(trimmed.n() == 6);
  CHECK(trimmed.trimmed() == 2);
  CHECK(trimmed.mean() == Approx(4.5));
  // Winsorised: 2 2 3 4 5 6 7 7. Yuen's standard error: sqrt(sum of squares / (6 * 5)).
  CHECK(trimmed.squares() == Approx(30));
  CHECK(trimmed.variance() == Approx(30 / 5.0));
  CHECK(trimmed_moments({1, 2, 3}).mean() == Approx(2));
}

TEST_CASE("one iteration that takes a hundred times as long does not hide a change of 10 %") {
  const std::vector<double> before{100, 101, 99, 100, 102, 98, 100, 101},
      after{110, 111, 109, 110, 112, 108, 110, 10'000};
  const auto result = welch(trimmed_moments(before), trimmed_moments(after));
  REQUIRE(result);
  CHECK(result->difference == Approx(10).margin(0.5));
  CHECK(result->p < 0.001);
}

TEST_CASE("Holm's correction divides alpha by the number of remaining tests") {
  CHECK(holm({0.001, 0.02, 0.03}, 0.05) == std::vector<bool>{true, true, true});
  CHECK(holm({0.001, 0.03, 0.04}, 0.05) == std::vector<bool>{true, false, false});
}

TEST_CASE("runs of the same program show no change, whatever the seed") {
  for (unsigned seed = 1; seed <= 40; seed += 2) {
    const TraceDiff diff = diff_of({.seed = seed}, {.seed = seed + 1});
    for (const auto* changes : {&diff.modules, &diff.kernels}) {
      for (const Change& change : *changes) CHECK(change.verdict == Verdict::same);
    }
    for (const Change& change : diff.iterations) {
      CHECK((change.verdict == Verdict::same || change.quantity == Quantity::wall_p95_ns));
    }
  }
}

TEST_CASE("a module that got 10 % slower is found with its parents, but without its sibling") {
  const TraceDiff diff = diff_of({.seed = 1}, {.seed = 2, .attention_ns = 22'000});
  CHECK(row(diff.modules, "iteration/model/attention").verdict == Verdict::worse);
  CHECK(row(diff.modules, "iteration/model").verdict == Verdict::worse);
  CHECK(row(diff.modules, "iteration/model/mlp").verdict == Verdict::same);
  const auto relative = row(diff.modules, "iteration/model/attention").relative();
  REQUIRE(relative);
  CHECK(*relative == Approx(0.10).margin(0.03));
  CHECK(diff.worse_than(0.05).size() == 3);  // iteration and model by 6.7 %
  CHECK(diff.worse_than(0.08).size() == 1);
}

TEST_CASE("a significant change below the minimum does not count") {
  const TraceDiff diff =
      diff_of({.seed = 1, .noise = 1e-6}, {.seed = 2, .attention_ns = 20'200, .noise = 1e-6});
  const Change& change = row(diff.modules, "iteration/model/attention");
  REQUIRE(change.test);
  CHECK(change.test->p < 1e-6);
  CHECK(change.verdict == Verdict::same);
}

TEST_CASE("a renamed kernel is one gone and one new, and its module's row compares") {
  const TraceDiff diff = diff_of({.seed = 1}, {.seed = 2, .mlp_kernel = "fused_relu(int)"});
  CHECK(row(diff.kernels, "relu(int)").verdict == Verdict::gone);
  CHECK(row(diff.kernels, "fused_relu(int)").verdict == Verdict::appeared);
  CHECK(row(diff.kernels, "fused_relu(int)").where == "iteration/model/mlp");
  CHECK(row(diff.modules, "iteration/model/mlp").verdict == Verdict::same);
}

TEST_CASE("exact bytes are tested like time") {
  const TraceDiff diff = diff_of({.seed = 1, .dram_bytes = 1e6}, {.seed = 2, .dram_bytes = 5e6});
  const Change& change = row(diff.modules, "iteration/model/attention", Quantity::dram_bytes);
  CHECK(change.verdict == Verdict::worse);
  CHECK(*change.relative() == Approx(4).margin(0.3));
}

TEST_CASE("a single iteration is reported as untested") {
  const TraceDiff diff =
      diff_of({.seed = 1, .iterations = 1}, {.seed = 2, .iterations = 1, .attention_ns = 90'000});
  CHECK(row(diff.modules, "iteration/model/attention").verdict == Verdict::untested);
  CHECK(std::string(iteration_verdict_name(row(diff.iterations, "", Quantity::wall_ns))) == "too few");
  CHECK(diff.worse_than(0.05).empty());
}

TEST_CASE("with fewer than five iterations nothing has a verdict, however large the change") {
  // The first iteration warms up.
  const TraceDiff four = diff_of({.seed = 1, .iterations = 5, .dram_bytes = 1e6},
                                 {.seed = 2, .iterations = 40, .attention_ns = 90'000, .dram_bytes = 5e6});
  CHECK_FALSE(four.enough);
  for (const auto* const rows : {&four.iterations, &four.modules, &four.kernels}) {
    for (const Change& change : *rows) CHECK(change.verdict == Verdict::untested);
  }
  const TraceDiff five = diff_of({.seed = 1, .iterations = 6}, {.seed = 2, .iterations = 40});
  CHECK(five.enough);
  CHECK(row(five.iterations, "", Quantity::wall_ns).verdict == Verdict::same);
}

TEST_CASE("changes of modules below 10 us or 0.5 % of the iteration do not count") {
  const Program before{.seed = 1, .attention_ns = 200'000, .noise = 1e-4};
  const auto verdict = [&before](double ns, const DiffOptions& options) {
    const TraceDiff diff = diff_of(before, {.seed = 2, .attention_ns = ns, .noise = 1e-4}, options);
    return row(diff.modules, "iteration/model/attention").verdict;
  };
  CHECK(verdict(208'000, {}) == Verdict::same);
  CHECK(verdict(212'000, {}) == Verdict::worse);
  CHECK(verdict(208'000, kAnySize) == Verdict::worse);
  CHECK(verdict(212'000, {.min_ns = 0, .min_share = 0.1}) == Verdict::same);
}

TEST_CASE("counters of different modes leave no verdict on time, and compare bytes") {
  IterationSeries sampled = NoisyRun({.seed = 1, .dram_bytes = 1e6}).series(), exact = sampled;
  const std::string path = "iteration/model/attention";
  const auto dram = static_cast<std::size_t>(Quantity::dram_bytes);
  exact.paths.at(path).spreads[static_cast<std::size_t>(Quantity::gpu_ns)] = Moments(32, 90'000, 1, 0);
  sampled.paths.at(path).spreads[dram] = {};
  sampled.sampled[path] = {0.5e6, 0.01e6, 0, 0};
  exact.counters = "exact";
  sampled.counters = "sampled";
  const TraceDiff diff = compare(sampled, exact, kAnySize);
  CHECK(diff.basis == Basis::bytes);
  CHECK(row(diff.modules, path).verdict == Verdict::untested);
  CHECK(row(diff.modules, path, Quantity::dram_bytes).verdict == Verdict::worse);
  for (const Change& change : diff.iterations) CHECK(change.quantity >= Quantity::launches);

  const TraceDiff both = compare(exact, exact, kAnySize);
  CHECK(both.basis == Basis::serialised);
  CHECK(both.iterations.front().quantity == Quantity::busy_ns);
  CHECK(row(both.modules, path).verdict == Verdict::same);
}

TEST_CASE("programs differ if their names do, and what they run") {
  IterationSeries a = NoisyRun({.seed = 1}).series(), b = NoisyRun({.seed = 2}).series();
  a.header.executable = "/opt/old/detector";
  b.header.executable = "/opt/new/detector_v2";
  CHECK(basis_of(a, b) == Basis::all);  // the same modules
  b.paths.clear();
  b.kernels.clear();
  CHECK(basis_of(a, b) == Basis::none);
  b.header.executable = a.header.executable;
  CHECK(basis_of(a, b) == Basis::all);
  const auto name = [](std::vector<std::string> command) {
    Header header;
    header.executable = "/usr/bin/python3.12";
    header.command = std::move(command);
    return program_name(header);
  };
  CHECK(name({"python3", "-u", "bench/train.py", "--steps", "3"}) == "train.py");
  CHECK(name({"python3", "-m", "torch.distributed.run", "x.py"}) == "torch.distributed.run");
  CHECK(name({"python3"}) == "python3.12");
}

TEST_CASE("named metrics of modules and kernels are compared") {
  IterationSeries a = NoisyRun({.seed = 1}).series(), b = a;
  const std::string path = "iteration/model/attention", kernel = "relu(int)";
  a.paths.at(path).metrics = {{"load_bytes_used", 12.5}, {"achieved_occupancy", 50}};
  b.paths.at(path).metrics = {{"load_bytes_used", 100}, {"achieved_occupancy", 51}};
  a.kernels.at(kernel).metrics = {{"achieved_occupancy", 50}};
  b.kernels.at(kernel).metrics = {{"achieved_occupancy", 20}};
  std::map<std::string, Verdict> found;
  for (const MetricChange& change : compare(a, b, {}).metrics)
    found[change.key + " " + change.metric->name] = change.verdict;
  CHECK(found == std::map<std::string, Verdict>{{path + " load_bytes_used", Verdict::better},
                                                {path + " achieved_occupancy", Verdict::same},
                                                {kernel + " achieved_occupancy", Verdict::worse}});
  CHECK(read_baseline_of(a).paths.at(path).metrics == a.paths.at(path).metrics);
}

TEST_CASE("a comment has what fails first, and one row for layers that changed alike") {
  TraceDiff diff;
  const auto add = [&diff](const std::string& path, double a, double b) {
    Change& change = diff.modules.emplace_back();
    change.key = path;
    change.a = a;
    change.b = b;
    change.verdict = b > a ? Verdict::worse : Verdict::better;
  };
  for (int i = 0; i < 30; ++i)
    add("model/faster" + std::string(1, static_cast<char>('a' + i % 26)) + "x" + std::to_string(i) + "y", 9e6,
        1e6);
  for (int i = 0; i < 6; ++i) add("layers/" + std::to_string(i) + "/attn", 1e6, 1.1e6);
  add("head", 1e5, 2e5);
  const std::vector<const Change*> failed{&diff.modules.back()};
  const Table table = modules_for_comment(diff, failed);
  REQUIRE(table.rows.size() == 20);
  CHECK(table.title == "Modules, what got worse first: 20 of 32 rows");
  CHECK(cell_text(table.rows[0][0], Unit::text, false) == "head");
  CHECK(std::get<std::string>(table.rows[0].back().value) == "worse, over the limit");
  CHECK(cell_text(table.rows[1][0], Unit::text, false) == "layers/*/attn (6)");
  CHECK(std::get<double>(table.rows[1][2].value) == Approx(6e6));
}

TEST_CASE("runs with different numbers of iterations are compared by their means") {
  const TraceDiff diff = diff_of({.seed = 1, .iterations = 64}, {.seed = 2, .iterations = 200});
  for (const Change& change : diff.modules) CHECK(change.verdict == Verdict::same);
}

/// A loop that launches and never waits: the host takes 10 us an iteration, the GPU `kernel_ns`.
struct UnsynchronisedLoop : TraceOnDisk {
  explicit UnsynchronisedLoop(TimeNs kernel_ns) {
    lines = {line_of(header()), line_of(gpu()), line_of(path(1, 0, "iteration")),
             line_of(kernel_name(1, "k")), line_of(config(1))};
    for (std::uint32_t i = 0; i < 40; ++i) {
      KernelRecord record = kernel(i + 1, 1, 20'000 + i * kernel_ns, 20'000 + (i + 1) * kernel_ns);
      record.work.range = i + 1;
      lines.push_back(line_of(record));
      lines.push_back(line_of(range(i + 1, 1, 10'000 * (i + 1), 10'000 * (i + 1) + 10'000)));
    }
    write();
  }
  [[nodiscard]] IterationSeries series() const {
    return IterationSeries::load(open_trace_folder(folder.path()), "", {});
  }
};

TEST_CASE("wall time of a loop that never waits is that of its GPU work") {
  const UnsynchronisedLoop before(50'000), after(60'000);
  const TraceDiff diff = compare(before.series(), after.series(), kAnySize);
  const Change& wall = row(diff.iterations, "", Quantity::wall_ns);
  CHECK(*wall.a == Approx(50'000));
  CHECK(*wall.b == Approx(60'000));
  CHECK(wall.verdict == Verdict::worse);
  CHECK(row(diff.iterations, "", Quantity::host_ns).verdict == Verdict::same);
  CHECK(*row(diff.iterations, "", Quantity::idle_ns).b == Approx(0).margin(1e-9));
}

TEST_CASE("an iteration has its 95th percentile from 20 iterations on, else the longest") {
  const auto has = [](const TraceDiff& diff, Quantity quantity) {
    return std::any_of(diff.iterations.begin(), diff.iterations.end(),
                       [quantity](const Change& change) { return change.quantity == quantity; });
  };
  // The first iteration warms up.
  const TraceDiff many = diff_of({.seed = 1, .iterations = 21}, {.seed = 2, .iterations = 21});
  CHECK(has(many, Quantity::wall_p95_ns));
  CHECK_FALSE(has(many, Quantity::wall_longest_ns));
  const TraceDiff few = diff_of({.seed = 1, .iterations = 20}, {.seed = 2, .iterations = 21});
  CHECK(has(few, Quantity::wall_longest_ns));
  CHECK_FALSE(has(few, Quantity::wall_p95_ns));
}

TEST_CASE("two kernels of one trace are compared") {
  const NoisyRun run({.seed = 3});
  const Table table = compare_kernels(open_trace_folder(run.folder.path()), "gemm", "^relu");
  CHECK(std::get<double>(table.rows[1][1].value) == Approx(20'000).epsilon(0.02));
  CHECK(std::get<double>(table.rows[1][2].value) == Approx(10'000).epsilon(0.02));
  CHECK(std::get<std::string>(table.rows[1][4].value) == "differ");
  CHECK_THROWS_AS(compare_kernels(open_trace_folder(run.folder.path()), "nobody", "relu"), Missing);
  CHECK_THROWS_AS(compare_kernels(open_trace_folder(run.folder.path()), "int", "relu"), Missing);
}

TEST_CASE("a module that one side has in fused kernels has a verdict only if their time cannot change it") {
  // Names as torch.compile's kernels have: a part below the parent has dots.
  const auto series = [](const std::map<std::string, double>& ns_by_path) {
    IterationSeries out;
    for (const auto& [path, ns] : ns_by_path) {
      PathSeries& of = out.paths[path] = {path, 1, out.paths.size() + 1, {}};
      for (int batch = 0; batch < 16; ++batch) of.spreads[0].add(ns + batch % 4);
    }
    out.iteration_path = "step";
    out.iterations = 16;
    return out;
  };
  const TraceDiff diff = compare(series({{"step/m", 300'000},
                                         {"step/m/norm", 20'000},
                                         {"step/m/attn", 100'000},
                                         {"step/m/attn/q", 10'000},
                                         {"step/m/attn/o", 90'000},
                                         {"step/m/mlp", 90'000},
                                         {"step/m/norm2", 15'000}}),
                                 series({{"step/m", 170'000},
                                         {"step/m/(norm + attn.q + mlp)", 12'000},
                                         {"step/m/attn", 90'000},
                                         {"step/m/attn/o", 90'000},
                                         {"step/m/mlp", 20'000},
                                         {"step/m/up", 12'000}}),
                                 kAnySize);
  const auto verdict = [&diff](const std::string& path) { return row(diff.modules, path).verdict; };
  CHECK(verdict("step/m") == Verdict::better);
  CHECK(verdict("step/m/norm") == Verdict::fused);
  CHECK(verdict("step/m/(norm + attn.q + mlp)") == Verdict::fused);
  CHECK(verdict("step/m/attn") == Verdict::fused);  // 90 us and up to 12 us of the fused kernel
  CHECK(verdict("step/m/attn/q") == Verdict::fused);
  CHECK(verdict("step/m/attn/o") == Verdict::same);
  CHECK(verdict("step/m/mlp") == Verdict::better);  // with all of the fused kernel too
  CHECK(verdict("step/m/norm2") == Verdict::gone);
  CHECK(verdict("step/m/up") == Verdict::appeared);
  CHECK(diff_tables(diff, true)[1].remarks.find("4 modules") != std::string::npos);

  FusedModules more;
  more.add("step/m/(norm + act + up + 2 more)");
  CHECK(more.with_part_of("step/m/anything/below").size() == 1);
  CHECK(more.with_part_of("step/m").empty());
  CHECK(more.with_part_of("step/m2/anything").empty());
  CHECK_FALSE(FusedModules::is_fused("step/(compiled Model: cpp_wrapper)"));
}

TEST_CASE("of many rows of sampled bytes, one just beyond its bound is no change, one far beyond it is") {
  const auto verdicts = [](std::size_t rows, double difference) {
    IterationSeries a, b;
    for (std::size_t i = 0; i < rows; ++i) {
      const std::string path = "m" + std::to_string(i);
      a.paths[path] = b.paths[path] = {path, 1, i + 1, {}};
      a.sampled[path] = b.sampled[path] = {1e6, 0.5e6, 1e6, 0.5e6};
    }
    a.iteration_path = b.iteration_path = "iteration";
    a.iterations = b.iterations = 8;
    b.sampled["m0"].dram_bytes += difference;
    const TraceDiff diff = compare(a, b, {});
    return std::count_if(diff.modules.begin(), diff.modules.end(),
                         [](const Change& row) { return row.verdict == Verdict::worse; });
  };

  // The bound of the difference is 0.71 MB.
  CHECK(verdicts(300, 0.75e6) == 0);
  CHECK(verdicts(300, 2.5e6) == 1);
  CHECK(verdicts(1, 1.2e6) == 1);
}

}  // namespace
}  // namespace rangefinder
