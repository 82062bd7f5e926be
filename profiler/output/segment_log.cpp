// SPDX-License-Identifier: Apache-2.0
#include "profiler/output/segment_log.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <string_view>
#include <utility>

#include "profiler/guest/reserve_large.h"

namespace rangefinder {
namespace {

constexpr std::size_t kBufferBytes = std::size_t{256} << 10;

bool make_folders(const std::string& path) {
  for (std::size_t at = 1; at <= path.size(); ++at) {
    if (at != path.size() && path[at] != '/') continue;
    if (mkdir(path.substr(0, at).c_str(), 0777) != 0 && errno != EEXIST) return false;
  }
  struct stat status {};
  if (stat(path.c_str(), &status) != 0) return false;
  if (!S_ISDIR(status.st_mode)) errno = ENOTDIR;
  return S_ISDIR(status.st_mode);
}

/// trace-00000.ndjson (also .zst and .tmp) and summary.json. No other file may be removed.
bool is_trace_file(std::string_view name) {
  if (name == "summary.json") return true;
  if (!name.starts_with("trace-")) return false;
  name.remove_prefix(6);
  const std::size_t digits = name.find_first_not_of("0123456789");
  if (digits == 0 || digits == std::string_view::npos) return false;
  name.remove_prefix(digits);
  return name == ".ndjson" || name == ".ndjson.zst" || name == ".ndjson.tmp";
}

/// Counts the files of a trace in `folder`, and removes them if `remove`. Not opendir(): its buffer of 32 KiB
/// would grow the heap arena of our thread.
std::size_t trace_files(const std::string& folder, bool remove) {
  const int file = open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (file < 0) return 0;
  std::size_t found = 0;
  alignas(dirent64) char entries[4096];
  for (ssize_t bytes = 0; (bytes = getdents64(file, entries, sizeof(entries))) > 0;) {
    for (ssize_t at = 0; at < bytes; at += reinterpret_cast<const dirent64*>(entries + at)->d_reclen) {
      const char* const name = reinterpret_cast<const dirent64*>(entries + at)->d_name;
      if (!is_trace_file(name)) continue;
      ++found;
      if (remove) unlinkat(file, name, 0);
    }
  }
  close(file);
  return found;
}

}  // namespace

SegmentLog::SegmentLog(const SegmentLimits& limits, LossLedger& loss) : limits_(limits), loss_(loss) {}

bool SegmentLog::open_folder(const std::string& folder, bool overwrite) {
  folder_ = folder;
  error_.clear();
  occupied_ = false;
  reserve_large(buffer_);
  if (!make_folders(folder)) {
    error_ = "cannot create " + folder + ": " + std::strerror(errno);
    return false;
  }
  if (trace_files(folder, overwrite) != 0 && !overwrite) {
    error_ = folder +
             " holds a trace already: choose another folder with RANGEFINDER_OUT, or use rangefinder run "
             "--force";
    occupied_ = true;
    return false;
  }
  return open_segment(segment_);
}

bool SegmentLog::open_segment(std::uint32_t number) {
  char name[32];
  std::snprintf(name, sizeof(name), "/trace-%05u.ndjson", number);
  const std::string path = folder_ + name;
  const int cause = segments_.emplace_back(path).create();
  if (cause == 0) return true;
  segments_.pop_back();
  occupied_ = cause == EEXIST;
  error_ = "cannot write " + path + ": " + std::strerror(cause);
  return false;
}

// A removed segment held names that the buffered lines need: those lines are lost, and the next segment
// must repeat the names.
bool SegmentLog::ensure_segment() {
  if (segments_.empty() || !segments_.back().is_open()) return open_segment(segment_);
  if (segments_.back().ensure_open(error_)) return true;
  if (has_lines()) return false;
  segments_.back().close();
  segments_.pop_back();
  return false;
}

void SegmentLog::remove_empty() {
  if (!segments_.empty() && segments_.back().bytes() == 0) segments_.pop_back();
  if (segments_.empty()) rmdir(folder_.c_str());  // fails if it holds anything else
}

bool SegmentLog::has_lines() const noexcept {
  return !segments_.empty() && segments_.back().is_open() && segments_.back().bytes() != 0;
}

void SegmentLog::end_segment() {
  begins_ = true;
  ends_ = false;
  if (!has_lines()) return;  // an empty segment is reused
  segments_.back().close();
  ++segment_;
}

void SegmentLog::rotate() {
  if (!flush()) return;
  (has_lines() ? ends_ : begins_) = true;  // an empty segment is reused
}

// Keeps the full segment if no other file can be created: the application may be out of descriptors, or
// have dropped its privileges.
void SegmentLog::begin_next() {
  ends_ = false;
  std::string error = error_;
  OutputSegment& full = segments_.back();
  if (open_segment(segment_ + 1)) {
    ++segment_;
    full.close();
    begins_ = true;
    return;
  }
  if (full.was_removed()) return end_segment();
  error_ = std::move(error);
  occupied_ = false;
}

bool SegmentLog::begin_segment_if_needed() {
  if (ends_) begin_next();
  return std::exchange(begins_, false);
}

void SegmentLog::commit() {
  if (buffer_.size() >= kBufferBytes) flush();
}

void SegmentLog::lose_buffer(Loss cause) {
  loss_.add(cause, buffered_lines_);
  buffer_.clear();
  buffered_lines_ = 0;
  end_segment();  // the lost lines held names: the next segment repeats them
}

bool SegmentLog::over_limit() const noexcept {
  return !limit_lifted_ && limits_.max_bytes != 0 && kept_bytes_ + buffer_.size() > limits_.max_bytes;
}

void SegmentLog::lift_limit() {
  flush();
  limit_lifted_ = true;
}

void SegmentLog::make_room() {
  while (over_limit() && segments_.size() > 1) {
    const OutputSegment& oldest = segments_.front();
    if (unlink(oldest.path().c_str()) != 0 && errno != ENOENT) return;
    kept_bytes_ -= oldest.bytes();
    loss_.add(Loss::lines_over_max_size, oldest.lines());
    segments_.pop_front();
  }
}

bool SegmentLog::flush() {
  if (buffer_.empty()) return true;
  if (limits_.keep_last) make_room();
  if (over_limit() || (stopped_ && !limit_lifted_)) {
    stopped_ = !limits_.keep_last;  // a later, smaller line would fit, but must not follow a lost one
    lose_buffer(Loss::lines_over_max_size);
    return true;
  }
  if (!ensure_segment() || !segments_.back().write(buffer_, buffered_lines_, error_)) {
    lose_buffer(Loss::lines_not_written);
    return false;
  }
  kept_bytes_ += buffer_.size();
  bytes_written_ += buffer_.size();
  buffer_.clear();
  buffered_lines_ = 0;
  // keep last removes whole segments, so the bound must cover several: at least 4.
  const std::uint64_t full = limits_.max_bytes != 0 && limits_.keep_last
                                 ? std::min(limits_.segment_bytes, limits_.max_bytes / 4)
                                 : limits_.segment_bytes;
  if (segments_.back().bytes() >= full) ends_ = true;
  return true;
}

}  // namespace rangefinder
