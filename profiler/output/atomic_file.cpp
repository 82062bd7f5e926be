// SPDX-License-Identifier: Apache-2.0
#include "profiler/output/atomic_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>

#include "profiler/guest/above_standard_streams.h"

namespace rangefinder {
namespace {

bool write_all(int file, std::string_view text) noexcept {
  while (!text.empty()) {
    const ssize_t written = ::write(file, text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return false;
    text.remove_prefix(static_cast<std::size_t>(written));
  }
  return true;
}

bool write_and_close(int file, std::string_view text) noexcept {
  bool done = write_all(file, text);
  int cause = errno;
  if (::close(file) != 0 && done) {  // some file systems report a full disk only here
    done = false;
    cause = errno;
  }
  errno = cause;
  return done;
}

/// A device (/dev/stdout) or a named pipe: rename would replace it by a file.
bool is_special_file(const std::string& path) noexcept {
  struct stat status {};
  return ::stat(path.c_str(), &status) == 0 && !S_ISREG(status.st_mode) && !S_ISDIR(status.st_mode);
}

}  // namespace

bool write_atomically(const std::string& path, std::string_view text) noexcept {
  if (is_special_file(path)) {
    const int device =
        above_standard_streams(::open(path.c_str(), O_WRONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC));
    return device >= 0 && write_and_close(device, text);
  }
  std::string temporary;
  try {
    temporary = path + ".tmp";
  } catch (...) {
    errno = ENOMEM;
    return false;
  }
  // A leftover file, or a link that another user put there, must not be written through.
  if (::unlink(temporary.c_str()) != 0 && errno != ENOENT) return false;
  const int file = above_standard_streams(
      ::open(temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600));
  if (file < 0) return false;
  if (write_and_close(file, text) && std::rename(temporary.c_str(), path.c_str()) == 0) return true;
  const int cause = errno;
  ::unlink(temporary.c_str());
  errno = cause;
  return false;
}

bool append_line(const std::string& path, std::string_view line) noexcept {
  const int file = above_standard_streams(
      ::open(path.c_str(), O_WRONLY | O_APPEND | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600));
  if (file < 0) return false;
  // One write: lines of several processes must not mix.
  const bool whole = ::write(file, line.data(), line.size()) == static_cast<ssize_t>(line.size());
  ::close(file);
  return whole;
}

}  // namespace rangefinder
