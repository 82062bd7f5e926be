// SPDX-License-Identifier: Apache-2.0
//
// How the iterations of a program are found.
#include "tools/analysis/model/iterations.h"

#include "tests/catch.h"
#include "tests/unit/analysis/model/read_once.h"
#include "tests/unit/analysis/model/trace_on_disk.h"
#include "tools/analysis/model/missing.h"

namespace rangefinder {
namespace {

using test::line_of;
using test::path;
using test::TraceOnDisk;

class Program : public TraceOnDisk {
 public:
  Program() { lines = {line_of(test::header()), line_of(test::gpu())}; }

  std::uint32_t add_path(const std::string& name, std::uint32_t parent = 0) {
    lines.push_back(line_of(path(++paths_, parent, name)));
    return paths_;
  }
  std::uint64_t add_range(std::uint32_t of, TimeNs start, TimeNs end) {
    lines.push_back(line_of(test::range(++ranges_, of, start, end)));
    return ranges_;
  }
  void add_kernel(std::uint32_t name, TimeNs start, TimeNs end, std::uint32_t graph = 0,
                  std::uint32_t path = 0, std::uint64_t range = 0) {
    KernelRecord kernel = test::kernel(++correlation_, path, start, end);
    kernel.name = name;
    kernel.work.range = range;
    kernel.work.graph = graph;
    LaunchRecord launch = test::launch(correlation_, 0);
    launch.host.start_ns = start - 500;
    launch.host.end_ns = start - 400;
    lines.push_back(line_of(launch));
    lines.push_back(line_of(kernel));
  }
  Iterations found(const std::string& glob = "") {
    write();
    return test::find_iterations(open_trace_folder(folder.path()), glob);
  }

 private:
  std::uint32_t paths_ = 0, correlation_ = 0;
  std::uint64_t ranges_ = 0;
};

TEST_CASE("ranges whose names differ in a number are the iterations, before a more frequent range") {
  Program program;
  for (int i = 0; i < 4; ++i) {
    const auto own = program.add_path("iterations" + std::to_string(i));
    const auto model = program.add_path("model", own);
    for (int n = 0; n < 3; ++n) program.add_range(model, 100 * i + 10 * n, 100 * i + 10 * n + 5);
    program.add_range(own, 100 * i, 100 * i + 90);
  }
  const auto copies = program.add_path("H2D");
  for (int i = 0; i < 20; ++i) program.add_range(copies, 1'000 + i * 10, 1'005 + i * 10);

  const Iterations found = program.found();

  CHECK(found.rule == IterationRule::numbered);
  CHECK(found.path == "iterations*");
  CHECK(found.instances.size() == 4);
}

TEST_CASE("the steps of epochs are the iterations") {
  Program program;
  for (int epoch = 0; epoch < 2; ++epoch) {
    const auto outer = program.add_path("Epoch " + std::to_string(epoch));
    for (int step = 0; step < 3; ++step) {
      const TimeNs at = 1'000 * epoch + 100 * step;
      program.add_range(program.add_path("step " + std::to_string(step), outer), at, at + 50);
    }
    program.add_range(outer, 1'000 * epoch, 1'000 * epoch + 900);
  }
  const Iterations found = program.found();
  CHECK(found.path == "Epoch */step *");
  CHECK(found.instances.size() == 6);
}

TEST_CASE("without such names it is the repeating range with most time, never a copy or data loading") {
  Program program;
  const auto h2d = program.add_path("H2D"), loader = program.add_path("dataloader");
  const auto forward = program.add_path("forward"), zero = program.add_path("zero_grad");
  for (int i = 0; i < 5; ++i) {
    const TimeNs at = 1'000 * i;
    for (int n = 0; n < 3; ++n) program.add_range(h2d, at + n * 100, at + n * 100 + 90);
    program.add_range(loader, at + 300, at + 700);
    program.add_range(forward, at + 700, at + 900);
    program.add_range(zero, at + 900, at + 910);
    program.add_range(zero, at + 910, at + 920);
  }
  const Iterations found = program.found();
  CHECK(found.rule == IterationRule::outermost);
  CHECK(found.path == "forward");
  CHECK(found.instances.size() == 5);
}

TEST_CASE("of functions that a framework compiled it is the one with most GPU time, never compilation") {
  Program program;
  const auto compilation = program.add_path("XlaCompile:#module=jit_step#");
  const auto pass = program.add_path("XlaPass:#name=cse,module=jit_step,program_id=0#", compilation);
  for (int i = 0; i < 3; ++i) {
    program.add_range(pass, 10'000 * i, 10'000 * i + 4'000);
    program.add_range(compilation, 10'000 * i, 10'000 * i + 9'000);
  }
  const auto candidate = program.add_path("XlaModule:#hlo_module=gemm_fusion_dot.7#");
  for (int i = 0; i < 40; ++i)
    program.add_kernel(1, 1'000 * i, 1'000 * i + 900, 0, candidate,
                       program.add_range(candidate, 1'000 * i, 1'000 * i + 10));
  // Its calls on the host take longer than those of the step, which return before the work begins.
  const auto normal = program.add_path("XlaModule:#hlo_module=jit__normal,program_id=3#");
  for (int i = 0; i < 4; ++i) {
    const TimeNs at = 40'000 + 2'000 * i;
    program.add_kernel(2, at, at + 10, 0, normal, program.add_range(normal, at, at + 1'500));
  }
  const auto step = program.add_path("XlaModule:#hlo_module=jit_step,program_id=5#");
  const auto mlp = program.add_path("Thunk:#name=jit(step)/mlp/dot_general,hlo_op=dot.1#", step);
  for (int i = 0; i < 6; ++i) {
    const TimeNs at = 50'000 + 1'000 * i;
    program.add_kernel(3, at, at + 900, 0, mlp, program.add_range(mlp, at + 10, at + 20));
    program.add_range(step, at, at + 30);
  }
  const Iterations found = program.found();

  CHECK(found.rule == IterationRule::outermost);
  CHECK(found.path == "jit_step");
  CHECK(found.instances.size() == 6);
}

TEST_CASE("a range around the whole program is not the iteration, the repeating range in it is") {
  Program program;
  const auto all = program.add_path("main"), forward = program.add_path("forward", all);
  const auto layer = program.add_path("layer", forward);
  for (int i = 0; i < 3; ++i) {
    program.add_range(layer, 100 * i + 10, 100 * i + 20);
    program.add_range(layer, 100 * i + 20, 100 * i + 30);
    program.add_range(forward, 100 * i, 100 * i + 90);
  }
  program.add_range(all, 0, 300);
  CHECK(program.found().path == "main/forward");
}

TEST_CASE("a glob takes all names that it matches as one series") {
  Program program;
  for (int i = 0; i < 5; ++i)
    program.add_range(program.add_path("infer_" + std::to_string(i)), 100 * i, 100 * i + 90);
  const Iterations found = program.found("infer_*");
  CHECK(found.rule == IterationRule::given);
  CHECK(found.path == "infer_*");
  CHECK(found.instances.size() == 5);
  CHECK(program.found("infer_3").instances.size() == 1);
  CHECK_THROWS_AS(program.found("other_*"), Missing);
}

TEST_CASE("a program without ranges iterates over the graph with most GPU time") {
  Program program;
  for (int i = 0; i < 6; ++i) {
    program.add_kernel(1, 1'000 + i * 10'000, 6'000 + i * 10'000, 7);
    program.add_kernel(2, 8'000 + i * 10'000, 8'500 + i * 10'000, 9);
  }
  const Iterations found = program.found();
  CHECK(found.rule == IterationRule::graph);
  CHECK(found.path == "graph 7");
  REQUIRE(found.instances.size() == 6);
  CHECK(found.instances[2].start_ns == 20'500);  // the launch
  CHECK(found.instances[2].end_ns == 30'500);
  // Launched before the third launch, and runs after it.
  CHECK(found.of(test::kernel(99, 0, 20'800, 20'900).work) == 1);
  CHECK(found.of(test::kernel(99, 0, 21'000, 20'900).work) == 2);
  // The last launch ends at 56'000: what comes later is the program's end.
  CHECK(found.of(test::kernel(99, 0, 55'900, 56'100).work) == 5);
  CHECK(found.of(test::kernel(99, 0, 56'000, 56'100).work) == Iterations::kNone);
}

TEST_CASE("otherwise a period in the sequence of kernels marks them, after a warm-up that differs") {
  Program program;
  TimeNs at = 10'000;
  const auto put = [&](std::uint32_t name, TimeNs pause) {
    at += pause;
    program.add_kernel(name, at, at + 100);
    at += 100;
  };
  for (const std::uint32_t name : {9U, 8U, 3U, 9U}) put(name, 50);
  for (int i = 0; i < 8; ++i) {
    put(1, 5'000);  // the program waits
    for (const std::uint32_t name : {2U, 2U, 3U, 2U}) put(name, 10);
  }
  const Iterations found = program.found();
  CHECK(found.rule == IterationRule::kernels);
  CHECK(found.path == "every 5 kernels");
  CHECK(found.instances.size() == 8);
}

TEST_CASE("kernels without a period are no iterations") {
  Program program;
  std::uint32_t state = 1;
  for (int i = 0; i < 300; ++i) {
    state = state * 1'664'525 + 1'013'904'223;
    program.add_kernel(1 + (state >> 24) % 7, 1'000 + i * 200, 1'100 + i * 200);
  }
  const Iterations found = program.found();
  CHECK(found.rule == IterationRule::none);
  CHECK(found.path.empty());
  CHECK(found.instances.empty());
}

TEST_CASE(
    "ranges that hold little of what runs outside of ranges are no iterations, the graph after them is") {
  Program program;
  const auto model = program.add_path("model");
  TimeNs at = 1'000;
  for (int i = 0; i < 3; ++i, at += 2'000) {
    const auto range = program.add_range(model, at, at + 1'000);
    program.add_kernel(1, at + 600, at + 900, 0, model, range);
  }
  CHECK(program.found().path == "model");
  for (int i = 0; i < 20; ++i, at += 2'000) program.add_kernel(2, at + 600, at + 1'600, 7);
  const Iterations found = program.found();
  CHECK(found.path == "graph 7");
  CHECK(found.instances.size() == 20);
}

TEST_CASE("of more work than is kept, the iterations with kept work are judged") {
  Program program;
  const auto step = program.add_path("step");
  constexpr std::size_t kKernels = 2'000;
  for (std::size_t i = 0; i < 3 * RepeatedWork::kMaxKernels / kKernels; ++i) {
    const TimeNs at = 1'000 + 1'000'000 * static_cast<TimeNs>(i);
    const auto range = program.add_range(step, at, at + 900'000);
    for (std::size_t n = 0; n < kKernels; ++n) {
      const TimeNs start = at + 600 + 100 * static_cast<TimeNs>(n);
      program.add_kernel(1, start, start + 90, 0, step, range);
    }
  }
  CHECK(program.found().instances.size() == 300);
}

TEST_CASE("ranges of one name that do different work are no iterations, unless the user names them") {
  Program program;
  const auto phase = program.add_path("phase");
  for (std::uint32_t i = 0; i < 4; ++i) {
    const TimeNs at = 1'000 + 10'000 * i;
    const auto range = program.add_range(phase, at, at + 9'000);
    for (std::uint32_t n = 0; n <= 2 * i; ++n)
      program.add_kernel(10 * i + 1, at + 600 + 100 * n, at + 690 + 100 * n, 0, phase, range);
  }
  CHECK(program.found().instances.empty());
  CHECK(program.found("phase").instances.size() == 4);
}

}  // namespace
}  // namespace rangefinder
