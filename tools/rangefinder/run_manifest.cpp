// SPDX-License-Identifier: Apache-2.0
#include "tools/rangefinder/run_manifest.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fstream>

#include "tools/analysis/model/missing.h"

namespace rangefinder {

RunManifest::RunManifest() {
  std::error_code error;
  std::filesystem::path folder = std::filesystem::temp_directory_path(error);
  if (error) folder = "/tmp";
  file_ = (folder / "rangefinder-run-XXXXXX").string();
  const int descriptor = mkstemp(file_.data());
  if (descriptor < 0) {
    throw Missing("cannot create a temporary file in " + folder.string() + ": " + std::strerror(errno) +
                  "\n  Choose another folder with TMPDIR.");
  }
  close(descriptor);
}

RunManifest::~RunManifest() {
  unlink(file_.c_str());
}

std::vector<std::filesystem::path> RunManifest::folders() const {
  std::vector<std::filesystem::path> out;
  std::ifstream stream(file_);
  for (std::string line; std::getline(stream, line);) {
    if (!line.empty() && std::find(out.begin(), out.end(), line) == out.end()) out.emplace_back(line);
  }
  return out;
}

}  // namespace rangefinder
