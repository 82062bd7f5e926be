// SPDX-License-Identifier: Apache-2.0
//
// The bytes of a segment, plain or compressed, from its start to its end.
//
// Throws Missing when the file cannot be opened or read. One thread.
#pragma once

#include <cstddef>
#include <filesystem>
#include <memory>

namespace rangefinder {

/// The writer's longest line, a line of samples, has about 100 KB. Without a limit a file of another kind
/// that has no newline would be read into memory as a whole.
inline constexpr std::size_t kMaxLineBytes = std::size_t{64} << 20;

class ByteSource {
 public:
  virtual ~ByteSource() = default;
  /// Writes up to `room` bytes to `to`; 0: end of file.
  virtual std::size_t read(char* to, std::size_t room) = 0;
  /// The stream ended too early.
  [[nodiscard]] virtual bool cut() const noexcept { return false; }
};

/// A name that ends in .zst is compressed.
[[nodiscard]] std::unique_ptr<ByteSource> open_source(const std::filesystem::path& path);

}  // namespace rangefinder
