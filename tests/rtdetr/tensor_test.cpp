// SPDX-License-Identifier: Apache-2.0
#include "workloads/rtdetr/tensor.h"

#include <new>
#include <vector>

#include "tests/catch.h"

using namespace rangefinder::rtdetr;
using rangefinder::kernels::ElementType;

TEST_CASE("memory of a finished scope is reused, and counts in the peak") {
  alignas(256) static std::byte memory[4096];
  Arena arena(memory, sizeof memory);
  void* first = nullptr;
  {
    const Arena::Scope scope(arena);
    first = arena.allocate(1000);
    arena.allocate(1);
  }

  CHECK(arena.allocate(10) == first);
  CHECK(arena.peak_bytes() == 1024 + 256);
}

TEST_CASE("a full arena throws, one that only measures is never full") {
  alignas(256) static std::byte memory[1024];
  Arena arena(memory, sizeof memory);
  arena.allocate(1024);
  CHECK_THROWS_AS(arena.allocate(1), std::bad_alloc);

  Arena measuring(nullptr, 0);
  CHECK(measuring.allocate(std::size_t{1} << 40) != nullptr);
  CHECK(measuring.peak_bytes() == std::size_t{1} << 40);
}

TEST_CASE("slices of channels and levels point into the tensor they came from") {
  Arena measuring(nullptr, 0);
  const Tensor whole = measuring.tensor(ElementType::fp16, 2, 1, 84, 64);
  const auto* const base = static_cast<const std::byte*>(whole.view.data);

  const Tensor level = whole.level(64, 4, 4);
  CHECK(static_cast<const std::byte*>(level.view.data) == base + 64 * 64 * 2);
  CHECK(level.view.pixels() == 16);
  CHECK(level.view.image_step() == 84 * 64);
  CHECK_FALSE(level.is_packed());

  const Tensor slice = level.channels(8, 16);
  CHECK(static_cast<const std::byte*>(slice.view.data) == base + (64 * 64 + 8) * 2);
  CHECK(slice.view.pixel_step() == 64);
  CHECK(slice.view.image_step() == 84 * 64);
}
