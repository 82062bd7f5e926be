// SPDX-License-Identifier: Apache-2.0
#include "tools/analysis/model/packed_column.h"

#include <algorithm>
#include <cstdint>
#include <random>
#include <vector>

#include "tests/catch.h"

using namespace rangefinder;

namespace {

using Values = std::vector<std::uint64_t>;

/// A column of values, as it is put and packed.
struct Packing {
  explicit Packing(Values put) : values(std::move(put)) {
    raw.reserve(values.size());
    for (std::size_t i = 0; i < values.size(); ++i) raw.put(i, values[i]);
    packed = raw.packed(values.size(), memory);
  }

  [[nodiscard]] std::size_t bytes() const { return packed.packed_bytes(values.size()); }
  [[nodiscard]] static Values part(const PackedColumn& of, std::size_t first, std::size_t count) {
    Values scratch(count);
    const std::uint64_t* const read = of.values(first, count, scratch.data());
    return {read, read + count};
  }
  /// Whether each part of the packed values is that of the values that were put.
  [[nodiscard]] bool same(std::size_t first, std::size_t count) const {
    const auto begin = values.begin() + static_cast<std::ptrdiff_t>(first);
    const Values expected(begin, begin + static_cast<std::ptrdiff_t>(count));
    return part(raw, first, count) == expected && part(packed, first, count) == expected;
  }
  [[nodiscard]] bool same() const { return same(0, values.size()); }

  Values values;
  ColumnMemory memory;
  PackedColumn raw, packed;
};

/// Values in [base, base + 2^bits), with both ends among them.
Values random_values(std::uint64_t base, unsigned bits, std::size_t rows, std::uint32_t seed) {
  std::mt19937_64 random(seed);
  const std::uint64_t mask = bits == 0 ? 0 : ~std::uint64_t{0} >> (64 - bits);
  Values out(rows);
  for (std::uint64_t& value : out) value = base + (random() & mask);
  out[rows / 3] = base;
  out[rows / 2] = base + mask;
  return out;
}

}  // namespace

TEST_CASE("values of every range of bits come back, in as few bytes as the range needs") {
  for (unsigned bits = 0; bits <= 64; ++bits) {
    for (const std::uint64_t base : {std::uint64_t{0}, std::uint64_t{7'000'000'000}}) {
      CAPTURE(bits, base);
      const Packing column(random_values(base, bits, 500, bits));

      CHECK(column.same());
      CHECK(column.bytes() == 500 * ((bits + 7) / 8));
    }
  }
}

TEST_CASE("a range one value below and above a width's limit has the right width") {
  for (unsigned width = 1; width < 8; ++width) {
    const std::uint64_t largest = (std::uint64_t{1} << (8 * width)) - 1;
    CAPTURE(width);
    for (const bool rises : {false, true}) {
      const std::uint64_t first = rises ? 1'000 : 1'000 + largest, last = rises ? 1'000 + largest : 1'000;
      const std::uint64_t beyond = rises ? last + 1 : last - 1;
      const Packing fits({first, last, first}), exceeds({first, beyond, first});

      CHECK(fits.same());
      CHECK(fits.bytes() == 3 * width);
      CHECK(exceeds.same());
      CHECK(exceeds.bytes() == 3 * (width + 1));
    }
  }
}

TEST_CASE("a constant column takes no memory") {
  for (const std::uint64_t value :
       {std::uint64_t{0}, std::uint64_t{42}, UINT64_MAX, std::uint64_t{1} << 63}) {
    const Packing column(Values(2'000, value));

    CHECK(column.same());
    CHECK(column.bytes() == 0);
  }
}

TEST_CASE("ids that ascend by one a row take no memory") {
  Values ids(3'000);
  for (std::size_t i = 0; i < ids.size(); ++i) ids[i] = 70'000 + i;
  const Packing column(ids);

  CHECK(column.same());
  CHECK(column.bytes() == 0);
}

TEST_CASE("ids that nearly ascend by one take a byte a row") {
  Values ids(3'000);
  for (std::size_t i = 0; i < ids.size(); ++i) ids[i] = 70'000 + i + i % 5 - (i % 7 == 0 ? 3 : 0);
  const Packing column(ids);

  CHECK(column.same());
  CHECK(column.bytes() == ids.size());
}

TEST_CASE("descending values, and ascending ones with a jump, come back") {
  Values falling(1'000), jumps(1'000);
  for (std::size_t i = 0; i < falling.size(); ++i) {
    falling[i] = 5'000'000 - 3 * i;
    jumps[i] = i + (i > 500 ? std::uint64_t{1} << 40 : 0);
  }

  CHECK(Packing(falling).same());
  CHECK(Packing(jumps).same());
}

TEST_CASE("negative differences and negative values come back") {
  Values values;
  for (std::int64_t i = 0; i < 300; ++i)
    values.push_back(static_cast<std::uint64_t>((i % 2 == 0 ? -1 : 1) * i * i * 1'000));
  const Packing column(values);

  CHECK(column.same());
  CHECK(column.bytes() == 300 * 4);
}

TEST_CASE("values wrap around: UINT64_MAX next to 0 takes a byte") {
  const Packing column({UINT64_MAX, 0, 1, UINT64_MAX - 100, 3});

  CHECK(column.same());
  CHECK(column.bytes() == 5);
}

TEST_CASE("the largest and the least signed value come back, next to each other and to others") {
  constexpr std::uint64_t kLeast = std::uint64_t{1} << 63, kLargest = kLeast - 1;

  CHECK(Packing({kLargest, kLeast}).same());
  CHECK(Packing({kLeast, kLargest, kLeast}).same());
  CHECK(Packing({kLeast, 0, kLargest, UINT64_MAX, 12}).same());
  CHECK(Packing({0, kLeast}).same());
}

TEST_CASE("one row takes no memory, and no row at all is no error") {
  for (const std::uint64_t value : {std::uint64_t{0}, std::uint64_t{9'999'999'999}, UINT64_MAX}) {
    const Packing one({value});

    CHECK(one.same());
    CHECK(one.bytes() == 0);
  }
  const Packing none({});
  CHECK(none.bytes() == 0);
  CHECK(none.same());
}

TEST_CASE("any part of a column can be read, of every width") {
  constexpr std::size_t kRows = 300;
  for (unsigned bits = 0; bits <= 64; bits += 8) {
    const Packing column(random_values(123'456, bits, kRows, bits));
    CAPTURE(bits);
    for (const std::size_t first : {0UL, 1UL, 63UL, 64UL, 150UL, 299UL}) {
      for (const std::size_t count : {0UL, 1UL, 2UL, 64UL, 149UL, 150UL, 237UL, 300UL}) {
        if (first + count > kRows) continue;
        CAPTURE(first, count);
        CHECK(column.same(first, count));
      }
    }
  }
}

TEST_CASE("any part of a column with a slope can be read") {
  Values ids(1'000);
  for (std::size_t i = 0; i < ids.size(); ++i) ids[i] = i * 1 + (i % 3) * 20;
  const Packing column(ids);

  for (std::size_t first = 0; first < ids.size(); first += 37)
    CHECK(column.same(first, std::min<std::size_t>(64, ids.size() - first)));
}

TEST_CASE("random walks come back") {
  std::mt19937_64 random(20'261'127);
  for (int round = 0; round < 300; ++round) {
    const auto rows = static_cast<std::size_t>(1 + random() % 700);
    const auto step_bits = static_cast<unsigned>(random() % 64);
    Values values(rows);
    std::uint64_t at = random();
    for (std::uint64_t& value : values) value = at += (random() >> (63 - step_bits)) - (random() % 3);

    CAPTURE(round, rows, step_bits);
    CHECK(Packing(values).same());
  }
}

TEST_CASE("only the first rows of a column are packed, and rows of an earlier use are not") {
  PackedColumn column;
  ColumnMemory memory;
  column.reserve(100);
  for (std::size_t i = 0; i < 100; ++i) column.put(i, UINT64_MAX - i);
  for (std::size_t i = 0; i < 10; ++i) column.put(i, 5);

  const PackedColumn packed = column.packed(10, memory);

  CHECK(packed.packed_bytes(10) == 0);
  CHECK(Packing::part(packed, 0, 10) == Values(10, 5));
}

TEST_CASE("columns of a chunk stay readable while later chunks take memory") {
  ColumnMemory memory;
  std::vector<Values> all;
  std::vector<PackedColumn> packed;
  std::vector<std::vector<ColumnMemory::Block>> blocks;
  for (std::uint32_t chunk = 0; chunk < 6; ++chunk) {
    memory.begin();
    all.push_back(random_values(chunk, 56, 1'000'000, chunk));  // 7 MB: two or three fill a block
    PackedColumn raw;
    raw.reserve(all.back().size());
    for (std::size_t i = 0; i < all.back().size(); ++i) raw.put(i, all.back()[i]);
    packed.push_back(raw.packed(all.back().size(), memory));
    blocks.push_back(memory.blocks());
  }

  for (std::size_t chunk = 0; chunk < all.size(); ++chunk)
    CHECK((Packing::part(packed[chunk], 0, all[chunk].size()) == all[chunk]));
}
