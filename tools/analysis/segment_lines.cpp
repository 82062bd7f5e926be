// SPDX-License-Identifier: Apache-2.0
#include "tools/analysis/segment_lines.h"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <vector>

#include <zstd.h>

#include "tools/analysis/missing.h"

namespace rangefinder {

/// Bytes in order.
class ByteSource {
 public:
  virtual ~ByteSource() = default;
  /// Appends some; false: there are no more.
  virtual bool append(std::string& out) = 0;
  /// The bytes ended before they should.
  [[nodiscard]] virtual bool cut() const noexcept { return false; }
};

namespace {

constexpr std::size_t kChunkBytes = std::size_t{1} << 20;

struct CloseFile {
  void operator()(std::FILE* file) const noexcept { std::fclose(file); }
};

class PlainFile final : public ByteSource {
 public:
  explicit PlainFile(const std::filesystem::path& path) : path_(path), file_(std::fopen(path.c_str(), "rb")) {
    if (!file_) throw Missing("cannot open " + path.string() + ": " + std::strerror(errno));
  }

  bool append(std::string& out) override {
    const std::size_t before = out.size();
    out.resize(before + kChunkBytes);
    const std::size_t got = std::fread(out.data() + before, 1, kChunkBytes, file_.get());
    out.resize(before + got);
    if (got == 0 && std::ferror(file_.get()) != 0) {
      throw Missing("cannot read " + path_.string() + ": " + std::strerror(errno));
    }
    return got != 0;
  }

 private:
  std::filesystem::path path_;
  std::unique_ptr<std::FILE, CloseFile> file_;
};

struct FreeStream {
  void operator()(ZSTD_DStream* stream) const noexcept { ZSTD_freeDStream(stream); }
};

/// One or more zstd frames behind each other.
class ZstdFile final : public ByteSource {
 public:
  explicit ZstdFile(const std::filesystem::path& path)
      : file_(path), stream_(ZSTD_createDStream()), out_(ZSTD_DStreamOutSize()) {
    if (!stream_) throw Missing("not enough memory to read " + path.string());
  }

  bool append(std::string& out) override {
    while (!broken_) {
      if (in_.pos == in_.size && !pending_ && !refill()) return false;
      ZSTD_outBuffer chunk{out_.data(), out_.size(), 0};
      const std::size_t left = ZSTD_decompressStream(stream_.get(), &chunk, &in_);
      broken_ = ZSTD_isError(left) != 0;
      in_frame_ = left != 0;
      pending_ = in_frame_ && chunk.pos == chunk.size;  // zstd may hold more than fitted
      out.append(out_.data(), chunk.pos);
      if (chunk.pos != 0) return true;
    }
    return false;
  }

  [[nodiscard]] bool cut() const noexcept override { return broken_ || in_frame_; }

 private:
  bool refill() {
    raw_.clear();
    if (!file_.append(raw_)) return false;
    in_ = {raw_.data(), raw_.size(), 0};
    return true;
  }

  PlainFile file_;
  std::unique_ptr<ZSTD_DStream, FreeStream> stream_;
  std::vector<char> out_;
  std::string raw_;
  ZSTD_inBuffer in_{nullptr, 0, 0};
  bool broken_ = false;
  bool in_frame_ = false;
  bool pending_ = false;
};

std::unique_ptr<ByteSource> open_source(const std::filesystem::path& path) {
  if (path.extension() != ".zst") return std::make_unique<PlainFile>(path);
  return std::make_unique<ZstdFile>(path);
}

}  // namespace

SegmentLines::SegmentLines(const std::filesystem::path& file) : source_(open_source(file)) {}
SegmentLines::~SegmentLines() = default;

bool SegmentLines::next(std::string_view& line) {
  std::size_t searched = begin_;
  for (;;) {
    const std::size_t newline = buffer_.find('\n', searched);
    if (newline != std::string::npos) {
      line = std::string_view(buffer_).substr(begin_, newline - begin_);
      begin_ = newline + 1;
      ++number_;
      return true;
    }
    if (ended_) break;
    buffer_.erase(0, begin_);
    begin_ = 0;
    searched = buffer_.size();
    ended_ = !source_->append(buffer_);
  }
  torn_ = torn_ || source_->cut() || begin_ < buffer_.size();
  if (begin_ == buffer_.size()) return false;
  line = std::string_view(buffer_).substr(begin_);
  begin_ = buffer_.size();
  ++number_;
  return true;
}

}  // namespace rangefinder
