// SPDX-License-Identifier: Apache-2.0
//
// Function, file and line of Python frames, as ids of the tables of names and stacks.
//
//   {code object, position} ─▶ head of the object (names, first line, line table) ─▶ StackFrame
//
// Code objects are read once. They may be freed, and another may take their address: their heads are read
// again with each new stack, those of a whole stack in one call, and compared.
//
// Bounded: kMaxCodes code objects, then all are read again. One thread. Throws bad_alloc.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "profiler/events/name_table.h"
#include "profiler/events/stack_table.h"
#include "profiler/stacks/own_memory.h"
#include "profiler/stacks/python_frames.h"
#include "profiler/stacks/python_runtime.h"

namespace rangefinder {

class PythonCode {
 public:
  static constexpr std::size_t kMaxCodes = 16'384;
  static constexpr std::size_t kMaxNameBytes = 1024, kMaxLineTableBytes = 65'536;

  struct Tables {
    NameTable& names;
    StackTable& stacks;
    bool omits_files = false;  ///< frames have neither file nor line
  };

  PythonCode(const PythonRuntime& runtime, const OwnMemory& memory, const Tables& tables);

  /// The latest stack of a thread: its frames, outermost first, and the stack that ends with each.
  struct Latest {
    std::vector<PythonFrame> frames;
    std::vector<std::uint32_t> stacks;
  };

  /// The stack of these frames, innermost first. 0: none of them is a Python function. `latest`: of the same
  /// thread; the frames that it shares are not read again.
  [[nodiscard]] std::uint32_t stack(std::span<const PythonFrame> frames, Latest& latest);
  /// The same, and in it `function` without a file.
  [[nodiscard]] std::uint32_t inner(std::uint32_t stack, std::string_view function);

 private:
  /// What identifies a code object, and what is read of it.
  struct Head {
    std::uintptr_t type = 0, name = 0, file = 0, line_table = 0;
    std::int32_t first_line = 0;
    bool operator==(const Head&) const = default;
  };
  struct Code {
    Head head;
    std::uint32_t function = 0, file = 0;
    std::int64_t bytes = 0;  // of instructions
    std::vector<std::uint8_t> lines;
    std::unordered_map<std::int32_t, std::uint32_t> frames;  // by position
  };
  static constexpr std::size_t kMaxHeadBytes = 256;

  void read_heads(std::span<const PythonFrame> frames);
  [[nodiscard]] std::uint32_t frame(const PythonFrame& frame, const std::byte* head);
  [[nodiscard]] Head decode(const std::byte* bytes) const noexcept;
  [[nodiscard]] bool is_function(const Head& head) const noexcept;
  void fill(Code& code, const std::byte* bytes);
  void read_lines(Code& code);
  [[nodiscard]] std::int64_t bytes_of_instructions(const std::byte* head) const noexcept;
  [[nodiscard]] std::uint32_t name_at(std::uintptr_t text);
  [[nodiscard]] std::uint32_t line_of(const Code& code, std::int32_t position) const noexcept;

  const PythonRuntime& python_;
  const OwnMemory& memory_;
  const PythonOffsets& at_;
  const Tables tables_;
  const std::size_t head_bytes_;
  std::unordered_map<std::uintptr_t, Code> codes_;
  std::vector<std::array<std::byte, kMaxHeadBytes>> heads_;  // of the current stack
  std::vector<std::uint8_t> text_;
  std::string utf8_;
};

}  // namespace rangefinder
