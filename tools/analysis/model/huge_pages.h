// SPDX-License-Identifier: Apache-2.0
//
// Memory in huge pages, for what grows with the rows of a trace. In pages of 4 KiB, the page faults of 300 MB
// take as long as a quarter of the parsing of ten million kernels.
//
//   std::vector<Gap, HugePages<Gap>> gaps;
#pragma once

#include <sys/mman.h>

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <new>
#include <vector>

namespace rangefinder {

inline constexpr std::size_t kHugePageBytes = std::size_t{2} << 20;

/// For std::free(). Small memory is in small pages, and so is all where the system has no huge ones.
[[nodiscard]] inline void* allocate_huge(std::size_t bytes) {
  const bool huge = bytes >= kHugePageBytes;
  const std::size_t rounded = (bytes + kHugePageBytes - 1) / kHugePageBytes * kHugePageBytes;
  void* const memory = huge ? std::aligned_alloc(kHugePageBytes, rounded) : std::malloc(bytes);
  if (memory == nullptr) throw std::bad_alloc();
  if (huge) static_cast<void>(madvise(memory, rounded, MADV_HUGEPAGE));
  return memory;
}

template <typename T>
struct HugePages {
  using value_type = T;
  HugePages() = default;
  template <typename Other>
  HugePages(const HugePages<Other>&) noexcept {}  // NOLINT: converts on purpose, as allocators do

  [[nodiscard]] T* allocate(std::size_t count) { return static_cast<T*>(allocate_huge(count * sizeof(T))); }
  void deallocate(T* memory, std::size_t) noexcept { std::free(memory); }
  template <typename Other>
  bool operator==(const HugePages<Other>&) const noexcept {
    return true;
  }
};

/// Like push_back(), but grows by a factor of eight, so that little is copied. Unused capacity costs nothing:
/// pages are allocated when they are first written.
template <typename T>
void append(std::vector<T, HugePages<T>>& to, const T& value) {
  constexpr std::size_t kGrowth = 8, kFirst = 1024;
  if (to.size() == to.capacity()) to.reserve(std::max(kFirst, kGrowth * to.size()));
  to.push_back(value);
}

}  // namespace rangefinder
