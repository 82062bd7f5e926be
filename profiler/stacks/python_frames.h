// SPDX-License-Identifier: Apache-2.0
//
// The frames that the Python threads of this process are in, without stopping them.
//
//   interpreters ─▶ threads ─▶ frame ─ previous ─▶ frame ─ … ─▶ {code object, position}, innermost first
//
// A thread may call and return while it is read. So each stack is read twice, and what both readings have in
// common is kept: the outer part, which was on the stack all the time. A stack of which nothing is common is
// torn: it is counted and discarded. From 3.11 on the frames of a thread lie side by side, and one
// copy of 8 KiB has most of them.
//
// One thread. Allocates in the first calls only.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "profiler/stacks/own_memory.h"
#include "profiler/stacks/python_runtime.h"
#include "schema/stack_record.h"

namespace rangefinder {

struct PythonFrame {
  std::uintptr_t code = 0;    ///< address of the code object
  std::int32_t position = 0;  ///< bytes from its first instruction; negative: it has not begun
  bool operator==(const PythonFrame&) const = default;
};

struct PythonThread {
  std::uint32_t id = 0;                 ///< gettid()
  bool collecting = false;              ///< its interpreter collects garbage, maybe in another thread
  std::span<const PythonFrame> frames;  ///< innermost first; valid until the next one is read
};

class PythonFrames {
 public:
  /// Threads of one interpreter, and interpreters: a damaged list has no end.
  static constexpr std::size_t kMaxThreads = 4096, kMaxInterpreters = 64;

  PythonFrames(const PythonRuntime& runtime, const OwnMemory& memory);

  /// Calls see(const PythonThread&) for each thread in which Python code runs.
  template <typename See>
  void read(See&& see) {
    std::uintptr_t at = first_interpreter();
    for (std::size_t i = 0; at != 0 && i < kMaxInterpreters; ++i) {
      Interpreter interpreter;
      if (!read_interpreter(at, interpreter)) return;
      std::uintptr_t thread_at = interpreter.threads;
      for (std::size_t n = 0; thread_at != 0 && n < kMaxThreads; ++n) {
        PythonThread thread;
        std::uintptr_t next = 0;
        const bool has_frames = read_thread(thread_at, at, thread, next);
        thread.collecting = interpreter.collecting;
        if (has_frames) see(thread);
        thread_at = next;
      }
      at = interpreter.next;
    }
  }

  /// Threads so far whose frames could not be read.
  [[nodiscard]] std::uint64_t torn() const noexcept { return torn_; }

 private:
  struct Interpreter {
    std::uintptr_t next = 0, threads = 0;
    bool collecting = false;
  };
  struct Frame {
    std::uintptr_t address = 0;
    PythonFrame frame;
  };
  static constexpr std::size_t kMaxStructBytes = 512;
  static constexpr int kMaxTries = 3;

  [[nodiscard]] std::uintptr_t first_interpreter() const noexcept;
  [[nodiscard]] bool read_interpreter(std::uintptr_t at, Interpreter& out) const noexcept;
  /// False: it has no frames, or they are torn. `next`: the next thread; 0: none, or the list is torn.
  [[nodiscard]] bool read_thread(std::uintptr_t at, std::uintptr_t interpreter, PythonThread& thread,
                                 std::uintptr_t& next);
  [[nodiscard]] std::uintptr_t innermost(const std::byte* thread) const noexcept;
  /// False: a caller could not be read.
  [[nodiscard]] bool walk(std::uintptr_t innermost, std::vector<Frame>& out);
  [[nodiscard]] bool read_frame(std::uintptr_t at, std::byte* to);
  void fetch_block(std::uintptr_t end) noexcept;
  [[nodiscard]] Frame decode(std::uintptr_t at, const std::byte* bytes) const noexcept;
  void keep_common();
  [[nodiscard]] std::uint32_t thread_id_of(const std::byte* thread) const noexcept;

  const PythonRuntime& python_;
  const OwnMemory& memory_;
  const PythonOffsets& at_;
  const bool adjacent_;  // frames of a thread lie side by side
  const std::size_t thread_bytes_, frame_bytes_;
  std::vector<Frame> first_, second_;
  std::vector<PythonFrame> common_;
  static constexpr std::size_t kPage = 4096, kBlockPages = 3;
  std::array<std::byte, kPage * kBlockPages> block_;  // [block_begin_, block_end_) of the process, at its end
  std::uintptr_t block_begin_ = 0, block_end_ = 0;
  std::size_t native_id_offset_ = 0;  // in what pthread_t points to; 0: unknown
  std::uint64_t torn_ = 0;
};

}  // namespace rangefinder
