// SPDX-License-Identifier: Apache-2.0
#include "profiler/stacks/python_code.h"

#include <algorithm>
#include <cstring>

#include "profiler/stacks/python_lines.h"

namespace rangefinder {
namespace {

template <typename T>
T value_at(const std::byte* bytes, std::uint16_t offset) noexcept {
  T value{};
  if (offset != PythonOffsets::kNone) std::memcpy(&value, bytes + offset, sizeof value);
  return value;
}

void append_utf8(std::string& out, std::uint32_t code_point) {
  const auto byte = [&out](std::uint32_t value) { out += static_cast<char>(value); };
  const auto rest = [&](int shift) { byte(0x80 | (code_point >> shift & 0x3f)); };
  if (code_point < 0x80) return byte(code_point);
  if (code_point < 0x800) {
    byte(0xc0 | code_point >> 6);
  } else if (code_point < 0x10000) {
    byte(0xe0 | code_point >> 12);
    rest(6);
  } else {
    byte(0xf0 | (code_point >> 18 & 7));
    rest(12);
    rest(6);
  }
  rest(0);
}

std::uint32_t character(const std::uint8_t* text, std::size_t i, std::size_t bytes) noexcept {
  std::uint32_t value = 0;
  std::memcpy(&value, text + i * bytes, bytes);
  return value;
}

}  // namespace

PythonCode::PythonCode(const PythonRuntime& runtime, const OwnMemory& memory, const Tables& tables)
    : python_(runtime),
      memory_(memory),
      at_(runtime.at),
      tables_(tables),
      head_bytes_(std::max({at_.code.filename, at_.code.name, at_.code.first_line, at_.code.line_table,
                            at_.code.qualname == PythonOffsets::kNone ? at_.code.name : at_.code.qualname}) +
                  sizeof(std::uintptr_t)) {
  heads_.resize(kMaxStackDepth);
}

void PythonCode::read_heads(std::span<const PythonFrame> frames) {
  std::array<OwnMemory::Piece, kMaxStackDepth> pieces;
  for (std::size_t i = 0; i < frames.size(); ++i) pieces[i] = {frames[i].code, heads_[i].data(), head_bytes_};
  std::size_t done = 0;
  // A frame of C has an object that is shorter, or none: it is left out, with no type.
  while (done < frames.size()) {
    done += memory_.read(std::span(pieces).subspan(done, frames.size() - done));
    if (done == frames.size()) return;
    heads_[done++].fill(std::byte{0});
  }
}

PythonCode::Head PythonCode::decode(const std::byte* bytes) const noexcept {
  const std::uint16_t name = at_.code.qualname == PythonOffsets::kNone ? at_.code.name : at_.code.qualname;
  return {value_at<std::uintptr_t>(bytes, at_.object.type), value_at<std::uintptr_t>(bytes, name),
          value_at<std::uintptr_t>(bytes, at_.code.filename),
          value_at<std::uintptr_t>(bytes, at_.code.line_table),
          value_at<std::int32_t>(bytes, at_.code.first_line)};
}

// The interpreter's own code objects, as that between a class and its __init__() since 3.13, have one text as
// name and file. Tracebacks omit them too.
bool PythonCode::is_function(const Head& head) const noexcept {
  return head.type == python_.code_type && head.name != head.file;
}

std::uint32_t PythonCode::stack(std::span<const PythonFrame> frames, Latest& latest) {
  if (head_bytes_ > kMaxHeadBytes) return 0;  // no interpreter that we know
  // One level is left for inner().
  frames = frames.first(std::min<std::size_t>(frames.size(), kMaxStackDepth - 1));
  const auto shared = static_cast<std::size_t>(
      std::mismatch(frames.rbegin(), frames.rend(), latest.frames.begin(), latest.frames.end()).first -
      frames.rbegin());
  latest.frames.assign(frames.rbegin(), frames.rend());
  latest.stacks.resize(frames.size());
  read_heads(frames.first(frames.size() - shared));
  std::uint32_t stack = shared == 0 ? 0 : latest.stacks[shared - 1];
  for (std::size_t i = shared; i < frames.size(); ++i) {
    const std::byte* const head = heads_[frames.size() - 1 - i].data();
    if (is_function(decode(head))) stack = tables_.stacks.stack({stack, frame(latest.frames[i], head)});
    latest.stacks[i] = stack;
  }
  return stack;
}

std::uint32_t PythonCode::inner(std::uint32_t stack, std::string_view function) {
  return tables_.stacks.stack({stack, tables_.stacks.frame({tables_.names.intern(function), 0, 0})});
}

std::uint32_t PythonCode::frame(const PythonFrame& frame, const std::byte* head) {
  if (codes_.size() >= kMaxCodes && !codes_.contains(frame.code)) codes_.clear();
  Code& code = codes_[frame.code];
  if (code.function == 0 || code.head != decode(head)) fill(code, head);
  // Without lines, all positions are one.
  const auto position =
      static_cast<std::int32_t>(tables_.omits_files ? 0 : std::min<std::int64_t>(frame.position, code.bytes));
  const auto [known, is_new] = code.frames.try_emplace(position, 0);
  if (is_new || known->second == 0)
    known->second = tables_.stacks.frame({code.function, code.file, line_of(code, position)});
  return known->second;
}

void PythonCode::fill(Code& code, const std::byte* bytes) {
  code = {};
  code.head = decode(bytes);
  code.function = name_at(code.head.name);
  if (tables_.omits_files) return;
  code.file = name_at(code.head.file);
  code.bytes = bytes_of_instructions(bytes);
  read_lines(code);
}

std::int64_t PythonCode::bytes_of_instructions(const std::byte* head) const noexcept {
  constexpr std::int64_t kUnitBytes = 2, kMaxUnits = INT32_MAX / kUnitBytes;
  if (at_.code.code_object == PythonOffsets::kNone) {
    const auto units = value_at<std::int64_t>(head, at_.code.code_size);
    return std::clamp<std::int64_t>(units, 0, kMaxUnits) * kUnitBytes;
  }
  std::int64_t bytes = 0;
  const auto instructions = value_at<std::uintptr_t>(head, at_.code.code_object);
  return memory_.read(instructions + at_.bytes.size, bytes) ? bytes : 0;
}

void PythonCode::read_lines(Code& code) {
  std::int64_t bytes = 0;
  if (!memory_.read(code.head.line_table + at_.bytes.size, bytes)) return;
  if (bytes <= 0 || bytes > static_cast<std::int64_t>(kMaxLineTableBytes)) return;
  code.lines.resize(static_cast<std::size_t>(bytes));
  if (!memory_.read(code.head.line_table + at_.bytes.data, code.lines.data(), code.lines.size()))
    code.lines.clear();
}

std::uint32_t PythonCode::line_of(const Code& code, std::int32_t position) const noexcept {
  if (tables_.omits_files) return 0;
  const std::uint32_t line = python_line(at_.minor, code.lines, code.head.first_line, position);
  return line != 0 ? line : static_cast<std::uint32_t>(std::max(code.head.first_line, 0));
}

std::uint32_t PythonCode::name_at(std::uintptr_t text) {
  constexpr std::uint32_t kKindMask = 0x1c, kCompact = 0x20, kAscii = 0x40;
  std::int64_t length = 0;
  std::uint32_t state = 0;
  if (!memory_.read(text + at_.unicode.length, length) || !memory_.read(text + at_.unicode.state, state))
    return kOtherName;
  const std::size_t width = (state & kKindMask) >> 2;
  if ((state & kCompact) == 0 || length <= 0 || (width != 1 && width != 2 && width != 4)) return kOtherName;
  const auto kept = static_cast<std::size_t>(std::min<std::int64_t>(length, kMaxNameBytes));
  text_.resize(kept * width);
  const std::uint16_t data = (state & kAscii) != 0 ? at_.unicode.ascii_data : at_.unicode.compact_data;
  if (!memory_.read(text + data, text_.data(), text_.size())) return kOtherName;
  utf8_.clear();
  for (std::size_t i = 0; i < kept; ++i) append_utf8(utf8_, character(text_.data(), i, width));
  return tables_.names.intern(utf8_);
}

}  // namespace rangefinder
