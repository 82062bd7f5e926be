// SPDX-License-Identifier: Apache-2.0
//
// A program may have closed its standard streams, or been started without them. The next descriptor that is
// made in it is one of theirs then, and what it prints would go into a file of ours, or to whom we talk to.
#pragma once

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>

namespace rangefinder {

/// `file` as descriptor 3 or above, close-on-exec where it has to be moved; -1, with errno as it was or set,
/// where it is -1 or cannot be: then it is closed.
[[nodiscard]] inline int above_standard_streams(int file) noexcept {
  if (file < 0 || file > STDERR_FILENO) return file;
  const int moved = fcntl(file, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
  const int cause = errno;
  ::close(file);
  errno = cause;
  return moved;
}

}  // namespace rangefinder
