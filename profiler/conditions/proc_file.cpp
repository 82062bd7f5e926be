// SPDX-License-Identifier: Apache-2.0
#include "profiler/conditions/proc_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cerrno>

#include "profiler/guest/above_standard_streams.h"

namespace rangefinder {

ProcFile::ProcFile(const std::string& path) noexcept
    : file_(OwnedFile::of(above_standard_streams(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOCTTY)))) {}

std::string_view ProcFile::read(std::span<char> buffer, std::uint64_t offset) const noexcept {
  if (!file_.is_ours()) return {};
  ssize_t bytes = 0;
  do {
    bytes = pread(file_.file, buffer.data(), buffer.size(), static_cast<off_t>(offset));
  } while (bytes < 0 && errno == EINTR);
  return bytes <= 0 ? std::string_view{} : std::string_view(buffer.data(), static_cast<std::size_t>(bytes));
}

std::string ProcFile::read_all(std::size_t max_bytes) const {
  std::array<char, 4096> buffer;
  std::string text;
  while (text.size() < max_bytes) {
    const std::string_view part = read(buffer, text.size());
    if (part.empty()) break;
    text += part;
  }
  return text;
}

}  // namespace rangefinder
