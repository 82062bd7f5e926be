// SPDX-License-Identifier: Apache-2.0
#include "profiler/stacks/python_frames.h"

#include <pthread.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <initializer_list>

namespace rangefinder {
namespace {

constexpr std::size_t kPointerBytes = sizeof(std::uintptr_t);

/// Bytes of a struct up to the last of the members at these offsets.
std::size_t bytes_up_to(std::initializer_list<std::uint16_t> offsets) noexcept {
  std::size_t bytes = 0;
  for (const std::uint16_t offset : offsets) {
    if (offset != PythonOffsets::kNone) bytes = std::max(bytes, offset + kPointerBytes);
  }
  return bytes;
}

template <typename T>
T load(const std::byte* bytes, std::size_t offset) noexcept {
  T value;
  std::memcpy(&value, bytes + offset, sizeof value);
  return value;
}

std::uintptr_t pointer(const std::byte* bytes, std::size_t offset) noexcept {
  return load<std::uintptr_t>(bytes, offset);
}

/// Where glibc keeps the thread id in the memory that a pthread_t points to. 0: not found.
std::size_t find_native_id(const OwnMemory& memory) noexcept {
  constexpr std::size_t kSearched = 2048;
  std::array<std::byte, kSearched> bytes{};
  if (!memory.read(reinterpret_cast<std::uintptr_t>(pthread_self()), bytes)) return 0;
  const auto id = static_cast<std::int32_t>(gettid());
  for (std::size_t offset = 0; offset + sizeof id <= kSearched; offset += sizeof id) {
    if (load<std::int32_t>(bytes.data(), offset) == id) return offset;
  }
  return 0;
}

}  // namespace

PythonFrames::PythonFrames(const PythonRuntime& runtime, const OwnMemory& memory)
    : python_(runtime),
      memory_(memory),
      at_(runtime.at),
      adjacent_(at_.frame.instruction != PythonOffsets::kNone),
      thread_bytes_(bytes_up_to({at_.thread.next, at_.thread.interp, at_.thread.frame, at_.thread.cframe,
                                 at_.thread.thread_id, at_.thread.native_thread_id})),
      frame_bytes_(bytes_up_to(
          {at_.frame.previous, at_.frame.code, at_.frame.lasti, at_.frame.instruction, at_.frame.owner})) {
  first_.reserve(kMaxStackDepth);
  second_.reserve(kMaxStackDepth);
  common_.reserve(kMaxStackDepth);
  if (at_.thread.native_thread_id == PythonOffsets::kNone) native_id_offset_ = find_native_id(memory);
}

std::uintptr_t PythonFrames::first_interpreter() const noexcept {
  std::uintptr_t first = 0;
  return memory_.read(python_.runtime + at_.runtime.interpreters_head, first) ? first : 0;
}

bool PythonFrames::read_interpreter(std::uintptr_t at, Interpreter& out) const noexcept {
  std::int32_t collecting = 0;
  const OwnMemory::Piece pieces[]{{at + at_.interpreter.next, &out.next, sizeof out.next},
                                  {at + at_.interpreter.threads_head, &out.threads, sizeof out.threads},
                                  {at + at_.interpreter.gc_collecting, &collecting, sizeof collecting}};
  if (memory_.read(pieces) != std::size(pieces)) return false;
  out.collecting = collecting == 1;
  return true;
}

std::uintptr_t PythonFrames::innermost(const std::byte* thread) const noexcept {
  if (at_.thread.cframe == PythonOffsets::kNone) return pointer(thread, at_.thread.frame);
  std::uintptr_t frame = 0;
  const std::uintptr_t cframe = pointer(thread, at_.thread.cframe);
  return memory_.read(cframe + at_.thread.cframe_current_frame, frame) ? frame : 0;
}

std::uint32_t PythonFrames::thread_id_of(const std::byte* thread) const noexcept {
  if (at_.thread.native_thread_id != PythonOffsets::kNone)
    return static_cast<std::uint32_t>(load<unsigned long>(thread, at_.thread.native_thread_id));
  std::int32_t id = 0;
  if (native_id_offset_ == 0) return 0;
  return memory_.read(pointer(thread, at_.thread.thread_id) + native_id_offset_, id)
             ? static_cast<std::uint32_t>(id)
             : 0;
}

bool PythonFrames::read_thread(std::uintptr_t at, std::uintptr_t interpreter, PythonThread& thread,
                               std::uintptr_t& next) {
  std::array<std::byte, kMaxStructBytes> bytes;
  const auto read_struct = [&] {
    // A thread that ended meanwhile leaves any content.
    return memory_.read(at, bytes.data(), thread_bytes_) &&
           pointer(bytes.data(), at_.thread.interp) == interpreter;
  };
  if (thread_bytes_ > bytes.size() || !read_struct()) return false;
  next = pointer(bytes.data(), at_.thread.next);
  common_.clear();
  // A generator's frame may be freed while it is read; then all of the stack is read again.
  for (int tries = 0; tries < kMaxTries && common_.empty(); ++tries) {
    const std::uintptr_t before = innermost(bytes.data());
    if (before == 0) return false;  // it runs no Python
    const bool whole = walk(before, first_);
    if (!read_struct()) return false;
    const std::uintptr_t after = innermost(bytes.data());
    if (after == 0) return false;
    if (whole && walk(after, second_)) keep_common();
  }
  thread.id = thread_id_of(bytes.data());
  thread.frames = common_;
  if (!common_.empty() && thread.id != 0) return true;
  ++torn_;
  return false;
}

// Copies what is below `end`, the last page first: pages far below may be unmapped.
void PythonFrames::fetch_block(std::uintptr_t end) noexcept {
  std::array<OwnMemory::Piece, kBlockPages> pieces;
  std::uintptr_t upper = end;
  std::byte* to = block_.data() + block_.size();
  for (OwnMemory::Piece& piece : pieces) {
    const std::uintptr_t lower = (upper - 1) / kPage * kPage;
    to -= upper - lower;
    piece = {lower, to, upper - lower};
    upper = lower;
  }
  const std::size_t read = memory_.read(pieces);
  block_end_ = block_begin_ = end;
  if (read != 0) block_begin_ = pieces[read - 1].from;
}

bool PythonFrames::read_frame(std::uintptr_t at, std::byte* to) {
  // `at` may be any number, also one to which nothing can be added.
  const bool in_block = at >= block_begin_ && at < block_end_ && block_end_ - at >= frame_bytes_;
  if (!in_block) return memory_.read(at, to, frame_bytes_);
  std::memcpy(to, block_.data() + block_.size() - (block_end_ - at), frame_bytes_);
  return true;
}

PythonFrames::Frame PythonFrames::decode(std::uintptr_t at, const std::byte* bytes) const noexcept {
  const std::uintptr_t code = pointer(bytes, at_.frame.code) & PythonRuntime::kPointerMask;
  if (at_.frame.lasti != PythonOffsets::kNone) {
    const auto last = load<std::int32_t>(bytes, at_.frame.lasti);
    return {at, {code, last < 0 || python_.has_byte_positions() ? last : std::min(last, INT32_MAX / 2) * 2}};
  }
  // An instruction outside of the code object: PythonCode refuses the position.
  const auto offset =
      static_cast<std::int64_t>(pointer(bytes, at_.frame.instruction) - code - at_.code.code_bytes_begin);
  const bool in_range = offset < INT32_MAX && offset > INT32_MIN;
  return {at, {code, in_range ? static_cast<std::int32_t>(offset) : INT32_MAX}};
}

bool PythonFrames::walk(std::uintptr_t innermost, std::vector<Frame>& out) {
  out.clear();
  std::array<std::byte, kMaxStructBytes> bytes;
  if (frame_bytes_ > bytes.size()) return false;
  block_begin_ = block_end_ = 0;
  if (adjacent_) fetch_block(innermost + frame_bytes_);
  // Frames of C functions count too, so that a list that has become a circle ends.
  std::uintptr_t at = innermost;
  for (std::size_t i = 0; at != 0 && i < 2 * kMaxStackDepth && out.size() < kMaxStackDepth; ++i) {
    if (!read_frame(at, bytes.data())) return false;
    const bool is_python = at_.frame.owned_by_c_stack == PythonOffsets::kNone ||
                           load<std::uint8_t>(bytes.data(), at_.frame.owner) != at_.frame.owned_by_c_stack;
    if (is_python) out.push_back(decode(at, bytes.data()));
    at = pointer(bytes.data(), at_.frame.previous);
  }
  return true;
}

// The second reading's positions count: they are of one moment. Frames are the same if their address and code
// are; all their callers then have to be, but for those beyond the maximum depth.
void PythonFrames::keep_common() {
  const auto same = [](const Frame& a, const Frame& b) {
    return a.address == b.address && a.frame.code == b.frame.code;
  };
  const bool cut = first_.size() == kMaxStackDepth || second_.size() == kMaxStackDepth;
  for (auto from = second_.begin(); from != second_.end(); ++from) {
    const auto in_first =
        std::find_if(first_.begin(), first_.end(), [&](const Frame& frame) { return same(frame, *from); });
    const auto callers = std::min(first_.end() - in_first, second_.end() - from);
    const bool all = first_.end() - in_first == second_.end() - from;
    if (callers == 0 || (!all && !cut) || !std::equal(from, from + callers, in_first, same)) continue;
    for (auto frame = from; frame != from + callers; ++frame) common_.push_back(frame->frame);
    return;
  }
}

}  // namespace rangefinder
