// SPDX-License-Identifier: Apache-2.0
//
// The file name of a process, for formats with one file per process: node7_4711.1700000000000000000, the
// beginning of file names by PyTorch's profiler.
#pragma once

#include <algorithm>
#include <string>

#include "schema/record.h"

namespace rangefinder {

/// Replaces characters that are not allowed in a file name by '_'.
[[nodiscard]] inline std::string process_file_name(const Header& header) {
  std::string host = header.host.empty() ? "host" : header.host;
  const auto is_bad = [](char c) { return c == '/' || static_cast<unsigned char>(c) < 0x20; };
  std::replace_if(host.begin(), host.end(), is_bad, '_');
  if (host.front() == '.' || host.front() == '-') host.front() = '_';
  host.resize(std::min<std::size_t>(host.size(), 128));  // file names have at most 255 bytes
  return host + "_" + std::to_string(header.pid) + "." + std::to_string(header.base_unix_ns);
}

}  // namespace rangefinder
