// SPDX-License-Identifier: Apache-2.0
//
// A file that we keep open in a program that may close unknown descriptors (closefrom(3), as daemons do). The
// program may then reuse the number for a file of its own, into which we must not write.
#pragma once

#include <sys/stat.h>
#include <sys/types.h>
#include <unistd.h>

namespace rangefinder {

/// A descriptor with the identity of its file, to check that it is still ours.
struct OwnedFile {
  int file = -1;
  dev_t device = 0;
  ino_t inode = 0;

  /// `file` may be -1: no file.
  [[nodiscard]] static OwnedFile of(int file) noexcept {
    struct stat status {};
    if (file < 0 || fstat(file, &status) != 0) return {};
    return {file, status.st_dev, status.st_ino};
  }
  /// Number of hard links. 0: the file was removed, and its content is lost when it is closed; -1: the
  /// descriptor is no longer ours.
  [[nodiscard]] int link_count() const noexcept {
    struct stat status {};
    const bool same =
        file >= 0 && fstat(file, &status) == 0 && status.st_dev == device && status.st_ino == inode;
    return same ? static_cast<int>(status.st_nlink) : -1;
  }
  [[nodiscard]] bool is_ours() const noexcept { return link_count() >= 0; }
  /// Closes the descriptor if it is still ours; `file` is -1 afterwards.
  void close() noexcept {
    if (is_ours()) ::close(file);
    file = -1;
  }
};

}  // namespace rangefinder
