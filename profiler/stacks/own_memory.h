// SPDX-License-Identifier: Apache-2.0
//
// Reads memory of this process that may be freed or unmapped at any time, through the kernel: a read of an
// unmapped page fails instead of faulting.
//
//   process_vm_readv(2), or where it is forbidden: pread(2) of /proc/self/mem
//
// What is read may be torn: other threads write meanwhile. One thread.
#pragma once

#include <sys/types.h>
#include <sys/uio.h>

#include <cstddef>
#include <cstdint>
#include <span>

#include "profiler/guest/owned_file.h"

namespace rangefinder {

class OwnMemory {
 public:
  /// A part of this process's memory, and where it is copied to.
  struct Piece {
    std::uintptr_t from = 0;
    void* to = nullptr;
    std::size_t bytes = 0;
  };
  static constexpr std::size_t kMaxPieces = 128;

  /// `use_file`: in any case /proc/self/mem, for tests.
  explicit OwnMemory(bool use_file = false) noexcept;
  ~OwnMemory();
  OwnMemory(const OwnMemory&) = delete;
  OwnMemory& operator=(const OwnMemory&) = delete;

  /// False: nothing can be read, as both are forbidden.
  [[nodiscard]] bool works() const noexcept;
  /// Whether all of it was read.
  [[nodiscard]] bool read(std::uintptr_t from, void* to, std::size_t bytes) const noexcept;
  template <typename T>
  [[nodiscard]] bool read(std::uintptr_t from, T& value) const noexcept {
    return read(from, &value, sizeof value);
  }
  /// Reads the pieces in their order up to the first that fails; kMaxPieces at most. Returns how many were
  /// read.
  [[nodiscard]] std::size_t read(std::span<const Piece> pieces) const noexcept;

 private:
  [[nodiscard]] bool read_file(std::uintptr_t from, void* to, std::size_t bytes) const noexcept;

  const pid_t process_;
  OwnedFile file_;  // used if its number is not -1
};

}  // namespace rangefinder
