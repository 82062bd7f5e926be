// SPDX-License-Identifier: Apache-2.0
//
// A progress line on standard error, for commands that take longer than a second:
//
//   reading  38 %  1.02 of 2.69 GB  3 s left
//   computing  (2.69 GB read)
//
// Shows nothing if standard error is not a terminal. Clears the line at the end.
#pragma once

#include <condition_variable>
#include <mutex>
#include <thread>

namespace rangefinder {

class ProgressBar {
 public:
  /// Shows read_progress until it is destroyed.
  ProgressBar();
  ~ProgressBar();
  ProgressBar(const ProgressBar&) = delete;
  ProgressBar& operator=(const ProgressBar&) = delete;

 private:
  void draw_until_done();

  std::mutex mutex_;
  std::condition_variable done_;
  bool ended_ = false;  // guarded by mutex_
  std::thread thread_;
};

}  // namespace rangefinder
