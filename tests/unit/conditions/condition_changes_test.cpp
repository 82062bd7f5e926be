// SPDX-License-Identifier: Apache-2.0
#include "profiler/conditions/condition_changes.h"

#include "profiler/conditions/condition_value.h"
#include "tests/catch.h"

namespace rangefinder {
namespace {

ConditionValues values(std::optional<std::uint64_t> sm_mhz, std::optional<std::uint64_t> power_w) {
  ConditionValues made{};
  value_of(made, Condition::sm_mhz) = sm_mhz;
  value_of(made, Condition::power_w) = power_w;
  return made;
}

TEST_CASE("the first record is complete, the next has what changed, and none is made if nothing did") {
  ConditionChanges changes;

  const auto first = changes.add(10, ConditionOf::gpu, 3, values(1980, 350));
  REQUIRE(first);
  CHECK(first->at_ns == 10);
  CHECK(first->subject == ConditionOf::gpu);
  CHECK(first->id == 3);
  CHECK(first->values == values(1980, 350));

  CHECK_FALSE(changes.add(20, ConditionOf::gpu, 3, values(1980, 350)));

  const auto third = changes.add(30, ConditionOf::gpu, 3, values(1725, 350));
  REQUIRE(third);
  CHECK(third->values == values(1725, std::nullopt));
}

TEST_CASE("changes below the least are compared with what was written, not with the last reading") {
  ConditionChanges changes;
  REQUIRE(kConditions[static_cast<std::size_t>(Condition::power_w)].least == 2);
  (void)changes.add(0, ConditionOf::gpu, 0, values(1980, 350));

  CHECK_FALSE(changes.add(1, ConditionOf::gpu, 0, values(1980, 351)));
  const auto up = changes.add(2, ConditionOf::gpu, 0, values(1980, 352));
  REQUIRE(up);
  CHECK(up->values == values(std::nullopt, 352));

  CHECK_FALSE(changes.add(3, ConditionOf::gpu, 0, values(1980, 351)));
  CHECK(changes.add(4, ConditionOf::gpu, 0, values(1980, 350)));
}

TEST_CASE("a value that appears is written, one that disappears is not") {
  ConditionChanges changes;
  (void)changes.add(0, ConditionOf::gpu, 0, values(1980, std::nullopt));

  const auto appeared = changes.add(1, ConditionOf::gpu, 0, values(1980, 0));
  REQUIRE(appeared);
  CHECK(appeared->values == values(std::nullopt, 0));

  CHECK_FALSE(changes.add(2, ConditionOf::gpu, 0, values(1980, std::nullopt)));
  CHECK_FALSE(changes.add(3, ConditionOf::gpu, 0, values(1980, 1)));
}

TEST_CASE("a subject without values has no record") {
  ConditionChanges changes;

  CHECK_FALSE(changes.add(0, ConditionOf::gpu, 0, {}));
}

TEST_CASE("subjects are separate") {
  ConditionChanges changes;
  (void)changes.add(0, ConditionOf::gpu, 0, values(1980, 350));

  CHECK(changes.add(0, ConditionOf::gpu, 1, values(1980, 350)));
  CHECK(changes.add(0, ConditionOf::process, 0, values(1980, 350)));
  CHECK_FALSE(changes.add(0, ConditionOf::gpu, 0, values(1980, 350)));
}

TEST_CASE("after forget() the next record of every subject is complete") {
  ConditionChanges changes;
  (void)changes.add(0, ConditionOf::gpu, 0, values(1980, 350));
  (void)changes.add(0, ConditionOf::gpu, 1, values(1980, 350));

  changes.forget();

  for (const std::uint32_t gpu : {0U, 1U}) {
    const auto record = changes.add(1, ConditionOf::gpu, gpu, values(1980, 350));
    REQUIRE(record);
    CHECK(record->values == values(1980, 350));
  }
}

TEST_CASE("subjects beyond the bound have no records") {
  ConditionChanges changes;
  for (std::uint32_t gpu = 0; gpu < ConditionChanges::kMaxSubjects; ++gpu)
    REQUIRE(changes.add(0, ConditionOf::gpu, gpu, values(1980, 350)));

  CHECK_FALSE(changes.add(0, ConditionOf::gpu, 1000, values(1980, 350)));
  CHECK(changes.add(1, ConditionOf::gpu, 0, values(1725, 350)));
}

}  // namespace
}  // namespace rangefinder
