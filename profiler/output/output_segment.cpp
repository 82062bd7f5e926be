// SPDX-License-Identifier: Apache-2.0
#include "profiler/output/output_segment.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>

#include "profiler/guest/above_standard_streams.h"

namespace rangefinder {

OutputSegment::~OutputSegment() {
  if (is_open() && bytes_ == 0) unlink(unwritten_.c_str());
  file_.close();
}

int OutputSegment::create() noexcept {
  const int file = above_standard_streams(
      open(unwritten_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_APPEND | O_CLOEXEC, 0600));
  const int cause = errno;
  struct stat status {};
  file_ = OwnedFile::of(file);
  if (!is_open()) return file < 0 ? cause : EBADF;
  // Checked only now: while we hold the .tmp name, no other process can rename to `path_`.
  if (lstat(path_.c_str(), &status) != 0) return 0;
  file_.close();
  unlink(unwritten_.c_str());
  return EEXIST;
}

bool OutputSegment::ensure_open(std::string& error) {
  const int names = file_.link_count();
  if (names == 0) error = "cannot write " + path_ + ": the file was removed";
  return names > 0 || (names < 0 && reopen(error));
}

// The application closed our descriptor, and may have reused its number: that file is not touched.
bool OutputSegment::reopen(std::string& error) {
  const std::string& path = bytes_ == 0 ? unwritten_ : path_;
  const int file = above_standard_streams(open(path.c_str(), O_WRONLY | O_NOFOLLOW | O_APPEND | O_CLOEXEC));
  const int cause = errno;
  OwnedFile found = OwnedFile::of(file);
  if (found.file >= 0 && found.device == file_.device && found.inode == file_.inode) {
    file_ = found;
    return true;
  }
  found.close();
  error = "cannot write " + path + ": the application closed it, and reopening failed: " +
          (file < 0 ? std::strerror(cause) : "another file has its name");
  return false;
}

bool OutputSegment::write(const std::string& text, std::uint64_t lines, std::string& error) {
  int cause = 0;
  for (std::size_t done = 0; cause == 0 && done < text.size();) {
    const ssize_t n = ::write(file_.file, text.data() + done, text.size() - done);
    if (n > 0) {
      done += static_cast<std::size_t>(n);
    } else if (n == 0 || errno != EINTR) {
      cause = n == 0 ? ENOSPC : errno;
    }
  }
  if (cause == 0 && bytes_ == 0 && std::rename(unwritten_.c_str(), path_.c_str()) != 0) cause = errno;
  if (cause != 0) {
    // Half a line would damage the file. If ftruncate fails too, readers tolerate a torn last line.
    (void)!ftruncate(file_.file, static_cast<off_t>(bytes_));
    error = "cannot write " + path_ + ": " + std::strerror(cause);
    return false;
  }
  bytes_ += text.size();
  lines_ += lines;
  return true;
}

}  // namespace rangefinder
