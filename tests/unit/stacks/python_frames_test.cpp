// SPDX-License-Identifier: Apache-2.0
#include "profiler/stacks/python_frames.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <vector>

#include "tests/catch.h"

namespace rangefinder {
namespace {

/// The structs of CPython 3.12 in which one thread runs `frames`, innermost first, in memory of this process.
class MadeInterpreter {
 public:
  static constexpr std::size_t kStructBytes = 512, kFrameBytes = 128;

  explicit MadeInterpreter(std::size_t frames) : frames_(frames) {
    runtime.at = *std::find_if(kPythonOffsets.begin(), kPythonOffsets.end(),
                               [](const PythonOffsets& one) { return one.minor == 12; });
    const PythonOffsets& at = runtime.at;
    runtime.runtime = address(runtime_);
    put(runtime_.data(), at.runtime.interpreters_head, address(interpreter_));
    put(interpreter_.data(), at.interpreter.threads_head, address(thread_));
    put(thread_.data(), at.thread.interp, address(interpreter_));
    put(thread_.data(), at.thread.cframe, address(cframe_));
    put(thread_.data(), at.thread.native_thread_id, static_cast<unsigned long>(gettid()));
    put(cframe_.data(), at.thread.cframe_current_frame, frame_address(0));
    for (std::size_t i = 0; i < frames; ++i) {
      put(frames_[i].data(), at.frame.previous, i + 1 < frames ? frame_address(i + 1) : 0);
      put(frames_[i].data(), at.frame.code, std::uintptr_t{0x10000} * (i + 1));
      put(frames_[i].data(), at.frame.instruction,
          std::uintptr_t{0x10000} * (i + 1) + at.code.code_bytes_begin + 2 * i);
    }
  }
  void set_caller(std::size_t frame, std::uintptr_t caller) {
    put(frames_[frame].data(), runtime.at.frame.previous, caller);
  }
  [[nodiscard]] std::uintptr_t frame_address(std::size_t i) const { return address(frames_[i]); }

  PythonRuntime runtime;

 private:
  template <typename Bytes>
  static std::uintptr_t address(const Bytes& bytes) {
    return reinterpret_cast<std::uintptr_t>(bytes.data());
  }
  template <typename T>
  static void put(std::byte* bytes, std::size_t offset, T value) {
    std::memcpy(bytes + offset, &value, sizeof value);
  }

  std::array<std::byte, 4096> runtime_{}, interpreter_{};
  std::array<std::byte, kStructBytes> thread_{}, cframe_{};
  std::vector<std::array<std::byte, kFrameBytes>> frames_;
};

struct Reading {
  std::vector<PythonFrame> frames;
  std::uint64_t torn = 0;
};

Reading read(const MadeInterpreter& made) {
  const OwnMemory memory;
  PythonFrames frames(made.runtime, memory);
  Reading out;
  frames.read([&out](const PythonThread& thread) {
    CHECK(thread.id == static_cast<std::uint32_t>(gettid()));
    out.frames.assign(thread.frames.begin(), thread.frames.end());
  });
  out.torn = frames.torn();
  return out;
}

TEST_CASE("frames are read innermost first, with their positions") {
  const Reading reading = read(MadeInterpreter(3));

  CHECK(reading.frames == std::vector<PythonFrame>{{0x10000, 0}, {0x20000, 2}, {0x30000, 4}});
  CHECK(reading.torn == 0);
}

TEST_CASE("a deep stack has its innermost frames") {
  CHECK(read(MadeInterpreter(300)).frames.size() == kMaxStackDepth);
}

TEST_CASE("a caller that is no address makes the stack torn, and nothing else happens") {
  // A frame that was freed has any content: the hash of a text that has none yet is -1.
  for (const std::uintptr_t caller :
       {~std::uintptr_t{0}, ~std::uintptr_t{7}, ~std::uintptr_t{71}, std::uintptr_t{1}, std::uintptr_t{4095},
        std::uintptr_t{1} << 47, std::uintptr_t{1} << 63}) {
    MadeInterpreter made(3);
    made.set_caller(1, caller);
    INFO("caller " << caller);

    const Reading reading = read(made);

    CHECK(reading.frames.empty());
    CHECK(reading.torn == 1);
  }
}

TEST_CASE("callers in a circle end") {
  MadeInterpreter made(3);
  made.set_caller(2, made.frame_address(0));

  CHECK(read(made).frames.size() <= kMaxStackDepth);
}

}  // namespace
}  // namespace rangefinder
