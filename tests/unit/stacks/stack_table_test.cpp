// SPDX-License-Identifier: Apache-2.0
#include "profiler/events/stack_table.h"

#include "tests/catch.h"

namespace rangefinder {
namespace {

TEST_CASE("equal frames and stacks have equal ids, callers before those that they call") {
  LossLedger loss;
  StackTable table(loss);
  const std::uint32_t main = table.frame({10, 20, 5});
  CHECK(table.frame({10, 20, 5}) == main);
  CHECK(table.frame({10, 20, 6}) != main);
  const std::uint32_t outer = table.stack({0, main});
  const std::uint32_t inner = table.stack({outer, table.frame({11, 20, 7})});
  CHECK(outer > kOtherStack);
  CHECK(inner > outer);
  CHECK(table.stack({0, main}) == outer);
  CHECK(table.stack_at(inner).caller == outer);
  CHECK(table.frame_at(table.stack_at(inner).frame) == StackFrame{11, 20, 7});
  CHECK(loss.get(Loss::stacks_folded) == 0);
}

TEST_CASE("further stacks are (other), and counted") {
  LossLedger loss;
  StackTable table(loss);
  const std::uint32_t frame = table.frame({10, 0, 1});
  std::uint32_t last = 0;
  for (std::uint32_t i = 1; i < StackTable::kMaxStacks; ++i) last = table.stack({last, frame});
  CHECK(last == StackTable::kMaxStacks);
  CHECK(table.stack({last, frame}) == kOtherStack);
  CHECK(table.stack({kOtherStack, frame}) == kOtherStack);
  CHECK(table.frame_at(table.stack_at(kOtherStack).frame).function == kOtherName);
  CHECK(loss.get(Loss::stacks_folded) == 2);
  CHECK(table.stack({0, frame}) != kOtherStack);
}

}  // namespace
}  // namespace rangefinder
