// SPDX-License-Identifier: Apache-2.0
//
// A file of /proc or of a cgroup that is opened once and read many times. Each reading has its current
// content.
//
// The application may close our descriptor and use its number for a file of its own. So the identity is
// checked before each use: then the content is empty, and the descriptor is not closed. One thread at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "profiler/guest/owned_file.h"

namespace rangefinder {

class ProcFile {
 public:
  ProcFile() = default;
  /// is_open() is false if the file is absent or cannot be read.
  explicit ProcFile(const std::string& path) noexcept;
  ProcFile(ProcFile&& other) noexcept : file_(std::exchange(other.file_, {})) {}
  ProcFile& operator=(ProcFile&& other) noexcept {
    std::swap(file_, other.file_);
    return *this;
  }
  ~ProcFile() { file_.close(); }

  [[nodiscard]] bool is_open() const noexcept { return file_.file >= 0; }
  /// The content from `offset` on, as far as it fits into `buffer` and the kernel returns it with one call.
  /// Empty: there is none, or it cannot be read.
  [[nodiscard]] std::string_view read(std::span<char> buffer, std::uint64_t offset = 0) const noexcept;
  /// The whole content, `max_bytes` at most. Allocates.
  [[nodiscard]] std::string read_all(std::size_t max_bytes) const;

 private:
  OwnedFile file_;
};

}  // namespace rangefinder
