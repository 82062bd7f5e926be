// SPDX-License-Identifier: Apache-2.0
//
// Simulates a disk that is full at a given byte, with RLIMIT_FSIZE. write(2) then accepts what
// fits and refuses the rest, as on a full disk.
#pragma once

#include <signal.h>
#include <sys/resource.h>

#include <cstdint>

namespace rangefinder::test {

/// While it exists, no file of this process grows beyond `bytes`.
class FullDisk {
 public:
  explicit FullDisk(std::uint64_t bytes) {
    getrlimit(RLIMIT_FSIZE, &before_);
    handler_ = signal(SIGXFSZ, SIG_IGN);
    rlimit limit = before_;
    limit.rlim_cur = bytes;
    setrlimit(RLIMIT_FSIZE, &limit);
  }
  ~FullDisk() {
    setrlimit(RLIMIT_FSIZE, &before_);
    signal(SIGXFSZ, handler_);
  }
  FullDisk(const FullDisk&) = delete;
  FullDisk& operator=(const FullDisk&) = delete;

 private:
  rlimit before_{};
  void (*handler_)(int) = nullptr;
};

}  // namespace rangefinder::test
