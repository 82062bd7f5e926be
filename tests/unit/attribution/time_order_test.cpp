// SPDX-License-Identifier: Apache-2.0
#include "profiler/attribution/time_order.h"

#include <algorithm>
#include <cstdint>
#include <random>
#include <vector>

#include "tests/catch.h"

using namespace rangefinder;

namespace {

struct Item {
  TimeNs at_ns = 0;
  std::uint64_t number = 0;  // order of addition
};

constexpr std::uint64_t kItems = 5 * TimeOrder<Item>::kPlaces + 7;

/// The items in output order; `time_of(number)` gives their times.
template <typename TimeOf>
std::vector<Item> ordered(const TimeOf& time_of) {
  std::vector<Item> out;
  const auto keep = [&out](const Item& item) { out.push_back(item); };
  TimeOrder<Item> order;
  for (std::uint64_t i = 0; i < kItems; ++i) order.add({time_of(i), i}, keep);
  order.finish(keep);
  return out;
}

std::vector<std::uint64_t> numbers(const std::vector<Item>& items) {
  std::vector<std::uint64_t> out;
  for (const Item& item : items) out.push_back(item.number);
  return out;
}

}  // namespace

TEST_CASE("items up to 65,536 places late are sorted stably") {
  std::mt19937 random(7);
  std::vector<Item> items;
  for (std::uint64_t i = 0; i < kItems; ++i) {
    // The second of two streams is late; times are coarse, so many are equal.
    const std::uint64_t late = i % 2 == 0 ? 0 : random() % (TimeOrder<Item>::kPlaces / 2);
    items.push_back({static_cast<TimeNs>((i - std::min(i, late)) / 4), i});
  }

  const std::vector<Item> out = ordered([&items](std::uint64_t i) { return items[i].at_ns; });

  std::stable_sort(items.begin(), items.end(),
                   [](const Item& a, const Item& b) { return a.at_ns < b.at_ns; });
  CHECK(numbers(out) == numbers(items));
}

TEST_CASE("an item that comes too late is still emitted once") {
  const std::vector<Item> out =
      ordered([](std::uint64_t i) { return i == kItems - 1 ? TimeNs{-1} : static_cast<TimeNs>(i); });

  CHECK(out.size() == kItems);
  std::vector<bool> seen(kItems);
  for (const Item& item : out) seen[item.number] = true;
  CHECK(std::find(seen.begin(), seen.end(), false) == seen.end());
  CHECK(out.front().number == 0);
}

TEST_CASE("it can be used again after finish()") {
  std::vector<TimeNs> out;
  const auto keep = [&out](const Item& item) { out.push_back(item.at_ns); };
  TimeOrder<Item> order;

  order.add({20, 0}, keep);
  order.add({10, 1}, keep);
  order.finish(keep);
  order.add({5, 2}, keep);
  order.add({3, 3}, keep);
  order.finish(keep);

  CHECK(out == std::vector<TimeNs>{10, 20, 3, 5});
}
