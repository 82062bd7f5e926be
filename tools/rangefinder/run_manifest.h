// SPDX-License-Identifier: Apache-2.0
//
// Tells `run` the folders of the traced processes: a temporary file, named by RANGEFINDER_MANIFEST, to
// which each process appends its folder as a line when it starts.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace rangefinder {

/// Creates the file and removes it at the end. Throws Missing.
class RunManifest {
 public:
  RunManifest();
  ~RunManifest();
  RunManifest(const RunManifest&) = delete;
  RunManifest& operator=(const RunManifest&) = delete;

  [[nodiscard]] const std::string& file() const noexcept { return file_; }
  /// Each folder once, in the order of start.
  [[nodiscard]] std::vector<std::filesystem::path> folders() const;

 private:
  std::string file_;
};

}  // namespace rangefinder
