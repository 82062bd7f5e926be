// SPDX-License-Identifier: Apache-2.0
#include "tests/bench/trace_segments.h"

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <stdexcept>
#include <utility>
#include <vector>

namespace rangefinder::bench {
namespace {

constexpr std::uint64_t kSegmentBytes = std::uint64_t{256} << 20;

}  // namespace

TraceSegments::TraceSegments(std::string folder) : folder_(std::move(folder)) {
  std::filesystem::create_directories(folder_);
}

std::uint32_t TraceSegments::open() {
  char name[32];
  std::snprintf(name, sizeof name, "trace-%05u.ndjson", segment_);
  file_.open(std::filesystem::path(folder_) / name, std::ios::binary | std::ios::trunc);
  segment_bytes_ = 0;
  return segment_++;
}

void TraceSegments::close() {
  write_text();
  file_.close();
  if (!file_) throw std::runtime_error("cannot write into " + folder_);
}

bool TraceSegments::is_full() const noexcept {
  return segment_bytes_ >= kSegmentBytes;
}

void TraceSegments::count(const char* kind) {
  ++events_;
  std::vector<std::pair<std::string, std::uint64_t>>& counts = counts_.records;
  const auto same = [&](const auto& entry) { return entry.first == kind; };
  auto found = std::find_if(counts.begin(), counts.end(), same);
  if (found == counts.end()) found = counts.insert(found, {kind, 0});
  ++found->second;
}

void TraceSegments::write_text() {
  file_.write(text_.data(), static_cast<std::streamsize>(text_.size()));
  segment_bytes_ += text_.size();
  bytes_ += text_.size();
  text_.clear();
}

void TraceSegments::finish(EndRecord end) {
  end.records = counts_.records;
  end.own_cost.bytes_written = bytes_;
  put(end);
}

}  // namespace rangefinder::bench
