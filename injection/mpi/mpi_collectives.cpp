// SPDX-License-Identifier: Apache-2.0
//
// MPI's collective calls. Bytes: what this rank sends, or receives if only the root sends (Scatter). Counted
// as NCCL counts them: of an Allgather the rank's own part, of a Reduce_scatter the part that it keeps, of an
// Alltoall its parts for all ranks.
#include "injection/mpi/mpi_functions.h"
#include "injection/mpi/mpi_range.h"

using rangefinder::mpi::bytes_of;
using rangefinder::mpi::ranks_of;
using Other = rangefinder::mpi::MpiRange::Other;

namespace {

/// With MPI_IN_PLACE the receive count applies.
std::size_t sent_or_kept(const void* data, int count, MPI_Datatype type, int kept_count,
                         MPI_Datatype kept_type) noexcept {
  return data == MPI_IN_PLACE ? bytes_of(kept_count, kept_type) : bytes_of(count, type);
}

/// Bytes of this rank, from counts by rank.
std::size_t own_part(const int* counts, MPI_Datatype type, MPI_Comm comm) noexcept {
  int rank = 0;
  if (counts == nullptr || PMPI_Comm_rank == nullptr || PMPI_Comm_rank(comm, &rank) != MPI_SUCCESS) return 0;
  return bytes_of(counts[rank], type);
}

}  // namespace

RANGEFINDER_MPI_CALL(Barrier, (MPI_Comm comm), (comm))
RANGEFINDER_MPI_CALL(Ibarrier, (MPI_Comm comm, MPI_Request* request), (comm, request))

RANGEFINDER_MPI_CALL(Bcast, (void* data, int count, MPI_Datatype type, int root, MPI_Comm comm),
                     (data, count, type, root, comm), bytes_of(count, type), Other::root, root)
RANGEFINDER_MPI_CALL(Ibcast,
                     (void* data, int count, MPI_Datatype type, int root, MPI_Comm comm,
                      MPI_Request* request),
                     (data, count, type, root, comm, request), bytes_of(count, type), Other::root, root)
RANGEFINDER_MPI_CALL(Reduce,
                     (const void* data, void* into, int count, MPI_Datatype type, MPI_Op op, int root,
                      MPI_Comm comm),
                     (data, into, count, type, op, root, comm), bytes_of(count, type), Other::root, root)
RANGEFINDER_MPI_CALL(Ireduce,
                     (const void* data, void* into, int count, MPI_Datatype type, MPI_Op op, int root,
                      MPI_Comm comm, MPI_Request* request),
                     (data, into, count, type, op, root, comm, request), bytes_of(count, type), Other::root,
                     root)
RANGEFINDER_MPI_CALL(Allreduce,
                     (const void* data, void* into, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm),
                     (data, into, count, type, op, comm), bytes_of(count, type))
RANGEFINDER_MPI_CALL(Scan,
                     (const void* data, void* into, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm),
                     (data, into, count, type, op, comm), bytes_of(count, type))
RANGEFINDER_MPI_CALL(Exscan,
                     (const void* data, void* into, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm),
                     (data, into, count, type, op, comm), bytes_of(count, type))
RANGEFINDER_MPI_CALL(Iallreduce,
                     (const void* data, void* into, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm,
                      MPI_Request* request),
                     (data, into, count, type, op, comm, request), bytes_of(count, type))
RANGEFINDER_MPI_CALL(Reduce_scatter_block,
                     (const void* data, void* into, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm),
                     (data, into, count, type, op, comm), bytes_of(count, type))
RANGEFINDER_MPI_CALL(Reduce_scatter,
                     (const void* data, void* into, const int counts[], MPI_Datatype type, MPI_Op op,
                      MPI_Comm comm),
                     (data, into, counts, type, op, comm), own_part(counts, type, comm))
RANGEFINDER_MPI_CALL(Gather,
                     (const void* data, int count, MPI_Datatype type, void* into, int into_count,
                      MPI_Datatype into_type, int root, MPI_Comm comm),
                     (data, count, type, into, into_count, into_type, root, comm),
                     sent_or_kept(data, count, type, into_count, into_type), Other::root, root)
RANGEFINDER_MPI_CALL(Igather,
                     (const void* data, int count, MPI_Datatype type, void* into, int into_count,
                      MPI_Datatype into_type, int root, MPI_Comm comm, MPI_Request* request),
                     (data, count, type, into, into_count, into_type, root, comm, request),
                     sent_or_kept(data, count, type, into_count, into_type), Other::root, root)
RANGEFINDER_MPI_CALL(Allgather,
                     (const void* data, int count, MPI_Datatype type, void* into, int into_count,
                      MPI_Datatype into_type, MPI_Comm comm),
                     (data, count, type, into, into_count, into_type, comm),
                     sent_or_kept(data, count, type, into_count, into_type))
RANGEFINDER_MPI_CALL(Iallgather,
                     (const void* data, int count, MPI_Datatype type, void* into, int into_count,
                      MPI_Datatype into_type, MPI_Comm comm, MPI_Request* request),
                     (data, count, type, into, into_count, into_type, comm, request),
                     sent_or_kept(data, count, type, into_count, into_type))
RANGEFINDER_MPI_CALL(Gatherv,
                     (const void* data, int count, MPI_Datatype type, void* into, const int into_counts[],
                      const int places[], MPI_Datatype into_type, int root, MPI_Comm comm),
                     (data, count, type, into, into_counts, places, into_type, root, comm),
                     data == MPI_IN_PLACE ? own_part(into_counts, into_type, comm) : bytes_of(count, type),
                     Other::root, root)
RANGEFINDER_MPI_CALL(Allgatherv,
                     (const void* data, int count, MPI_Datatype type, void* into, const int into_counts[],
                      const int places[], MPI_Datatype into_type, MPI_Comm comm),
                     (data, count, type, into, into_counts, places, into_type, comm),
                     data == MPI_IN_PLACE ? own_part(into_counts, into_type, comm) : bytes_of(count, type))
RANGEFINDER_MPI_CALL(Scatter,
                     (const void* data, int count, MPI_Datatype type, void* into, int into_count,
                      MPI_Datatype into_type, int root, MPI_Comm comm),
                     (data, count, type, into, into_count, into_type, root, comm),
                     sent_or_kept(into, into_count, into_type, count, type), Other::root, root)
RANGEFINDER_MPI_CALL(Iscatter,
                     (const void* data, int count, MPI_Datatype type, void* into, int into_count,
                      MPI_Datatype into_type, int root, MPI_Comm comm, MPI_Request* request),
                     (data, count, type, into, into_count, into_type, root, comm, request),
                     sent_or_kept(into, into_count, into_type, count, type), Other::root, root)
RANGEFINDER_MPI_CALL(Scatterv,
                     (const void* data, const int counts[], const int places[], MPI_Datatype type, void* into,
                      int into_count, MPI_Datatype into_type, int root, MPI_Comm comm),
                     (data, counts, places, type, into, into_count, into_type, root, comm),
                     into == MPI_IN_PLACE ? own_part(counts, type, comm) : bytes_of(into_count, into_type),
                     Other::root, root)
RANGEFINDER_MPI_CALL(Alltoall,
                     (const void* data, int count, MPI_Datatype type, void* into, int into_count,
                      MPI_Datatype into_type, MPI_Comm comm),
                     (data, count, type, into, into_count, into_type, comm),
                     static_cast<std::size_t>(ranks_of(comm)) *
                         sent_or_kept(data, count, type, into_count, into_type))
RANGEFINDER_MPI_CALL(Ialltoall,
                     (const void* data, int count, MPI_Datatype type, void* into, int into_count,
                      MPI_Datatype into_type, MPI_Comm comm, MPI_Request* request),
                     (data, count, type, into, into_count, into_type, comm, request),
                     static_cast<std::size_t>(ranks_of(comm)) *
                         sent_or_kept(data, count, type, into_count, into_type))
RANGEFINDER_MPI_CALL(Alltoallv,
                     (const void* data, const int counts[], const int places[], MPI_Datatype type, void* into,
                      const int into_counts[], const int into_places[], MPI_Datatype into_type,
                      MPI_Comm comm),
                     (data, counts, places, type, into, into_counts, into_places, into_type, comm),
                     data == MPI_IN_PLACE ? bytes_of(into_counts, into_type, comm)
                                          : bytes_of(counts, type, comm))
