// SPDX-License-Identifier: Apache-2.0
#include "profiler/stacks/python_runtime.h"

#include <dlfcn.h>
#include <link.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstring>
#include <string_view>

namespace rangefinder {
namespace {

constexpr std::uint8_t kFirstWithDebugOffsets = 13;
constexpr std::size_t kDebugWords = 95;

/// Indices of words of _Py_DebugOffsets (pycore_runtime.h of 3.13, pycore_debug_offsets.h of 3.14).
struct DebugWords {
  std::uint8_t minor;
  std::uint8_t interpreters_head;
  std::uint8_t interpreter_next, threads_head, interpreter_gc, interpreter_id;
  std::uint8_t thread_next, thread_interp, current_frame, thread_id, native_thread_id;
  std::uint8_t frame_bytes, previous, executable, instruction, owner;
  std::uint8_t filename, name, qualname, line_table, first_line, code_bytes_begin;
  std::uint8_t type;
  std::uint8_t unicode_state, unicode_length, ascii_bytes;
  std::uint8_t bytes_size, bytes_data;
  std::uint8_t collecting;
};

constexpr std::array kDebugWordTable{
    DebugWords{13, 5,  8,  9,  10, 7,  21, 22, 23, 24, 25, 28, 29, 30, 31,
               33, 35, 36, 37, 38, 39, 43, 45, 68, 69, 70, 65, 66, 72},
    DebugWords{14, 5,  8,  9,  11, 7,  24, 25, 26, 27, 28, 31, 32, 33, 34,
               36, 40, 41, 42, 43, 44, 48, 51, 78, 79, 80, 75, 76, 82},
};

void* find_symbol(const char* name) noexcept {
  if (void* const found = dlsym(RTLD_DEFAULT, name)) return found;
  // A program that embeds Python may have loaded its library without RTLD_GLOBAL.
  struct Search {
    const char* name;
    void* found;
  } search{name, nullptr};
  dl_iterate_phdr(
      [](dl_phdr_info* info, std::size_t, void* user) {
        auto& wanted = *static_cast<Search*>(user);
        if (std::strstr(info->dlpi_name, "libpython3") == nullptr) return 0;
        void* const library = dlopen(info->dlpi_name, RTLD_LAZY | RTLD_NOLOAD);
        if (library == nullptr) return 0;
        wanted.found = dlsym(library, wanted.name);
        dlclose(library);  // it stays loaded: it was before
        return wanted.found != nullptr ? 1 : 0;
      },
      &search);
  return search.found;
}

bool is_pypy() noexcept {
  return find_symbol("pypy_main_startup") != nullptr;
}

/// "3.12.3 (main, …)": 12. Absent: no such text, or another major version.
std::optional<std::uint8_t> minor_of(std::string_view version) noexcept {
  std::uint8_t minor = 0;
  if (!version.starts_with("3.")) return {};
  const char* const end = version.data() + version.size();
  return std::from_chars(version.data() + 2, end, minor).ec == std::errc() ? std::optional(minor)
                                                                           : std::nullopt;
}

}  // namespace

bool has_python() noexcept {
  return find_symbol("Py_GetVersion") != nullptr || is_pypy();
}

std::optional<PythonOffsets> read_debug_offsets(std::uint8_t minor, const std::uint64_t* words) {
  const auto row = std::find_if(kDebugWordTable.begin(), kDebugWordTable.end(),
                                [minor](const DebugWords& one) { return one.minor == minor; });
  if (row == kDebugWordTable.end() || std::memcmp(words, "xdebugpy", 8) != 0) return {};
  // PY_VERSION_HEX without its last parts. Without a GIL, threads run copies of the instructions.
  bool fits = words[1] >> 16 == (std::uint64_t{3} << 8 | minor) && words[2] == 0;
  const auto word = [&](std::uint8_t index) {
    fits = fits && words[index] < PythonOffsets::kNone;
    return static_cast<std::uint16_t>(words[index]);
  };
  PythonOffsets at{};
  at.minor = minor;
  at.runtime = {word(row->interpreters_head)};
  const std::uint64_t collecting = words[row->interpreter_gc] + words[row->collecting];
  fits = fits && collecting < PythonOffsets::kNone;
  at.interpreter = {word(row->interpreter_next), word(row->interpreter_id), word(row->threads_head),
                    static_cast<std::uint16_t>(collecting)};
  constexpr std::uint16_t kNone = PythonOffsets::kNone;
  at.thread = {word(row->thread_next), word(row->thread_interp),   word(row->current_frame), kNone, kNone,
               word(row->thread_id),   word(row->native_thread_id)};
  at.frame = {word(row->previous),    word(row->executable), kNone,
              word(row->instruction), word(row->owner),      kNone,
              word(row->frame_bytes)};
  // co_code is an array of units at the end of a variable-sized object, whose size follows its type.
  at.code = {word(row->filename),   word(row->name), word(row->qualname),         word(row->first_line),
             word(row->line_table), kNone,           word(row->code_bytes_begin), 16};
  at.object = {word(row->type)};
  at.bytes = {word(row->bytes_size), word(row->bytes_data)};
  const std::uint16_t ascii_bytes = word(row->ascii_bytes);
  // PyCompactUnicodeObject adds the UTF-8 form: its length and its pointer.
  at.unicode = {word(row->unicode_length), word(row->unicode_state), ascii_bytes,
                static_cast<std::uint16_t>(ascii_bytes + 16)};
  return fits ? std::optional(at) : std::nullopt;
}

std::optional<PythonRuntime> find_python(const OwnMemory& memory, std::string& problem) {
  problem.clear();
  constexpr const char* kRefusal = ": host stacks are read of CPython 3.9 to 3.14, with a GIL";
  void* const runtime = find_symbol("_PyRuntime");
  void* const code_type = find_symbol("PyCode_Type");
  void* const version = find_symbol("Py_GetVersion");
  if (version == nullptr) {
    if (is_pypy()) problem = std::string("PyPy") + kRefusal;
    return {};
  }
  PythonRuntime found;
  const std::string_view text = reinterpret_cast<const char* (*)()>(version)();
  found.version = text.substr(0, text.find(' '));
  found.runtime = reinterpret_cast<std::uintptr_t>(runtime);
  found.code_type = reinterpret_cast<std::uintptr_t>(code_type);
  const std::string refusal = "Python " + found.version + kRefusal;
  const auto minor = minor_of(text);
  if (!minor || runtime == nullptr || code_type == nullptr) {
    problem = refusal;
    return {};
  }
  if (*minor >= kFirstWithDebugOffsets) {
    std::array<std::uint64_t, kDebugWords> words{};
    const auto at =
        memory.read(found.runtime, words) ? read_debug_offsets(*minor, words.data()) : std::nullopt;
    if (!at) problem = refusal;
    if (at) found.at = *at;
  } else {
    const auto row = std::find_if(kPythonOffsets.begin(), kPythonOffsets.end(),
                                  [&](const PythonOffsets& one) { return one.minor == *minor; });
    if (row == kPythonOffsets.end()) problem = refusal;
    if (row != kPythonOffsets.end()) found.at = *row;
  }
  return problem.empty() ? std::optional(found) : std::nullopt;
}

}  // namespace rangefinder
