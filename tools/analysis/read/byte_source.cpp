// SPDX-License-Identifier: Apache-2.0
#include "tools/analysis/read/byte_source.h"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <vector>

#include <zstd.h>

#include "tools/analysis/read/missing.h"
#include "tools/analysis/read/read_progress.h"

namespace rangefinder {
namespace {

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

}  // namespace

std::unique_ptr<ByteSource> open_source(const std::filesystem::path& path) {
  if (path.extension() != ".zst") return std::make_unique<PlainFile>(path);
  return std::make_unique<ZstdFile>(path);
}

}  // namespace rangefinder
