// SPDX-License-Identifier: Apache-2.0
//
// A file that we keep open in a program which may close descriptors that it does not know (closefrom(3), as
// daemons do): then their numbers are of files of its own, into which nothing of ours may go.
#pragma once

#include <sys/stat.h>
#include <sys/types.h>
#include <unistd.h>

namespace rangefinder {

/// A descriptor, and how to know that it still is ours.
struct OwnedFile {
  int file = -1;
  dev_t device = 0;
  ino_t inode = 0;

  /// `file` -1: none.
  [[nodiscard]] static OwnedFile of(int file) noexcept {
    struct stat status {};
    if (file < 0 || fstat(file, &status) != 0) return {};
    return {file, status.st_dev, status.st_ino};
  }
  /// How many it has in folders. 0: somebody has removed it, and what is written to it is gone when it is
  /// closed; -1: it is not ours any more.
  [[nodiscard]] int names() const noexcept {
    struct stat status {};
    const bool same =
        file >= 0 && fstat(file, &status) == 0 && status.st_dev == device && status.st_ino == inode;
    return same ? static_cast<int>(status.st_nlink) : -1;
  }
  [[nodiscard]] bool is_ours() const noexcept { return names() >= 0; }
  /// Has none afterwards. Closes it where it is ours.
  void close() noexcept {
    if (is_ours()) ::close(file);
    file = -1;
  }
};

}  // namespace rangefinder
