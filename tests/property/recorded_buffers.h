// SPDX-License-Identifier: Apache-2.0
//
// Activity buffers out of the recordings of real runs (tests/replay/), as material to spoil.
#pragma once

#include <zstd.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "profiler/drain/recording.h"

namespace rangefinder::property {

/// The content of a .zst file as a file that is gone when closed.
inline RecordingReader::File decompressed(const std::filesystem::path& path) {
  const RecordingReader::File in(std::fopen(path.c_str(), "rb"), &std::fclose);
  RecordingReader::File out(std::tmpfile(), &std::fclose);
  const std::unique_ptr<ZSTD_DStream, std::size_t (*)(ZSTD_DStream*)> stream(ZSTD_createDStream(),
                                                                             &ZSTD_freeDStream);
  if (!in || !out || !stream) throw std::runtime_error("cannot open " + path.string());
  std::vector<char> from(ZSTD_DStreamInSize()), to(ZSTD_DStreamOutSize());
  for (std::size_t read = 0; (read = std::fread(from.data(), 1, from.size(), in.get())) > 0;) {
    ZSTD_inBuffer input{from.data(), read, 0};
    for (bool full = true; input.pos < input.size || full;) {
      ZSTD_outBuffer output{to.data(), to.size(), 0};
      if (ZSTD_isError(ZSTD_decompressStream(stream.get(), &output, &input)) != 0) {
        throw std::runtime_error(path.string() + " is damaged");
      }
      if (std::fwrite(to.data(), 1, output.pos, out.get()) != output.pos) throw std::runtime_error("no room");
      full = output.pos == output.size;
    }
  }
  std::rewind(out.get());
  return out;
}

/// The beginnings (up to 8 KiB) of up to 64 buffers of each *.zst below `folder`; none if there is no folder.
inline std::vector<std::vector<std::uint8_t>> recorded_buffers(const std::filesystem::path& folder) {
  constexpr std::size_t kMaxBytes = 8192, kMaxBuffers = 64;
  std::vector<std::vector<std::uint8_t>> out;
  if (!std::filesystem::is_directory(folder)) return out;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder)) {
    if (entry.path().filename() != "recording.zst") continue;
    RecordingReader reader(decompressed(entry.path()), entry.path());
    RecordingReader::Chunk chunk;
    for (std::size_t taken = 0; taken < kMaxBuffers && reader.next(chunk);) {
      if (chunk.kind != ChunkKind::activity) continue;
      chunk.bytes.resize(std::min(chunk.bytes.size() / 8 * 8, kMaxBytes));
      out.push_back(chunk.bytes);
      ++taken;
    }
  }
  return out;
}

}  // namespace rangefinder::property
