// SPDX-License-Identifier: Apache-2.0
#include "profiler/stacks/python_runtime.h"

#include <array>
#include <cstring>

#include "tests/catch.h"

namespace rangefinder {
namespace {

/// _Py_DebugOffsets whose words are their own index times 8, so that each offset says where it came from.
std::array<std::uint64_t, 95> words(std::uint64_t version) {
  std::array<std::uint64_t, 95> out{};
  for (std::size_t i = 0; i < out.size(); ++i) out[i] = i * 8;
  std::memcpy(out.data(), "xdebugpy", 8);
  out[1] = version;
  out[2] = 0;
  return out;
}

TEST_CASE("the offsets of 3.13 and 3.14 are those of _Py_DebugOffsets") {
  const auto at13 = read_debug_offsets(13, words(0x030d00f0).data());
  REQUIRE(at13);
  CHECK(at13->runtime.interpreters_head == 5 * 8);
  CHECK(at13->interpreter.gc_collecting == (10 + 72) * 8);
  CHECK(at13->thread.frame == 23 * 8);
  CHECK(at13->thread.cframe == PythonOffsets::kNone);
  CHECK(at13->code.qualname == 37 * 8);
  CHECK(at13->unicode.compact_data == 70 * 8 + 16);
  const auto at14 = read_debug_offsets(14, words(0x030e0af0).data());
  REQUIRE(at14);
  CHECK(at14->frame.code == 33 * 8);
}

TEST_CASE("other layouts are refused") {
  CHECK_FALSE(read_debug_offsets(13, words(0x030e00f0).data()));  // of another version
  CHECK_FALSE(read_debug_offsets(15, words(0x030f00f0).data()));
  auto free_threaded = words(0x030d00f0);
  free_threaded[2] = 1;
  CHECK_FALSE(read_debug_offsets(13, free_threaded.data()));
  auto large = words(0x030d00f0);
  large[23] = 70'000;
  CHECK_FALSE(read_debug_offsets(13, large.data()));
  auto no_cookie = words(0x030d00f0);
  no_cookie[0] = 0;
  CHECK_FALSE(read_debug_offsets(13, no_cookie.data()));
}

TEST_CASE("a program without Python has none, and no problem") {
  std::string problem = "?";
  CHECK_FALSE(has_python());
  CHECK_FALSE(find_python(OwnMemory(), problem));
  CHECK(problem.empty());
}

}  // namespace
}  // namespace rangefinder
