// SPDX-License-Identifier: Apache-2.0
//
// An MPI call as an NVTX range of the domain MPI, with the bytes that it sends or receives as an extended
// payload.
//
//   MPI_Send(…) of the program ─▶ our MPI_Send: push "MPI_Send" {bytes, peer} ─▶ PMPI_Send ─▶ pop
//
// Preloaded into every process of a job, launchers and shells too, so it depends only on libc. MPI's
// functions are weak, and no MPI data is used (MPI_COMM_WORLD is an address in libmpi). Without a profiler
// NVTX does nothing. Any thread.
#pragma once

#include <cstddef>
#include <cstdint>

#define OMPI_SKIP_MPICXX 1
#define MPICH_SKIP_MPICXX 1
#include <mpi.h>

namespace rangefinder::mpi {

/// Neither a peer nor a root.
inline constexpr int kNoRank = -1;

/// Bytes of `count` elements; 0 if the size of the type is unknown.
[[nodiscard]] std::size_t bytes_of(int count, MPI_Datatype type) noexcept;
/// The same, summed over the ranks of `communicator`, with a count for each; nullptr: 0.
[[nodiscard]] std::size_t bytes_of(const int* counts, MPI_Datatype type, MPI_Comm communicator) noexcept;
[[nodiscard]] int ranks_of(MPI_Comm communicator) noexcept;

/// Layout as registered by the payload schemas.
struct MessagePayload {
  std::size_t bytes;
  int rank;
};

class MpiRange {
 public:
  enum class Other : std::uint8_t { none, peer, root };

  /// A call without bytes.
  explicit MpiRange(const char* name) noexcept;
  /// `other`: the role of `rank`.
  MpiRange(const char* name, std::size_t bytes, Other other = Other::none, int rank = kNoRank) noexcept;
  ~MpiRange();
  MpiRange(const MpiRange&) = delete;
  MpiRange& operator=(const MpiRange&) = delete;

  /// Sets bytes and peer that are known only after the call: a receive may get less than its buffer holds.
  /// Only for a range constructed without bytes.
  void got(std::size_t bytes, int peer) noexcept;

 private:
  MessagePayload payload_{};
  bool has_got_ = false;
};

}  // namespace rangefinder::mpi
