// SPDX-License-Identifier: Apache-2.0
//
// The PMPI functions behind MPI's. They are weak, and null in a process without MPI, so that it can still
// start with this library.
#pragma once

#define OMPI_SKIP_MPICXX 1
#define MPICH_SKIP_MPICXX 1
#include <mpi.h>

#define RANGEFINDER_MPI_WEAK(function) \
  extern "C" decltype(PMPI_##function) PMPI_##function __attribute__((weak))

RANGEFINDER_MPI_WEAK(Init);
RANGEFINDER_MPI_WEAK(Init_thread);
RANGEFINDER_MPI_WEAK(Finalize);
RANGEFINDER_MPI_WEAK(Barrier);
RANGEFINDER_MPI_WEAK(Ibarrier);
RANGEFINDER_MPI_WEAK(Comm_size);
RANGEFINDER_MPI_WEAK(Comm_rank);
RANGEFINDER_MPI_WEAK(Type_size);
RANGEFINDER_MPI_WEAK(Get_count);
RANGEFINDER_MPI_WEAK(Send);
RANGEFINDER_MPI_WEAK(Bsend);
RANGEFINDER_MPI_WEAK(Ssend);
RANGEFINDER_MPI_WEAK(Rsend);
RANGEFINDER_MPI_WEAK(Recv);
RANGEFINDER_MPI_WEAK(Isend);
RANGEFINDER_MPI_WEAK(Ibsend);
RANGEFINDER_MPI_WEAK(Issend);
RANGEFINDER_MPI_WEAK(Irsend);
RANGEFINDER_MPI_WEAK(Irecv);
RANGEFINDER_MPI_WEAK(Sendrecv);
RANGEFINDER_MPI_WEAK(Probe);
RANGEFINDER_MPI_WEAK(Wait);
RANGEFINDER_MPI_WEAK(Waitall);
RANGEFINDER_MPI_WEAK(Waitany);
RANGEFINDER_MPI_WEAK(Waitsome);
RANGEFINDER_MPI_WEAK(Bcast);
RANGEFINDER_MPI_WEAK(Ibcast);
RANGEFINDER_MPI_WEAK(Reduce);
RANGEFINDER_MPI_WEAK(Ireduce);
RANGEFINDER_MPI_WEAK(Allreduce);
RANGEFINDER_MPI_WEAK(Iallreduce);
RANGEFINDER_MPI_WEAK(Reduce_scatter);
RANGEFINDER_MPI_WEAK(Reduce_scatter_block);
RANGEFINDER_MPI_WEAK(Scan);
RANGEFINDER_MPI_WEAK(Exscan);
RANGEFINDER_MPI_WEAK(Gather);
RANGEFINDER_MPI_WEAK(Gatherv);
RANGEFINDER_MPI_WEAK(Igather);
RANGEFINDER_MPI_WEAK(Allgather);
RANGEFINDER_MPI_WEAK(Allgatherv);
RANGEFINDER_MPI_WEAK(Iallgather);
RANGEFINDER_MPI_WEAK(Scatter);
RANGEFINDER_MPI_WEAK(Scatterv);
RANGEFINDER_MPI_WEAK(Iscatter);
RANGEFINDER_MPI_WEAK(Alltoall);
RANGEFINDER_MPI_WEAK(Alltoallv);
RANGEFINDER_MPI_WEAK(Ialltoall);

/// Defines one MPI function. The arguments after `arguments` go to the constructor of MpiRange, after the
/// name.
#define RANGEFINDER_MPI_CALL(function, parameters, arguments, ...)                      \
  extern "C" __attribute__((visibility("default"))) int MPI_##function parameters {     \
    const rangefinder::mpi::MpiRange call("MPI_" #function __VA_OPT__(, ) __VA_ARGS__); \
    return PMPI_##function arguments;                                                   \
  }
