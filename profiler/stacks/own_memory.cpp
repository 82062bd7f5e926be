// SPDX-License-Identifier: Apache-2.0
#include "profiler/stacks/own_memory.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>

#include "profiler/guest/above_standard_streams.h"

namespace rangefinder {

OwnMemory::OwnMemory(bool use_file) noexcept : process_(getpid()) {
  int probe = 1, copy = 0;
  if (!use_file && read(reinterpret_cast<std::uintptr_t>(&probe), copy) && copy == probe) return;
  file_ = OwnedFile::of(above_standard_streams(open("/proc/self/mem", O_RDONLY | O_CLOEXEC)));
}

OwnMemory::~OwnMemory() {
  file_.close();
}

bool OwnMemory::works() const noexcept {
  int probe = 1, copy = 0;
  return read(reinterpret_cast<std::uintptr_t>(&probe), copy) && copy == probe;
}

bool OwnMemory::read_file(std::uintptr_t from, void* to, std::size_t bytes) const noexcept {
  return file_.is_ours() &&
         pread(file_.file, to, bytes, static_cast<off_t>(from)) == static_cast<ssize_t>(bytes);
}

bool OwnMemory::read(std::uintptr_t from, void* to, std::size_t bytes) const noexcept {
  const Piece piece{from, to, bytes};
  return read(std::span(&piece, 1)) == 1;
}

std::size_t OwnMemory::read(std::span<const Piece> pieces) const noexcept {
  pieces = pieces.first(std::min(pieces.size(), kMaxPieces));
  if (file_.file != -1) {
    const auto failed = std::find_if_not(pieces.begin(), pieces.end(), [this](const Piece& piece) {
      return read_file(piece.from, piece.to, piece.bytes);
    });
    return static_cast<std::size_t>(failed - pieces.begin());
  }
  std::array<iovec, kMaxPieces> to{}, from{};
  for (std::size_t i = 0; i < pieces.size(); ++i) {
    to[i] = {pieces[i].to, pieces[i].bytes};
    from[i] = {reinterpret_cast<void*>(pieces[i].from), pieces[i].bytes};
  }
  const ssize_t bytes = process_vm_readv(process_, to.data(), pieces.size(), from.data(), pieces.size(), 0);
  if (bytes < 0) return 0;
  // It ends at the first piece that it cannot read.
  auto left = static_cast<std::size_t>(bytes);
  std::size_t whole = 0;
  for (; whole < pieces.size() && pieces[whole].bytes <= left; ++whole) left -= pieces[whole].bytes;
  return whole;
}

}  // namespace rangefinder
