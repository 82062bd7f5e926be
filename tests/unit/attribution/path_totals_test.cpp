// SPDX-License-Identifier: Apache-2.0
//
// The tree of paths: inclusive and own values, and the order of rows.
#include "profiler/attribution/path_totals.h"

#include <string>
#include <vector>

#include "tests/catch.h"
#include "tests/unit/attribution/totals_records.h"

using namespace rangefinder;
using namespace rangefinder::totals_records;

TEST_CASE("without records there is only the row of work outside any range") {
  const TotalsBuilder totals = tree();

  CHECK(paths_of(totals) == std::vector<std::uint32_t>{0});
  CHECK(totals.gpu_span() == std::pair<TimeNs, TimeNs>{0, 0});
  CHECK(totals.gpu_busy_ns() == 0);
}

TEST_CASE("a kernel counts once at its own path and at each ancestor") {
  const TotalsBuilder totals = tree(kernel(2, 0, 10), kernel(2, 20, 25), kernel(1, 30, 31));

  CHECK(row_of(totals, 2).gpu_ns == 15);
  CHECK(row_of(totals, 2).gpu_ns_exclusive == 15);
  CHECK(row_of(totals, 1).kernels == 3);
  CHECK(row_of(totals, 1).gpu_ns == 16);
  CHECK(row_of(totals, 1).gpu_ns_exclusive == 1);
  CHECK(row_of(totals, 1).gpu_busy_ns == 16);
}

TEST_CASE("busy time is the union over a path and its descendants") {
  const TotalsBuilder totals = tree(kernel(2, 0, 100), kernel(3, 50, 150), kernel(4, 140, 200));

  CHECK(row_of(totals, 2).gpu_busy_ns == 100);
  CHECK(row_of(totals, 3).gpu_busy_ns == 100);
  CHECK(row_of(totals, 1).gpu_busy_ns == 150);
  CHECK(row_of(totals, 1).gpu_ns == 200);
  CHECK(totals.gpu_busy_ns() == 200);
}

TEST_CASE("records out of order give the same totals") {
  TotalsBuilder forwards = tree(), backwards = tree();
  for (int i = 0; i < 10; ++i) forwards.add(kernel(2, i * 10, i * 10 + 15));
  for (int i = 9; i >= 0; --i) backwards.add(kernel(2, i * 10, i * 10 + 15));

  CHECK(row_of(forwards, 1).gpu_busy_ns == 105);
  CHECK(row_of(backwards, 1).gpu_busy_ns == 105);
  CHECK(row_of(backwards, 1).gpu_ns == row_of(forwards, 1).gpu_ns);
}

TEST_CASE("work outside any range is in the last row and in no path") {
  const PathTotals outside = tree(kernel(0, 5, 9), kernel(4, 5, 6)).paths().back();
  CHECK(outside.path == 0);
  CHECK(outside.kernels == 1);
  CHECK(outside.gpu_ns == 4);
  CHECK(outside.gpu_ns_exclusive == 4);
  CHECK(outside.gpu_busy_ns == 4);
}

TEST_CASE("rows are parents first, each subtree contiguous, without unused paths") {
  TotalsBuilder totals = tree();
  totals.add_path({5, 2, 0, "layer"});
  totals.add_path({6, 4, 0, "never used"});
  totals.add(kernel(4, 0, 1));
  totals.add(kernel(5, 0, 1));
  totals.add(range(3, 0, 1));

  CHECK(paths_of(totals) == std::vector<std::uint32_t>{1, 2, 5, 3, 4, 0});
  CHECK(row_of(totals, 1).depth == 1);
  CHECK(row_of(totals, 2).depth == 2);
  CHECK(row_of(totals, 5).depth == 3);
}

TEST_CASE("calls, host time and declared bytes are a path's own") {
  TotalsBuilder totals = tree();
  totals.add_category({7, 3, "rangefinder.bytes"});
  RangeRecord declared = range(2, 10, 30);
  declared.domain = 7;
  declared.extras = {3, 0, PayloadType::u64, 4096, 0, {}};
  totals.add(declared);
  totals.add(declared);
  totals.add(range(1, 0, 100));

  CHECK(row_of(totals, 2).calls == 2);
  CHECK(row_of(totals, 2).host_ns == 40);
  CHECK(row_of(totals, 2).declared_bytes == 8192);
  CHECK(row_of(totals, 1).calls == 1);
  CHECK(row_of(totals, 1).host_ns == 100);
  CHECK(row_of(totals, 1).declared_bytes == 0);
}

TEST_CASE("bytes declared at the capture of a graph count for each replay, if they are those of one graph") {
  const auto replayed = [](std::uint32_t path, std::uint32_t launch, std::uint32_t graph = 9) {
    KernelRecord out = launched(kernel(path, 10 * launch, 10 * launch + 5), launch);
    out.work.graph = graph;
    out.work.captured = graph != 0;
    return out;
  };
  const auto declared = [](const auto&... kernels) {
    TotalsBuilder totals = tree(kernels...);
    totals.add_category({7, 3, "rangefinder.bytes"});
    for (const std::uint32_t path : {1, 2}) {
      RangeRecord range = totals_records::range(path, 0, 1);
      range.domain = 7;
      range.extras = {3, 0, PayloadType::u64, 100U * path, 0, {}};
      totals.add(range);
    }
    return std::vector<std::uint64_t>{row_of(totals, 1).declared_bytes, row_of(totals, 2).declared_bytes};
  };

  // Three launches; two kernels of the encoder in the first.
  CHECK(declared(replayed(2, 1), replayed(2, 1), replayed(2, 2), replayed(3, 2), replayed(2, 3)) ==
        std::vector<std::uint64_t>{300, 600});
  // One of the model's kernels is not of the graph.
  CHECK(declared(replayed(2, 1), replayed(2, 2), kernel(3, 50, 60)) == std::vector<std::uint64_t>{0, 400});
  CHECK(declared(replayed(2, 1), replayed(2, 2, 8)) == std::vector<std::uint64_t>{0, 0});
  CHECK(declared(kernel(2, 50, 60), kernel(2, 70, 80)) == std::vector<std::uint64_t>{100, 200});
}

TEST_CASE("a payload declares bytes only with the right domain, category and type, on push/pop ranges") {
  TotalsBuilder totals = tree();
  totals.add_category({7, 3, "rangefinder.bytes"});
  totals.add_category({7, 4, "another"});
  RangeRecord right = range(2, 0, 1);
  right.domain = 7;
  right.extras = {3, 0, PayloadType::u64, 100, 0, {}};
  RangeRecord domain = right, category = right, type = right, start_end = right;
  domain.domain = 0;
  category.extras.category = 4;
  type.extras.payload_type = PayloadType::i64;
  start_end.name = 1;
  for (const RangeRecord& wrong : {domain, category, type, start_end}) totals.add(wrong);

  CHECK(row_of(totals, 2).declared_bytes == 0);
  CHECK(row_of(totals, 2).calls == 3);  // a start/end range is no call of its path
}

TEST_CASE("a range never closed is a call without host time") {
  const PathTotals row = row_of(tree(range(1, 10, kNoTime)), 1);

  CHECK(row.calls == 1);
  CHECK(row.host_ns == 0);
}

TEST_CASE("cycles, unknown parents and huge ids of a damaged trace are handled") {
  TotalsBuilder totals;
  totals.add_path({1, 2, 0, "a"});
  totals.add_path({2, 1, 0, "b"});
  totals.add_path({3, 3, 0, "its own parent"});
  totals.add_path({0, 1, 0, "no path"});
  totals.add_path({4000000000, 3999999999, 0, "of an unknown parent"});
  totals.add(kernel(2, 0, 10));
  totals.add(kernel(3, 0, 10));
  totals.add(kernel(4000000000, 0, 10));
  totals.add(kernel(77, 0, 10));  // never declared

  CHECK(paths_of(totals) == std::vector<std::uint32_t>{1, 2, 3, 3999999999, 4000000000, 77, 0});
  CHECK(row_of(totals, 1).gpu_ns == 10);
  CHECK(row_of(totals, 3999999999).gpu_ns == 10);
  CHECK(row_of(totals, 77).depth == 1);
}

TEST_CASE("a parent declared after its child still gets the child's sums") {
  TotalsBuilder totals;
  totals.add_path({5, 2, 0, "child"});
  totals.add_path({2, 1, 0, "parent"});
  totals.add_path({1, 0, 0, "root"});
  totals.add(kernel(5, 0, 10));

  CHECK(paths_of(totals) == std::vector<std::uint32_t>{1, 2, 5, 0});
  CHECK(row_of(totals, 1).gpu_busy_ns == 10);
}

TEST_CASE("reversed times of a damaged trace count as 0") {
  const PathTotals row = row_of(tree(kernel(2, 10, 5), range(2, 10, 5)), 2);

  CHECK(row.gpu_ns == 0);
  CHECK(row.host_ns == 0);
}

TEST_CASE("a path is its names joined, with slashes inside names escaped") {
  const std::vector<std::string> names = {"", "model", "layers/0", "a\\b"};
  const auto name_of = [&](std::uint32_t id) -> const std::string& { return names[id]; };
  const auto parent_of = [](std::uint32_t id) { return id - 1; };

  CHECK(join_path(3, name_of, parent_of) == "model/layers\\/0/a\\\\b");
  CHECK(join_path(0, name_of, parent_of).empty());
}

TEST_CASE("joining a path with cyclic parents ends") {
  const auto name_of = [](std::uint32_t id) { return std::to_string(id); };
  const auto parent_of = [](std::uint32_t id) { return id == 2 ? 1u : 2u; };

  CHECK(join_path(2, name_of, parent_of) == "1/2");
}
