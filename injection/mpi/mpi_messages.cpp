// SPDX-License-Identifier: Apache-2.0
//
// MPI calls between two ranks, and those that initialise, finalise and wait. Bytes: of a send the sent bytes,
// of a receive the received bytes (of a non-blocking one: the size of its buffer). Waits have no bytes.
#include "injection/mpi/mpi_functions.h"
#include "injection/mpi/mpi_range.h"

using rangefinder::mpi::bytes_of;
using Other = rangefinder::mpi::MpiRange::Other;

RANGEFINDER_MPI_CALL(Init, (int* argc, char*** argv), (argc, argv))
RANGEFINDER_MPI_CALL(Init_thread, (int* argc, char*** argv, int required, int* provided),
                     (argc, argv, required, provided))
RANGEFINDER_MPI_CALL(Finalize, (), ())

RANGEFINDER_MPI_CALL(Send, (const void* data, int count, MPI_Datatype type, int peer, int tag, MPI_Comm comm),
                     (data, count, type, peer, tag, comm), bytes_of(count, type), Other::peer, peer)
RANGEFINDER_MPI_CALL(Bsend,
                     (const void* data, int count, MPI_Datatype type, int peer, int tag, MPI_Comm comm),
                     (data, count, type, peer, tag, comm), bytes_of(count, type), Other::peer, peer)
RANGEFINDER_MPI_CALL(Ssend,
                     (const void* data, int count, MPI_Datatype type, int peer, int tag, MPI_Comm comm),
                     (data, count, type, peer, tag, comm), bytes_of(count, type), Other::peer, peer)
RANGEFINDER_MPI_CALL(Rsend,
                     (const void* data, int count, MPI_Datatype type, int peer, int tag, MPI_Comm comm),
                     (data, count, type, peer, tag, comm), bytes_of(count, type), Other::peer, peer)
RANGEFINDER_MPI_CALL(Isend,
                     (const void* data, int count, MPI_Datatype type, int peer, int tag, MPI_Comm comm,
                      MPI_Request* request),
                     (data, count, type, peer, tag, comm, request), bytes_of(count, type), Other::peer, peer)
RANGEFINDER_MPI_CALL(Ibsend,
                     (const void* data, int count, MPI_Datatype type, int peer, int tag, MPI_Comm comm,
                      MPI_Request* request),
                     (data, count, type, peer, tag, comm, request), bytes_of(count, type), Other::peer, peer)
RANGEFINDER_MPI_CALL(Issend,
                     (const void* data, int count, MPI_Datatype type, int peer, int tag, MPI_Comm comm,
                      MPI_Request* request),
                     (data, count, type, peer, tag, comm, request), bytes_of(count, type), Other::peer, peer)
RANGEFINDER_MPI_CALL(Irsend,
                     (const void* data, int count, MPI_Datatype type, int peer, int tag, MPI_Comm comm,
                      MPI_Request* request),
                     (data, count, type, peer, tag, comm, request), bytes_of(count, type), Other::peer, peer)
RANGEFINDER_MPI_CALL(Irecv,
                     (void* data, int count, MPI_Datatype type, int peer, int tag, MPI_Comm comm,
                      MPI_Request* request),
                     (data, count, type, peer, tag, comm, request), bytes_of(count, type), Other::peer, peer)
RANGEFINDER_MPI_CALL(Sendrecv,
                     (const void* data, int count, MPI_Datatype type, int peer, int tag, void* into,
                      int into_count, MPI_Datatype into_type, int source, int into_tag, MPI_Comm comm,
                      MPI_Status* status),
                     (data, count, type, peer, tag, into, into_count, into_type, source, into_tag, comm,
                      status),
                     bytes_of(count, type), Other::peer, peer)

// The status has the source and the size after the call. If the program ignores the status, we use our own.
extern "C" __attribute__((visibility("default"))) int MPI_Recv(void* data, int count, MPI_Datatype type,
                                                               int peer, int tag, MPI_Comm comm,
                                                               MPI_Status* status) {
  rangefinder::mpi::MpiRange call("MPI_Recv");
  MPI_Status own;
  MPI_Status* const seen = status == MPI_STATUS_IGNORE ? &own : status;
  const int result = PMPI_Recv(data, count, type, peer, tag, comm, seen);
  int elements = 0;
  if (result == MPI_SUCCESS && PMPI_Get_count(seen, type, &elements) == MPI_SUCCESS && elements >= 0)
    call.got(bytes_of(elements, type), seen->MPI_SOURCE);
  return result;
}

RANGEFINDER_MPI_CALL(Probe, (int peer, int tag, MPI_Comm comm, MPI_Status* status), (peer, tag, comm, status))
RANGEFINDER_MPI_CALL(Wait, (MPI_Request * request, MPI_Status* status), (request, status))
RANGEFINDER_MPI_CALL(Waitall, (int count, MPI_Request requests[], MPI_Status statuses[]),
                     (count, requests, statuses))
RANGEFINDER_MPI_CALL(Waitany, (int count, MPI_Request requests[], int* index, MPI_Status* status),
                     (count, requests, index, status))
RANGEFINDER_MPI_CALL(Waitsome,
                     (int count, MPI_Request requests[], int* done, int indices[], MPI_Status statuses[]),
                     (count, requests, done, indices, statuses))
