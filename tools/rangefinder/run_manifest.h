// SPDX-License-Identifier: Apache-2.0
//
// How `run` learns where the traced processes wrote: a temporary file, named by
// RANGEFINDER_MANIFEST, to which each appends its folder as a line when it starts.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace rangefinder {

/// Makes the file and removes it again. Throws Missing.
class RunManifest {
 public:
  RunManifest();
  ~RunManifest();
  RunManifest(const RunManifest&) = delete;
  RunManifest& operator=(const RunManifest&) = delete;

  [[nodiscard]] const std::string& file() const noexcept { return file_; }
  /// Each once, in the order in which they began.
  [[nodiscard]] std::vector<std::filesystem::path> folders() const;

 private:
  std::string file_;
};

}  // namespace rangefinder
