// SPDX-License-Identifier: Apache-2.0
//
// Threads capture, instantiate, update, launch and destroy graphs at once, and launch eagerly beside their
// captures. Events are read in batches, thread by thread; records come later, after further updates. Every
// record must have the path that its node had when it was launched.
#include <algorithm>
#include <cstdint>
#include <deque>
#include <memory>
#include <random>
#include <vector>

#include "profiler/drain/trace_builder.h"
#include "tests/catch.h"
#include "tests/unit/drain/built_trace.h"
#include "tests/unit/events/made_graphs.h"

using namespace rangefinder;
using namespace rangefinder::test;

namespace {

constexpr std::uint32_t kPaths = 5;

/// Random programs of several threads, and what the trace must say of them.
class Program {
 public:
  Program(BuiltTrace& trace, std::uint32_t seed) : trace_(trace), random_(seed) {
    for (std::uint32_t i = 0; i < kPaths; ++i)
      paths_.push_back(trace.recorder.paths.child({0, trace.name("range " + std::to_string(i)), 0}));
    for (int i = 0; i < 3; ++i) threads_.push_back({MadeGraphs(trace.recorder.graphs), {}, {}});
  }

  void run(int steps) {
    for (int i = 0; i < steps; ++i) step();
    read_events();
    deliver(records_.size());
    trace_.builder.finish();
  }

  /// By kernel record, in the order of delivery.
  [[nodiscard]] const std::vector<std::uint32_t>& expected() const { return expected_; }
  [[nodiscard]] std::uint64_t graph_launches() const { return graph_launches_; }
  [[nodiscard]] std::uint64_t eager_launches() const { return eager_launches_; }

 private:
  struct Template {
    std::uint32_t graph;
    bool nested;  // its kernels are in a child graph, behind one of its own
    std::vector<std::uint32_t> paths;
  };
  struct Executable {
    std::uint32_t id;
    Template now;
  };
  struct Thread {
    MadeGraphs graphs;
    std::vector<Event> events;  // not read yet
    std::vector<Template> templates;
  };
  struct Record {
    std::uint32_t correlation;
    std::uint64_t node;  // 0: of an eager launch
    std::uint32_t graph, path;
  };

  std::uint32_t below(std::size_t limit) { return static_cast<std::uint32_t>(random_() % limit); }
  std::uint32_t any_path() { return paths_[below(kPaths)]; }
  Thread& any_thread() { return threads_[below(threads_.size())]; }

  void step() {
    switch (below(9)) {
      case 0:
        return capture(any_thread());
      case 1:
      case 2:
        return instantiate(any_thread());
      case 3:
        return update();
      case 4:
      case 5:
      case 6:
        return launch(any_thread());
      case 7:
        if (below(4) == 0) return destroy(any_thread());
        return launch_eagerly(any_thread());
      default:
        read_events();
        return deliver(below(records_.size() + 1));
    }
  }

  void emit_launch(Thread& thread, const char* api, std::uint32_t path, std::uint8_t flags,
                   std::uint64_t id) {
    Event event = launch_event(++correlation_, api, path, id);
    event.range = 0;
    event.flags = flags;
    thread.events.push_back(event);
  }

  void capture(Thread& thread) {
    Template made{0, below(3) == 0, {}};
    std::vector<std::uint32_t> paths(1 + below(2) * 3);  // two sizes, so that updates find partners
    for (std::uint32_t& path : paths) path = any_path();
    made.paths = paths;
    const std::uint32_t captured = thread.graphs.capture(paths);
    for (const std::uint32_t path : paths) emit_launch(thread, "cuLaunchKernel", path, kLaunchCaptured, 0);
    if (below(2) == 0) launch_eagerly(thread);
    made.graph = captured;
    if (made.nested) {
      const std::uint32_t own = any_path();
      made.graph = thread.graphs.create();
      thread.graphs.table.graph_stands_alone(thread.graphs.calls);
      thread.graphs.add(made.graph, origin(own));
      thread.graphs.add_child(made.graph, captured);
      made.paths.insert(made.paths.begin(), {own, 0});
      thread.graphs.destroy(captured);
    }
    thread.templates.push_back(made);
  }

  void instantiate(Thread& thread) {
    if (thread.templates.empty()) return capture(thread);
    const Template& from = thread.templates[below(thread.templates.size())];
    executables_.push_back({thread.graphs.instantiate(from.graph), from});
  }

  void update() {
    Thread& thread = any_thread();
    if (executables_.empty() || thread.templates.empty()) return;
    Executable& executable = executables_[below(executables_.size())];
    const Template& with = thread.templates[below(thread.templates.size())];
    if (with.nested != executable.now.nested || with.paths.size() != executable.now.paths.size()) return;
    thread.graphs.table.updated(executable.id, with.graph);
    executable.now = with;
  }

  void launch(Thread& thread) {
    if (executables_.empty()) return;
    const Executable& executable = executables_[below(executables_.size())];
    emit_launch(thread, "cuGraphLaunch", any_path(), 0, thread.graphs.table.launched(executable.id));
    ++graph_launches_;
    for (std::uint32_t number = 0; number < executable.now.paths.size(); ++number) {
      if (executable.now.nested && number == 1) continue;  // the node that holds the graph
      records_.push_back({correlation_, std::uint64_t{executable.id} << 32 | number, executable.id,
                          executable.now.paths[number]});
    }
  }

  void launch_eagerly(Thread& thread) {
    const std::uint32_t path = any_path();
    emit_launch(thread, "cuLaunchKernel", path, 0, 0);
    ++eager_launches_;
    records_.push_back({correlation_, 0, 0, path});
  }

  void destroy(Thread& thread) {
    if (below(2) == 0 && !executables_.empty()) {
      const std::size_t which = below(executables_.size());
      thread.graphs.table.executable_destroyed(executables_[which].id);
      thread.graphs.destroy(executables_[which].id);
      executables_.erase(executables_.begin() + static_cast<std::ptrdiff_t>(which));
    } else if (!thread.templates.empty()) {
      const std::size_t which = below(thread.templates.size());
      thread.graphs.destroy(thread.templates[which].graph);
      thread.templates.erase(thread.templates.begin() + static_cast<std::ptrdiff_t>(which));
    }
  }

  void read_events() {
    const std::uint64_t mark = trace_.recorder.graphs.mark();
    for (Thread& thread : threads_) {
      for (const Event& event : thread.events) trace_.event(event);
      thread.events.clear();
    }
    trace_.recorder.graphs.forget(mark);
  }

  /// The oldest `count` records, slightly out of order.
  void deliver(std::size_t count) {
    for (; count > 0 && !records_.empty(); --count) {
      const std::size_t which = below(std::min<std::size_t>(records_.size(), 4));
      const Record record = records_[which];
      records_.erase(records_.begin() + static_cast<std::ptrdiff_t>(which));
      KernelActivity kernel = kernel_activity(record.correlation);
      kernel.work.graph = record.graph;
      kernel.work.graph_node = record.node;
      expected_.push_back(record.path);
      trace_.builder.on_kernel(kernel);
    }
  }

  BuiltTrace& trace_;
  std::mt19937 random_;
  std::vector<std::uint32_t> paths_;
  std::vector<Thread> threads_;
  std::vector<Executable> executables_;
  std::deque<Record> records_;
  std::vector<std::uint32_t> expected_;
  std::uint32_t correlation_ = 0;
  std::uint64_t graph_launches_ = 0, eager_launches_ = 0;
};

}  // namespace

TEST_CASE(
    "for any order of captures, updates, launches and records, each record has its path at the launch") {
  for (std::uint32_t seed = 1; seed <= 60; ++seed) {
    INFO("seed " << seed);
    BuiltTrace trace;
    Program program(trace, seed);

    program.run(400);

    std::vector<std::uint32_t> found;
    for (const KernelRecord& kernel : trace.read().all<KernelRecord>()) found.push_back(kernel.work.path);
    CHECK(found == program.expected());
    CHECK(trace.balance(WorkKind::graph).recorded == program.graph_launches());
    CHECK(trace.balance(WorkKind::graph).launched == program.graph_launches());
    CHECK(trace.balance(WorkKind::kernel).recorded == program.eager_launches());
    CHECK(trace.balance(WorkKind::kernel).launched == program.eager_launches());
    for (const Loss cause : {Loss::graph_nodes_unseen, Loss::record_without_launch,
                             Loss::launch_without_record, Loss::record_sink_errors})
      CHECK(trace.loss(cause) == 0);
  }
}
