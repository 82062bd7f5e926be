// SPDX-License-Identifier: Apache-2.0
//
// Opens the files of a trace: only regular ones, also behind links. Opening a FIFO would wait for its writer,
// and a device has no end.
#pragma once

#include <cstdio>
#include <filesystem>
#include <memory>

#include "tools/analysis/model/missing.h"

namespace rangefinder {

struct CloseFile {
  void operator()(std::FILE* file) const noexcept { std::fclose(file); }
};
using RegularFile = std::unique_ptr<std::FILE, CloseFile>;

/// Throws Missing.
[[nodiscard]] RegularFile open_regular_file(const std::filesystem::path& path);

/// Json: of nlohmann. Discarded if the file cannot be opened, or holds no JSON.
template <typename Json>
[[nodiscard]] Json read_json_file(const std::filesystem::path& path) {
  try {
    return Json::parse(open_regular_file(path).get(), nullptr, false);
  } catch (const Missing&) {
    return Json(Json::value_t::discarded);
  }
}

}  // namespace rangefinder
