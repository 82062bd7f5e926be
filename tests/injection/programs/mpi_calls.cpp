// SPDX-License-Identifier: Apache-2.0
//
// mpi_calls: two or more ranks send around a ring, reduce, gather and scatter known sizes, with kernel
// launches in between. Exits with status 1 if an MPI result is wrong.
#define OMPI_SKIP_MPICXX 1
#define MPICH_SKIP_MPICXX 1
#include <mpi.h>

#include <vector>

#include "tests/injection/programs/gpu.h"

namespace {

constexpr int kElements = 1024;

struct Ring {
  int rank = 0, ranks = 0;
  [[nodiscard]] int next() const { return (rank + 1) % ranks; }
  [[nodiscard]] int before() const { return (rank + ranks - 1) % ranks; }
};

bool around(const Ring& ring) {
  std::vector<double> sent(kElements, ring.rank), got(2 * kElements, -1);
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Isend(sent.data(), kElements, MPI_DOUBLE, ring.next(), 5, MPI_COMM_WORLD, &request);
  // A larger buffer than the message needs.
  MPI_Recv(got.data(), 2 * kElements, MPI_DOUBLE, MPI_ANY_SOURCE, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  bool good = got.front() == ring.before() && got[kElements] == -1;
  MPI_Sendrecv(sent.data(), kElements, MPI_DOUBLE, ring.next(), 6, got.data(), kElements, MPI_DOUBLE,
               ring.before(), 6, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  good = good && got[kElements - 1] == ring.before();
  if (ring.rank == 0) MPI_Send(sent.data(), 10, MPI_DOUBLE, 1, 7, MPI_COMM_WORLD);
  MPI_Status status{};
  int count = 0;
  if (ring.rank != 1) return good;
  MPI_Recv(got.data(), kElements, MPI_DOUBLE, 0, 7, MPI_COMM_WORLD, &status);
  MPI_Get_count(&status, MPI_DOUBLE, &count);
  return good && count == 10 && status.MPI_TAG == 7;
}

bool together(const Ring& ring) {
  std::vector<float> one(kElements, 1.0f), sum(kElements, 0.0f);
  MPI_Allreduce(one.data(), sum.data(), kElements, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
  bool good = sum.back() == static_cast<float>(ring.ranks);
  MPI_Allreduce(MPI_IN_PLACE, one.data(), kElements, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
  good = good && one.front() == static_cast<float>(ring.ranks);
  int word = ring.rank == 0 ? 42 : 0;
  MPI_Bcast(&word, 1, MPI_INT, 0, MPI_COMM_WORLD);
  good = good && word == 42;
  std::vector<int> all(static_cast<std::size_t>(ring.ranks), -1);
  MPI_Allgather(&ring.rank, 1, MPI_INT, all.data(), 1, MPI_INT, MPI_COMM_WORLD);
  good = good && all.back() == ring.ranks - 1;
  MPI_Alltoall(MPI_IN_PLACE, 0, MPI_INT, all.data(), 1, MPI_INT, MPI_COMM_WORLD);
  MPI_Barrier(MPI_COMM_WORLD);
  return good && all.front() == ring.rank;
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  Ring ring;
  MPI_Comm_rank(MPI_COMM_WORLD, &ring.rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ring.ranks);
  const Gpu gpu;
  gpu.work(2);
  bool good = false;
  {
    const Range range("exchange");
    good = around(ring);
  }
  good = together(ring) && good;
  gpu.work(1);
  MPI_Finalize();
  std::printf("rank %d %s\n", ring.rank, good ? "right" : "wrong");
  return good ? 0 : 1;
}
