// SPDX-License-Identifier: Apache-2.0
//
// Callbacks in the order of docs/internals/graph-callbacks.md.
#include "profiler/events/graph_table.h"

#include <map>
#include <memory>
#include <random>
#include <vector>

#include "profiler/events/recorder.h"
#include "tests/catch.h"
#include "tests/unit/events/made_graphs.h"

using namespace rangefinder;
using namespace rangefinder::test;

namespace {

struct Owned {
  LossLedger loss;
  GraphTable owned_table{loss};
};
struct Graphs : Owned, MadeGraphs {
  Graphs() : MadeGraphs(owned_table) {}
};

using Paths = std::vector<std::uint32_t>;

}  // namespace

TEST_CASE("an executable has the paths of the capture, also after the graph was destroyed") {
  Graphs graphs;
  const std::uint32_t graph = graphs.capture({1, 1, 2});
  const std::uint32_t first = graphs.instantiate(graph), second = graphs.instantiate(graph);
  graphs.destroy(graph);

  CHECK(graphs.launch(first, 4) == Paths{1, 1, 2, 0});
  CHECK(graphs.launch(second, 3) == Paths{1, 1, 2});
  CHECK(graphs.loss.get(Loss::record_sink_errors) == 0);
}

TEST_CASE("a launch keeps what it launched, whatever the executable is updated with later") {
  Graphs graphs;
  const std::uint32_t executable = graphs.instantiate(graphs.capture({1, 1}));
  const std::uint64_t before = graphs.table.launched(executable);
  CHECK(graphs.table.launched(executable) == before);

  const std::uint32_t other = graphs.capture({2, 3});
  graphs.table.updated(executable, other);
  const std::uint64_t after = graphs.table.launched(executable);
  graphs.add(other, origin(4));  // the graph goes on growing
  graphs.destroy(other);

  CHECK(graphs.table.find(before)->at(1).path == 1);
  CHECK(graphs.table.find(after)->at(0).path == 2);
  CHECK(graphs.table.find(after)->at(1).path == 3);
  CHECK_FALSE(graphs.table.find(after)->at(2).known);
}

TEST_CASE("what was replaced is forgotten once all events were read") {
  Graphs graphs;
  const std::uint32_t executable = graphs.instantiate(graphs.capture({1}));
  const std::uint64_t first = graphs.table.launched(executable);
  graphs.table.updated(executable, graphs.capture({2}));
  const std::uint64_t mark = graphs.table.mark();
  const std::uint64_t second = graphs.table.launched(executable);
  graphs.table.updated(executable, graphs.capture({3}));

  graphs.table.forget(mark);

  CHECK(graphs.table.find(first) == nullptr);
  REQUIRE(graphs.table.find(second));
  graphs.table.forget(graphs.table.mark());
  CHECK(graphs.table.find(second) == nullptr);
  graphs.table.executable_destroyed(executable);
  CHECK(graphs.table.launched(executable) == 0);
}

TEST_CASE("nodes of child graphs follow those of the graph, nested ones those of their parents") {
  Graphs graphs;
  const std::uint32_t inner = graphs.capture({5, 6}), middle = graphs.create(), outer = graphs.create();
  graphs.table.graph_stands_alone(graphs.calls);
  for (int i = 0; i < 2; ++i) graphs.add_child(middle, inner);
  graphs.add(middle, origin(4));
  graphs.add_child(outer, middle);
  graphs.add(outer, origin(3));

  const Paths expected{0, 3, 0, 0, 4, 5, 6, 5, 6};
  const std::uint32_t executable = graphs.instantiate(outer);
  CHECK(graphs.launch(executable, 9) == expected);
  CHECK(graphs.launch(graphs.instantiate(graphs.clone(outer)), 9) == expected);

  // Another graph of the same shape.
  const std::uint32_t inner2 = graphs.capture({15, 16}), middle2 = graphs.create(), outer2 = graphs.create();
  graphs.table.graph_stands_alone(graphs.calls);
  for (int i = 0; i < 2; ++i) graphs.add_child(middle2, i == 0 ? inner : inner2);
  graphs.add(middle2, origin(14));
  const std::uint64_t holder = graphs.add_child(outer2, middle2);
  graphs.add(outer2, origin(13));
  graphs.table.updated(executable, outer2);
  CHECK(graphs.launch(executable, 9) == Paths{0, 13, 0, 0, 14, 5, 6, 15, 16});

  graphs.table.child_updated(executable, holder, middle);
  CHECK(graphs.launch(executable, 9) == Paths{0, 13, 0, 0, 4, 5, 6, 5, 6});
}

TEST_CASE("after an instantiation that failed, nodes are of their graphs again") {
  Graphs graphs;
  const std::uint32_t graph = graphs.capture({1}), failed = graphs.clone(graph);
  graphs.table.instantiation_begins(graphs.calls, failed);  // nothing says that it ended
  graphs.destroy(failed);

  graphs.add(graph, origin(2));

  CHECK(graphs.launch(graphs.instantiate(graph), 2) == Paths{1, 2});
}

TEST_CASE("bodies of a conditional node are filled after it was added") {
  Graphs graphs;
  const std::uint32_t graph = graphs.create();
  graphs.table.graph_stands_alone(graphs.calls);
  const auto bodies = graphs.add_conditional(graph, 2);
  graphs.add(bodies[0], origin(7));
  graphs.add(bodies[1], origin(8));
  graphs.add(bodies[1], origin(9));

  const std::uint32_t executable = graphs.instantiate(graph);

  CHECK(graphs.launch(executable, 4) == Paths{0, 7, 8, 9});
  CHECK(graphs.table.find(graphs.table.launched(executable))->has_bodies());
  CHECK_FALSE(
      graphs.table.find(graphs.table.launched(graphs.instantiate(graphs.capture({1}))))->has_bodies());
}

TEST_CASE("a clone of a graph that lost a node has the numbers of the original") {
  Graphs graphs;
  const std::uint32_t graph = graphs.capture({1, 2, 3});  // node 1 is destroyed
  const std::uint32_t copy = graphs.create();
  const auto clone_as = [&](std::uint32_t created, std::uint32_t number) {
    graphs.table.node_created(graphs.calls, std::uint64_t{copy} << 32 | created, origin(99));
    graphs.table.node_cloned(graphs.calls, std::uint64_t{copy} << 32 | number,
                             std::uint64_t{graph} << 32 | number);
  };
  clone_as(0, 0);
  clone_as(1, 2);
  graphs.table.instantiation_begins(graphs.calls, copy);
  graphs.table.instantiated(graphs.calls, copy);

  // An update pairs nodes in order.
  const std::uint64_t before = graphs.table.launched(copy);
  graphs.table.updated(copy, graphs.capture({5, 6}));
  CHECK(graphs.launch(copy, 3) == Paths{5, 0, 6});
  const auto launched = graphs.table.find(before);
  CHECK(launched->at(0).path == 1);
  CHECK_FALSE(launched->at(1).known);
  CHECK(launched->at(2).path == 3);
}

TEST_CASE("children of a graph that lost a node, and that lost one themselves, follow without gaps") {
  Graphs graphs;
  const std::uint32_t first = graphs.capture({1, 2, 3}), second = graphs.capture({4, 5});
  const std::uint32_t outer = graphs.capture({6, 7, 8});
  graphs.lose(first, 1);
  graphs.lose(outer, 1);
  graphs.add_child(outer, first);
  graphs.add_child(outer, second);

  const std::uint32_t executable = graphs.instantiate(outer);

  CHECK(graphs.launch(executable, 9) == Paths{6, 0, 8, 0, 0, 1, 3, 4, 5});
}

TEST_CASE("the numbers of a graph whose creation was not seen are not guessed") {
  Graphs graphs;
  CHECK_FALSE(graphs.table.next_node_created(graphs.calls, 77, origin(1)));
  graphs.table.node_created(graphs.calls, std::uint64_t{77} << 32 | 5, origin(1));
  CHECK(graphs.table.next_node_created(graphs.calls, 77, origin(2)));

  CHECK(graphs.table.origin(std::uint64_t{77} << 32 | 6).path == 2);
  CHECK_FALSE(graphs.table.origin(std::uint64_t{77} << 32 | 4).known);
}

TEST_CASE(
    "a node of a child graph with another function: its number in the executable skips destroyed nodes") {
  Graphs graphs;
  const std::uint32_t child = graphs.create(), outer = graphs.create();
  graphs.table.graph_stands_alone(graphs.calls);
  for (std::uint32_t kernel : {11U, 12U}) graphs.add(child, origin(1, kernel));
  graphs.add(outer, origin(3, 13));
  graphs.add_child(outer, child);
  const std::uint32_t executable = graphs.instantiate(outer);

  graphs.table.function_set(executable, std::uint64_t{graphs.child_of(outer)} << 32 | 1);

  const auto launched = graphs.table.find(graphs.table.launched(executable));
  CHECK(launched->at(0).kernel == 13);
  CHECK(launched->at(2).kernel == 11);
  CHECK(launched->at(3).kernel == 0);
}

TEST_CASE("a node with another function has the name of the record, in that executable only") {
  Graphs graphs;
  const std::uint32_t graph = graphs.create();
  graphs.table.graph_stands_alone(graphs.calls);
  for (std::uint32_t kernel : {11U, 12U}) graphs.add(graph, origin(1, kernel));
  const std::uint32_t changed = graphs.instantiate(graph), same = graphs.instantiate(graph);
  const std::uint64_t before = graphs.table.launched(changed);

  graphs.table.function_set(changed, std::uint64_t{graph} << 32 | 1);

  CHECK(graphs.table.find(before)->at(1).kernel == 12);
  CHECK(graphs.table.find(graphs.table.launched(changed))->at(0).kernel == 11);
  CHECK(graphs.table.find(graphs.table.launched(changed))->at(1).kernel == 0);
  CHECK(graphs.table.find(graphs.table.launched(changed))->at(1).path == 1);
  CHECK(graphs.table.find(graphs.table.launched(same))->at(1).kernel == 12);
  graphs.table.function_set(std::uint64_t{graph} << 32);  // of the graph, before the next instantiation
  CHECK(graphs.table.find(graphs.table.launched(graphs.instantiate(graph)))->at(0).kernel == 0);
}

TEST_CASE("graphs made before anybody looked are unknown, until an update names one that is known") {
  Graphs graphs;
  CHECK(graphs.table.launched(500) == 0);

  graphs.table.updated(500, graphs.capture({4, 5}));

  CHECK(graphs.launch(500, 2) == Paths{4, 5});
}

TEST_CASE("a new window keeps the paths and forgets the ranges") {
  Graphs graphs;
  const std::uint32_t executable = graphs.instantiate(graphs.capture({1}));
  const std::uint32_t updated = graphs.instantiate(graphs.capture({2}));
  const std::uint32_t gone = graphs.capture({3});
  graphs.table.updated(updated, gone);
  graphs.destroy(gone);
  graphs.table.end_reading();
  CHECK(graphs.table.launched(executable) == 0);

  graphs.table.begin_reading();

  for (const auto& [which, path] : std::map<std::uint32_t, std::uint32_t>{{executable, 1}, {updated, 3}}) {
    const NodeOrigin made = graphs.table.find(graphs.table.launched(which))->at(0);
    CHECK(made.path == path);
    CHECK(made.range == 0);
  }
}

TEST_CASE("origins by number are those that were set last, in any order") {
  constexpr std::uint32_t kSeed = 20261128;
  INFO("seed " << kSeed);
  std::mt19937 engine(kSeed);
  for (int round = 0; round < 200; ++round) {
    NodePaths paths;
    std::map<std::uint32_t, NodeOrigin> expected;
    for (int step = 0; step < 60; ++step) {
      const std::uint32_t number = static_cast<std::uint32_t>(engine()) % 30;
      const NodeOrigin made = origin(static_cast<std::uint32_t>(engine()) % 3 + 1);
      paths.set(number, made);
      expected[number] = made;
    }
    bool same = paths.size() == expected.rbegin()->first + 1;
    for (std::uint32_t number = 0; number < 31; ++number) {
      const auto at = expected.find(number);
      same &= paths.at(number) == (at == expected.end() ? NodeOrigin() : at->second);
    }
    CHECK(same);
  }
}

TEST_CASE("consecutive nodes of one range take no memory of their own") {
  NodePaths paths;
  for (std::uint32_t number = 0; number < 100'000; ++number) paths.set(number, origin(number / 50'000 + 1));

  CHECK(paths.runs().size() == 2);
  CHECK(paths.size() == 100'000);
}
