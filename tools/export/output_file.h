// SPDX-License-Identifier: Apache-2.0
//
// Writes result files that are complete or absent.
//
//   OutputFile file(target)  ─▶  .target.part-4711  ─ commit() ─▶  target
//                                       └─ an error, Ctrl-C ─▶  nothing
//
// The temporary file is beside its target, so that the rename is atomic. An existing target is replaced only
// with Overwrite::yes. "-" is standard output. It and other files that are not regular (a pipe, /dev/stdout)
// are written directly. Write errors throw Missing, with the system's reason.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <stdexcept>
#include <string>

namespace rangefinder {

enum class Overwrite : std::uint8_t { no, yes };

/// The target exists: the user must choose another name or --force.
class TargetExists : public std::runtime_error {
 public:
  explicit TargetExists(const std::filesystem::path& target);
};

/// The temporary file of a target, for writers that open it themselves, such as SQLite.
class TemporaryTarget {
 public:
  /// Creates the empty temporary file. Throws TargetExists, Missing.
  TemporaryTarget(std::filesystem::path target, Overwrite overwrite);
  /// Removes the temporary file if it was not committed.
  ~TemporaryTarget();
  TemporaryTarget(const TemporaryTarget&) = delete;
  TemporaryTarget& operator=(const TemporaryTarget&) = delete;

  [[nodiscard]] const std::filesystem::path& temporary() const noexcept { return temporary_; }
  /// Renames it to the target. Close the file first, so that write errors are known.
  void commit();

 private:
  std::filesystem::path target_, temporary_;
  Overwrite overwrite_;
  std::optional<std::size_t> slot_;  // nullopt: committed
};

/// A buffered text file. Not thread-safe.
class OutputFile {
 public:
  static constexpr std::size_t kBufferBytes = std::size_t{1} << 20;

  /// Throws TargetExists, Missing.
  OutputFile(const std::filesystem::path& target, Overwrite overwrite);
  ~OutputFile();
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;

  /// The buffer: append to it and call drain() regularly, which writes it once it is full.
  [[nodiscard]] std::string& text() noexcept { return text_; }
  void drain() {
    if (text_.size() >= kBufferBytes) write_out();
  }
  void commit();
  [[nodiscard]] std::uint64_t bytes_written() const noexcept { return written_; }

 private:
  void write_out();

  std::filesystem::path target_;
  std::optional<TemporaryTarget> place_;  // nullopt: written directly
  int file_ = -1;
  std::string text_;
  std::uint64_t written_ = 0;
};

/// A folder for results. Created if it does not exist, and removed if it is still empty and without commit().
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
  std::optional<std::size_t> slot_;  // nullopt: it existed before, or was committed
};

}  // namespace rangefinder
