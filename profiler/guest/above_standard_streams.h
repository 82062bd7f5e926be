// SPDX-License-Identifier: Apache-2.0
//
// A program may have closed its standard streams, or been started without them. The next descriptor then
// gets one of their numbers, and the program's output would go into our file or socket.
#pragma once

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>

namespace rangefinder {

/// Moves `file` to descriptor 3 or above, if it is lower; the moved one is close-on-exec. Returns -1 if
/// `file` is -1 (errno unchanged) or cannot be moved (errno set, `file` closed).
[[nodiscard]] inline int above_standard_streams(int file) noexcept {
  if (file < 0 || file > STDERR_FILENO) return file;
  const int moved = fcntl(file, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
  const int cause = errno;
  ::close(file);
  errno = cause;
  return moved;
}

}  // namespace rangefinder
