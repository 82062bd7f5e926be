// SPDX-License-Identifier: Apache-2.0
#include "profiler/output/segment_writer.h"

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

#include "profiler/guest/above_standard_streams.h"
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

SegmentWriter::SegmentWriter(const SegmentLimits& limits, LossLedger& loss) noexcept
    : limits_(limits), loss_(loss) {}

SegmentWriter::~SegmentWriter() {
  drop_unwritten();
  file_.close();
}

bool SegmentWriter::open_folder(const std::string& folder, bool overwrite) {
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

// Allocates first, so that bad_alloc cannot leave a file open that segments_ does not list.
bool SegmentWriter::open_segment(std::uint32_t number) {
  char name[32];
  std::snprintf(name, sizeof(name), "/trace-%05u.ndjson", number);
  const std::string path = folder_ + name;
  std::string unwritten = path + ".tmp";
  segments_.push_back({path, 0, 0});
  const int file = above_standard_streams(
      open(unwritten.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_APPEND | O_CLOEXEC, 0600));
  int cause = errno;
  struct stat status {};
  OwnedFile opened = OwnedFile::of(file);
  // Checked only now: while we hold the .tmp name, no other process can rename to `path`.
  if (file >= 0 && lstat(path.c_str(), &status) == 0) {
    opened.close();
    unlink(unwritten.c_str());
    cause = EEXIST;
  }
  if (opened.file >= 0) {
    file_ = opened;
    unwritten_ = std::move(unwritten);
    return true;
  }
  segments_.pop_back();
  occupied_ = cause == EEXIST;
  error_ = "cannot write " + path + ": " + std::strerror(cause);
  return false;
}

bool SegmentWriter::name_segment() {
  const std::string& path = segments_.back().path;
  if (std::rename(unwritten_.c_str(), path.c_str()) == 0) return true;
  error_ = "cannot write " + path + ": " + std::strerror(errno);
  (void)!ftruncate(file_.file, 0);
  return false;
}

// A removed segment held names that the buffered lines need: those lines are lost, and the next segment
// must repeat the names.
bool SegmentWriter::has_segment() {
  if (file_.file < 0) return open_segment(segment_);
  const int names = file_.link_count();
  if (names > 0 || (names < 0 && reopen_segment())) return true;
  if (names == 0) error_ = "cannot write " + segments_.back().path + ": the file was removed";
  if (segments_.back().bytes == 0) {
    file_.close();
    segments_.pop_back();
  }
  return false;
}

// The application closed our descriptor, and may have reused its number: that file is not touched.
bool SegmentWriter::reopen_segment() {
  const Segment& segment = segments_.back();
  const std::string& path = segment.bytes == 0 ? unwritten_ : segment.path;
  const int file = above_standard_streams(open(path.c_str(), O_WRONLY | O_NOFOLLOW | O_APPEND | O_CLOEXEC));
  const int cause = errno;
  OwnedFile found = OwnedFile::of(file);
  if (found.file >= 0 && found.device == file_.device && found.inode == file_.inode) {
    file_ = found;
    return true;
  }
  found.close();
  error_ = "cannot write " + path + ": the application closed it, and reopening failed: " +
           (file < 0 ? std::strerror(cause) : "another file has its name");
  return false;
}

void SegmentWriter::drop_unwritten() noexcept {
  if (file_.file < 0 || segments_.back().bytes != 0) return;
  file_.close();
  unlink(unwritten_.c_str());
  segments_.pop_back();
}

void SegmentWriter::remove_empty() {
  drop_unwritten();
  if (segments_.empty()) rmdir(folder_.c_str());  // fails if it holds anything else
}

bool SegmentWriter::has_lines() const noexcept {
  return file_.file >= 0 && segments_.back().bytes != 0;
}

void SegmentWriter::end_segment() {
  begins_ = true;
  ends_ = false;
  if (!has_lines()) return;  // an empty segment is reused
  file_.close();
  ++segment_;
}

void SegmentWriter::rotate() {
  if (!flush()) return;
  (has_lines() ? ends_ : begins_) = true;  // an empty segment is reused
}

// Keeps the full segment if no other file can be created: the application may be out of descriptors, or
// have dropped its privileges.
void SegmentWriter::begin_next() {
  ends_ = false;
  std::string error = error_;
  OwnedFile full = file_;
  if (open_segment(segment_ + 1)) {
    ++segment_;
    full.close();
    begins_ = true;
    return;
  }
  if (file_.link_count() == 0) return end_segment();
  error_ = std::move(error);
  occupied_ = false;
}

bool SegmentWriter::begins_segment() {
  if (ends_) begin_next();
  return std::exchange(begins_, false);
}

void SegmentWriter::commit() {
  if (buffer_.size() >= kBufferBytes) flush();
}

void SegmentWriter::lose_buffer(Loss cause) {
  loss_.add(cause, buffered_lines_);
  buffer_.clear();
  buffered_lines_ = 0;
  end_segment();  // the lost lines held names: the next segment repeats them
}

bool SegmentWriter::over_limit() const noexcept {
  return !limit_lifted_ && limits_.max_bytes != 0 && kept_bytes_ + buffer_.size() > limits_.max_bytes;
}

void SegmentWriter::lift_limit() {
  flush();
  limit_lifted_ = true;
}

void SegmentWriter::make_room() {
  while (over_limit() && segments_.size() > 1) {
    const Segment& oldest = segments_.front();
    if (unlink(oldest.path.c_str()) != 0 && errno != ENOENT) return;
    kept_bytes_ -= oldest.bytes;
    loss_.add(Loss::lines_over_max_size, oldest.lines);
    segments_.pop_front();
  }
}

bool SegmentWriter::flush() {
  if (buffer_.empty()) return true;
  if (limits_.keep_last) make_room();
  if (over_limit() || (stopped_ && !limit_lifted_)) {
    stopped_ = !limits_.keep_last;  // a later, smaller line would fit, but must not follow a lost one
    lose_buffer(Loss::lines_over_max_size);
    return true;
  }
  if (!has_segment() || !write_all(buffer_)) {
    lose_buffer(Loss::lines_not_written);
    return false;
  }
  Segment& current = segments_.back();
  current.bytes += buffer_.size();
  current.lines += buffered_lines_;
  kept_bytes_ += buffer_.size();
  bytes_written_ += buffer_.size();
  buffer_.clear();
  buffered_lines_ = 0;
  // keep last removes whole segments, so the bound must cover several: at least 4.
  const std::uint64_t full = limits_.max_bytes != 0 && limits_.keep_last
                                 ? std::min(limits_.segment_bytes, limits_.max_bytes / 4)
                                 : limits_.segment_bytes;
  if (current.bytes >= full) ends_ = true;
  return true;
}

bool SegmentWriter::write_all(const std::string& text) {
  const off_t whole_lines = static_cast<off_t>(segments_.back().bytes);
  std::size_t done = 0;
  while (done < text.size()) {
    const ssize_t n = write(file_.file, text.data() + done, text.size() - done);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) {
      const int cause = n == 0 ? ENOSPC : errno;
      // Half a line would damage the file. If ftruncate fails too, readers tolerate a torn last line.
      (void)!ftruncate(file_.file, whole_lines);
      error_ = "cannot write " + segments_.back().path + ": " + std::strerror(cause);
      return false;
    }
    done += static_cast<std::size_t>(n);
  }
  return whole_lines != 0 || name_segment();
}

}  // namespace rangefinder
