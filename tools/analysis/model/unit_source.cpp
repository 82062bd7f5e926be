// SPDX-License-Identifier: Apache-2.0
#include "tools/analysis/model/unit_source.h"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <utility>

#include <zstd.h>

#include "tools/analysis/model/missing.h"
#include "tools/analysis/model/read_progress.h"
#include "tools/analysis/model/regular_file.h"

namespace rangefinder {

/// The bytes of a segment from its start to its end.
class ByteSource {
 public:
  virtual ~ByteSource() = default;
  /// Writes up to `room` bytes to `to`; 0: end of file.
  virtual std::size_t read(char* to, std::size_t room) = 0;
  /// The stream ended too early.
  [[nodiscard]] virtual bool cut() const noexcept { return false; }
};

namespace {

class PlainFile final : public ByteSource {
 public:
  explicit PlainFile(const std::filesystem::path& path) : path_(path), file_(open_regular_file(path)) {
    std::setvbuf(file_.get(), nullptr, _IONBF, 0);  // units are large
  }

  std::size_t read(char* to, std::size_t room) override {
    const std::size_t got = std::fread(to, 1, room, file_.get());
    if (got == 0 && std::ferror(file_.get()) != 0) {
      throw Missing("cannot read " + path_.string() + ": " + std::strerror(errno));
    }
    read_progress.add(got);
    return got;
  }

 private:
  std::filesystem::path path_;
  RegularFile file_;
};

struct FreeStream {
  void operator()(ZSTD_DStream* stream) const noexcept { ZSTD_freeDStream(stream); }
};

/// One or more consecutive zstd frames.
class ZstdFile final : public ByteSource {
 public:
  explicit ZstdFile(const std::filesystem::path& path)
      : path_(path), file_(path), stream_(ZSTD_createDStream()), packed_(ZSTD_DStreamInSize()) {
    if (!stream_) throw Missing("not enough memory to read " + path.string());
  }

  std::size_t read(char* to, std::size_t room) override {
    while (!broken_) {
      if (in_.pos == in_.size && !pending_ && !refill()) return 0;
      ZSTD_outBuffer out{to, room, 0};
      const std::size_t left = ZSTD_decompressStream(stream_.get(), &out, &in_);
      broken_ = ZSTD_isError(left) != 0;
      in_frame_ = left != 0;
      pending_ = in_frame_ && out.pos == out.size;  // zstd may hold more output than fitted
      count(out.pos);
      if (out.pos != 0) return out.pos;
    }
    return 0;
  }

  [[nodiscard]] bool cut() const noexcept override { return broken_ || in_frame_; }

 private:
  // Lines of a trace take a tenth to a fiftieth of their size. A file of a few KB that expands without end
  // would keep the reader busy for hours. Short files of equal lines are let through.
  static constexpr std::uint64_t kMaxRatio = 1'000, kMinRefused = std::uint64_t{64} << 20;

  void count(std::size_t bytes) {
    expanded_ += bytes;
    if (expanded_ < kMinRefused || expanded_ / kMaxRatio < packed_read_) return;
    throw Missing(path_.string() + " expands to more than 1,000 times its size, so this is not a trace file");
  }
  bool refill() {
    in_ = {packed_.data(), file_.read(packed_.data(), packed_.size()), 0};
    packed_read_ += in_.size;
    return in_.size != 0;
  }

  std::filesystem::path path_;
  PlainFile file_;
  std::uint64_t packed_read_ = 0, expanded_ = 0;  // bytes
  std::unique_ptr<ZSTD_DStream, FreeStream> stream_;
  std::vector<char> packed_;
  ZSTD_inBuffer in_{nullptr, 0, 0};
  bool broken_ = false;
  bool in_frame_ = false;
  bool pending_ = false;
};

void make_room(UnitText& unit, std::size_t room) {
  if (room <= unit.room) return;
  auto memory = std::make_unique_for_overwrite<char[]>(room + UnitText::kPadding);
  if (unit.size != 0) std::memcpy(memory.get(), unit.memory.get(), unit.size);
  unit.memory = std::move(memory);
  unit.room = room;
}

/// Behind the last line end; 0: there is none.
std::size_t line_end(const UnitText& unit) {
  const void* const newline = memrchr(unit.memory.get(), '\n', unit.size);
  return newline == nullptr
             ? 0
             : static_cast<std::size_t>(static_cast<const char*>(newline) - unit.memory.get()) + 1;
}

}  // namespace

UnitSource::UnitSource(const std::filesystem::path& file, std::size_t unit_bytes) : unit_bytes_(unit_bytes) {
  if (file.extension() == ".zst") {
    source_ = std::make_unique<ZstdFile>(file);
  } else {
    source_ = std::make_unique<PlainFile>(file);
  }
}
UnitSource::~UnitSource() = default;

void UnitSource::next(UnitText& unit) {
  unit.size = 0;
  unit.last = unit.torn = unit.too_long = false;
  make_room(unit, std::min(std::max(unit_bytes_, 2 * begun_line_.size()), kMaxLineBytes));
  std::copy(begun_line_.begin(), begun_line_.end(), unit.memory.get());
  unit.size = begun_line_.size();
  begun_line_.clear();
  std::size_t end = 0;
  while (end == 0) {
    while (unit.size < unit.room) {
      const std::size_t got = source_->read(unit.memory.get() + unit.size, unit.room - unit.size);
      unit.size += got;
      if (got != 0) continue;
      unit.last = true;
      break;
    }
    end = unit.last ? unit.size : line_end(unit);
    if (unit.last || end != 0) break;
    unit.too_long = unit.size >= kMaxLineBytes;
    if (unit.too_long) return;
    make_room(unit, std::min(2 * unit.room, kMaxLineBytes));
  }
  if (unit.last) {
    unit.torn = source_->cut() || (unit.size != 0 && unit.memory[unit.size - 1] != '\n');
  } else {
    begun_line_.assign(unit.memory.get() + end, unit.memory.get() + unit.size);
    unit.size = end;
  }
  std::memset(unit.memory.get() + unit.size, 0, UnitText::kPadding);
}

}  // namespace rangefinder
