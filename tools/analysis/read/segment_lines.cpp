// SPDX-License-Identifier: Apache-2.0
#include "tools/analysis/read/segment_lines.h"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <vector>

#include <zstd.h>

#include "tools/analysis/read/missing.h"
#include "tools/analysis/read/read_progress.h"

namespace rangefinder {

/// A sequential stream of bytes.
class ByteSource {
 public:
  virtual ~ByteSource() = default;
  /// Writes up to `room` bytes to `to`; 0: end of file.
  virtual std::size_t read(char* to, std::size_t room) = 0;
  /// The stream ended too early.
  [[nodiscard]] virtual bool cut() const noexcept { return false; }
};

namespace {

constexpr std::size_t kChunkBytes = std::size_t{1} << 20;
/// The writer's longest line, a line of samples, has about 100 KB. Without a limit a file of another kind
/// that has no newline would be read into memory as a whole.
constexpr std::size_t kMaxLineBytes = std::size_t{64} << 20;

struct CloseFile {
  void operator()(std::FILE* file) const noexcept { std::fclose(file); }
};

class PlainFile final : public ByteSource {
 public:
  explicit PlainFile(const std::filesystem::path& path) : path_(path), file_(std::fopen(path.c_str(), "rb")) {
    if (!file_) throw Missing("cannot open " + path.string() + ": " + std::strerror(errno));
    std::setvbuf(file_.get(), nullptr, _IONBF, 0);  // SegmentLines has its own buffer
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
  std::unique_ptr<std::FILE, CloseFile> file_;
};

struct FreeStream {
  void operator()(ZSTD_DStream* stream) const noexcept { ZSTD_freeDStream(stream); }
};

/// One or more consecutive zstd frames.
class ZstdFile final : public ByteSource {
 public:
  explicit ZstdFile(const std::filesystem::path& path)
      : file_(path), stream_(ZSTD_createDStream()), packed_(ZSTD_DStreamInSize()) {
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
      if (out.pos != 0) return out.pos;
    }
    return 0;
  }

  [[nodiscard]] bool cut() const noexcept override { return broken_ || in_frame_; }

 private:
  bool refill() {
    in_ = {packed_.data(), file_.read(packed_.data(), packed_.size()), 0};
    return in_.size != 0;
  }

  PlainFile file_;
  std::unique_ptr<ZSTD_DStream, FreeStream> stream_;
  std::vector<char> packed_;
  ZSTD_inBuffer in_{nullptr, 0, 0};
  bool broken_ = false;
  bool in_frame_ = false;
  bool pending_ = false;
};

/// A small file needs a smaller buffer. One byte more than its size detects its end in the first read.
std::size_t first_chunk_bytes(const std::filesystem::path& file) {
  std::error_code error;
  const std::uintmax_t bytes = std::filesystem::file_size(file, error);
  if (error || file.extension() == ".zst") return kChunkBytes;
  return static_cast<std::size_t>(std::min<std::uintmax_t>(bytes + 1, kChunkBytes));
}

std::unique_ptr<ByteSource> open_source(const std::filesystem::path& path) {
  if (path.extension() != ".zst") return std::make_unique<PlainFile>(path);
  return std::make_unique<ZstdFile>(path);
}

}  // namespace

SegmentLines::SegmentLines(const std::filesystem::path& file)
    : file_(file), source_(open_source(file)), buffer_(first_chunk_bytes(file)) {}
SegmentLines::~SegmentLines() = default;

bool SegmentLines::refill() {
  if (ended_) return false;
  std::memmove(buffer_.data(), buffer_.data() + begin_, end_ - begin_);
  end_ -= begin_;
  begin_ = 0;
  if (end_ == buffer_.size()) {
    if (end_ >= kMaxLineBytes) {
      throw Missing(file_.string() + ":" + std::to_string(number_ + 1) +
                    ": the line is longer than 64 MiB, so this is not a trace file");
    }
    buffer_.resize(2 * end_);
  }
  const std::size_t got = source_->read(buffer_.data() + end_, buffer_.size() - end_);
  end_ += got;
  ended_ = got == 0;
  return !ended_;
}

bool SegmentLines::next(std::string_view& line) {
  std::size_t searched = begin_;
  for (;;) {
    const char* const from = buffer_.data() + searched;
    if (const void* const newline = std::memchr(from, '\n', end_ - searched); newline != nullptr) {
      const char* const first = buffer_.data() + begin_;
      line = {first, static_cast<std::size_t>(static_cast<const char*>(newline) - first)};
      begin_ += line.size() + 1;
      ++number_;
      return true;
    }
    searched = end_ - begin_;  // refill() moves the unread bytes to the front
    if (!refill()) break;
  }
  torn_ = torn_ || source_->cut() || begin_ < end_;
  if (begin_ == end_) return false;
  line = {buffer_.data() + begin_, end_ - begin_};
  begin_ = end_;
  ++number_;
  return true;
}

}  // namespace rangefinder
