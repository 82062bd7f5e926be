// SPDX-License-Identifier: Apache-2.0
#include "profiler/stacks/own_memory.h"

#include <sys/mman.h>

#include <array>
#include <cstring>

#include "tests/catch.h"

namespace rangefinder {
namespace {

constexpr std::size_t kPage = 4096;

/// A page of 0x5a, followed by a page that is not mapped.
class TwoPages {
 public:
  TwoPages() {
    void* const both = mmap(nullptr, 2 * kPage, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    REQUIRE(both != MAP_FAILED);
    std::memset(both, 0x5a, kPage);
    REQUIRE(munmap(static_cast<char*>(both) + kPage, kPage) == 0);
    at = reinterpret_cast<std::uintptr_t>(both);
  }
  ~TwoPages() { munmap(reinterpret_cast<void*>(at), kPage); }
  std::uintptr_t at = 0;
};

TEST_CASE("memory that is mapped is read, and memory that is not is refused") {
  const TwoPages pages;
  for (const bool use_file : {false, true}) {
    const OwnMemory memory(use_file);
    REQUIRE(memory.works());
    std::uint64_t value = 0;
    CHECK(memory.read(pages.at, value));
    CHECK(value == 0x5a5a5a5a5a5a5a5a);
    CHECK(memory.read(pages.at + kPage - 8, value));
    CHECK_FALSE(memory.read(pages.at + kPage - 4, value));
    CHECK_FALSE(memory.read(pages.at + kPage, value));
    CHECK_FALSE(memory.read(0, value));
    CHECK_FALSE(memory.read(~std::uintptr_t{7}, value));
  }
}

TEST_CASE("pieces are read up to the first that cannot be") {
  const TwoPages pages;
  std::array<std::uint32_t, 4> values{};
  const OwnMemory::Piece pieces[]{{pages.at, &values[0], 4},
                                  {pages.at + 100, &values[1], 4},
                                  {pages.at + kPage, &values[2], 4},
                                  {pages.at, &values[3], 4}};
  for (const bool use_file : {false, true}) {
    const OwnMemory memory(use_file);
    CHECK(memory.read(pieces) == 2);
    CHECK(memory.read(std::span(pieces, 0)) == 0);
  }
  CHECK(values[0] == 0x5a5a5a5a);
  CHECK(values[1] == 0x5a5a5a5a);
}

}  // namespace
}  // namespace rangefinder
