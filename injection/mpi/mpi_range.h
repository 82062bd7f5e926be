// SPDX-License-Identifier: Apache-2.0
//
// An MPI call as an NVTX range of the domain MPI, with what it sends or gets as an extended payload.
//
//   MPI_Send(…) of the program ─▶ our MPI_Send: push "MPI_Send" {bytes, peer} ─▶ PMPI_Send ─▶ pop
//
// Preloaded into every process of a job, launchers and shells too: it needs libc alone. MPI's functions are
// weak, and none of its data (MPI_COMM_WORLD is an address in libmpi) is touched. Without a profiler NVTX
// does nothing. Any thread.
#pragma once

#include <cstddef>
#include <cstdint>

#define OMPI_SKIP_MPICXX 1
#define MPICH_SKIP_MPICXX 1
#include <mpi.h>

namespace rangefinder::mpi {

/// No peer and no root.
inline constexpr int kNobody = -1;

/// `count` elements; 0 where the type is not known.
[[nodiscard]] std::size_t bytes_of(int count, MPI_Datatype type) noexcept;
/// The same for each rank of `communicator`, with counts of its own; nullptr: 0.
[[nodiscard]] std::size_t bytes_of(const int* counts, MPI_Datatype type, MPI_Comm communicator) noexcept;
[[nodiscard]] int ranks_of(MPI_Comm communicator) noexcept;

/// As the schemas describe it.
struct MessagePayload {
  std::size_t bytes;
  int rank;
};

class MpiRange {
 public:
  enum class Other : std::uint8_t { none, peer, root };

  /// A call that says nothing of bytes.
  explicit MpiRange(const char* name) noexcept;
  /// `other`: what `rank` is.
  MpiRange(const char* name, std::size_t bytes, Other other = Other::none, int rank = kNobody) noexcept;
  ~MpiRange();
  MpiRange(const MpiRange&) = delete;
  MpiRange& operator=(const MpiRange&) = delete;

  /// Where it is known afterwards only: a receive may get less than it has room for. Of a range without
  /// bytes.
  void got(std::size_t bytes, int peer) noexcept;

 private:
  MessagePayload payload_{};
  bool has_got_ = false;
};

}  // namespace rangefinder::mpi
