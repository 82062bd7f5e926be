// SPDX-License-Identifier: Apache-2.0
#include "tools/rangefinder/report_html.h"

#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iostream>

#include "profiler/base/number_text.h"
#include "tools/analysis/model/missing.h"
#include "tools/page/page.h"

namespace rangefinder {
namespace {

[[noreturn]] void refuse(const std::string& file, const std::string& unfinished) {
  const std::string reason = std::strerror(errno);
  std::remove(unfinished.c_str());
  throw Missing("cannot write " + file + ": " + reason);
}

}  // namespace

void write_html(const std::vector<TraceFolder>& traces, const std::string& file, const ReadLimits& limits) {
  const std::string unfinished = file + "." + std::to_string(getpid()) + ".tmp";
  std::ofstream out(unfinished, std::ios::binary);
  if (!out) refuse(file, unfinished);
  try {
    write_page(traces, out, limits);
  } catch (...) {
    std::remove(unfinished.c_str());
    throw;
  }
  out.close();
  if (!out || std::rename(unfinished.c_str(), file.c_str()) != 0) refuse(file, unfinished);
  std::cerr << file << ": " << bytes_text(std::filesystem::file_size(file)) << ", opens in any browser\n";
}

}  // namespace rangefinder
