// SPDX-License-Identifier: Apache-2.0
#include "tools/analysis/read/segment_lines.h"

#include <algorithm>
#include <cstring>
#include <vector>

#include "tools/analysis/read/byte_source.h"
#include "tools/analysis/read/missing.h"

namespace rangefinder {
namespace {

constexpr std::size_t kChunkBytes = std::size_t{1} << 20;

/// A small file needs a smaller buffer. One byte more than its size detects its end in the first read.
std::size_t first_chunk_bytes(const std::filesystem::path& file) {
  std::error_code error;
  const std::uintmax_t bytes = std::filesystem::file_size(file, error);
  if (error || file.extension() == ".zst") return kChunkBytes;
  return static_cast<std::size_t>(std::min<std::uintmax_t>(bytes + 1, kChunkBytes));
}

}  // namespace

SegmentLines::SegmentLines(const std::filesystem::path& file)
    : file_(file), source_(open_source(file)), buffer_(first_chunk_bytes(file)) {}
SegmentLines::~SegmentLines() = default;

bool SegmentLines::refill() {
  if (ended_) return false;
  std::memmove(buffer_.data(), buffer_.data() + begin_, end_ - begin_);
  end_ -= begin_;
  begin_ = 0;
  if (end_ == buffer_.size()) {
    if (end_ >= kMaxLineBytes) {
      throw Missing(file_.string() + ":" + std::to_string(number_ + 1) +
                    ": the line is longer than 64 MiB, so this is not a trace file");
    }
    buffer_.resize(2 * end_);
  }
  const std::size_t got = source_->read(buffer_.data() + end_, buffer_.size() - end_);
  end_ += got;
  ended_ = got == 0;
  return !ended_;
}

bool SegmentLines::next(std::string_view& line) {
  std::size_t searched = begin_;
  for (;;) {
    const char* const from = buffer_.data() + searched;
    if (const void* const newline = std::memchr(from, '\n', end_ - searched); newline != nullptr) {
      const char* const first = buffer_.data() + begin_;
      line = {first, static_cast<std::size_t>(static_cast<const char*>(newline) - first)};
      begin_ += line.size() + 1;
      ++number_;
      return true;
    }
    searched = end_ - begin_;  // refill() moves the unread bytes to the front
    if (!refill()) break;
  }
  torn_ = torn_ || source_->cut() || begin_ < end_;
  if (begin_ == end_) return false;
  line = {buffer_.data() + begin_, end_ - begin_};
  begin_ = end_;
  ++number_;
  return true;
}

}  // namespace rangefinder
