// SPDX-License-Identifier: Apache-2.0
//
// Results that are there whole or not at all.
//
//   OutputFile file(target)  ─▶  .target.part-4711  ─ commit() ─▶  target
//                                       └─ an error, Ctrl-C ─▶  nothing
//
// The temporary file lies beside its target, so that the rename is atomic. A target that exists is
// left alone unless the caller says so. "-" is standard output; that, and what is no regular
// file (a pipe, /dev/stdout), is written as it comes.
// Errors of writing throw Missing, with the system's reason.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <stdexcept>
#include <string>

namespace rangefinder {

enum class Overwrite : std::uint8_t { no, yes };

/// What the user has to decide: another name, or --force.
class TargetExists : public std::runtime_error {
 public:
  explicit TargetExists(const std::filesystem::path& target);
};

/// The place of a file in the making, for writers that open it themselves, as SQLite does.
class TemporaryTarget {
 public:
  /// Creates the empty temporary file. Throws TargetExists, Missing.
  TemporaryTarget(std::filesystem::path target, Overwrite overwrite);
  /// Not committed: the temporary file is removed.
  ~TemporaryTarget();
  TemporaryTarget(const TemporaryTarget&) = delete;
  TemporaryTarget& operator=(const TemporaryTarget&) = delete;

  [[nodiscard]] const std::filesystem::path& temporary() const noexcept { return temporary_; }
  [[nodiscard]] const std::filesystem::path& target() const noexcept { return target_; }
  /// Gives it its name. What was written must be on its way to the disk: close it before.
  void commit();

 private:
  std::filesystem::path target_, temporary_;
  Overwrite overwrite_;
  std::optional<std::size_t> slot_;  // none: it has its name
};

/// Text, buffered. Not thread-safe.
class OutputFile {
 public:
  static constexpr std::size_t kBufferBytes = std::size_t{1} << 20;

  /// Throws TargetExists, Missing.
  OutputFile(const std::filesystem::path& target, Overwrite overwrite);
  ~OutputFile();
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;

  /// Append here, and call drain() now and then: it writes once enough is there.
  [[nodiscard]] std::string& text() noexcept { return text_; }
  void drain() {
    if (text_.size() >= kBufferBytes) write_out();
  }
  void commit();
  [[nodiscard]] std::uint64_t bytes_written() const noexcept { return written_; }

 private:
  void write_out();

  std::filesystem::path target_;
  std::optional<TemporaryTarget> place_;  // none: written as it comes
  int file_ = -1;
  std::string text_;
  std::uint64_t written_ = 0;
};

/// A folder for results: made if it is not there, and removed again if it stays without commit()
/// and empty.
class OutputFolder {
 public:
  explicit OutputFolder(std::filesystem::path folder);
  ~OutputFolder();
  OutputFolder(const OutputFolder&) = delete;
  OutputFolder& operator=(const OutputFolder&) = delete;

  [[nodiscard]] const std::filesystem::path& path() const noexcept { return folder_; }
  void commit() noexcept;

 private:
  std::filesystem::path folder_;
  std::optional<std::size_t> slot_;  // none: it was there, or is to stay
};

}  // namespace rangefinder
