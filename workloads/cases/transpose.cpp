// SPDX-License-Identifier: Apache-2.0
//
// The textbook transpose: scattered stores, then bank conflicts, then neither.
//
//   transpose / naive | shared | padded      `--iterations` calls each, the declared bytes on each call
//
// What a profiler must find: sectors a request and conflicts of each version. The first two versions give
// findings, the third none. The program compares its results element by element.
#include <array>
#include <cstdint>
#include <cstdio>
#include <string>
#include <vector>

#include "workloads/arguments.h"
#include "workloads/cases/transpose_kernels.h"
#include "workloads/probes/cuda_check.h"
#include "workloads/probes/expectation.h"
#include "workloads/probes/range.h"

namespace rangefinder::cases {
namespace {

using probe::check;

struct Version {
  const char* name;
  Transpose version;
  unsigned store_sectors_per_request, conflicts_per_request;
};
constexpr std::array<Version, 3> kVersions{{{"naive", Transpose::naive, 32, 0},
                                            {"shared", Transpose::shared, 4, 31},
                                            {"padded", Transpose::padded, 4, 0}}};
constexpr unsigned kWarp = 32;

struct Matrix {
  int rows, columns;
  [[nodiscard]] std::uint64_t words() const {
    return static_cast<std::uint64_t>(rows) * static_cast<std::uint64_t>(columns);
  }
  [[nodiscard]] std::uint64_t bytes() const { return words() * sizeof(float); }
};

/// A word that encodes its position, exact as a float.
float word_at(std::uint64_t place) {
  return static_cast<float>(place % 16'777'213);
}

std::uint64_t wrong_words(const Matrix& matrix, const float* transposed) {
  std::vector<float> host(matrix.words());
  check(cudaMemcpy(host.data(), transposed, matrix.bytes(), cudaMemcpyDeviceToHost), "result");
  const auto rows = static_cast<std::uint64_t>(matrix.rows),
             columns = static_cast<std::uint64_t>(matrix.columns);
  std::uint64_t wrong = 0;
  for (std::uint64_t c = 0; c < columns; ++c) {
    for (std::uint64_t r = 0; r < rows; ++r) wrong += host[c * rows + r] != word_at(r * columns + c) ? 1 : 0;
  }
  return wrong;
}

int run(const Matrix& matrix, unsigned iterations) {
  probe::require_gpu();
  probe::name_bytes_category();
  std::vector<float> host(matrix.words());
  for (std::uint64_t i = 0; i < host.size(); ++i) host[i] = word_at(i);
  float *source = nullptr, *target = nullptr;
  check(cudaMalloc(reinterpret_cast<void**>(&source), matrix.bytes()), "cudaMalloc");
  check(cudaMalloc(reinterpret_cast<void**>(&target), matrix.bytes()), "cudaMalloc");
  check(cudaMemcpy(source, host.data(), matrix.bytes(), cudaMemcpyHostToDevice), "source");

  const std::uint64_t requests = matrix.words() / kWarp;  // per call, equal for loads and stores
  probe::Array variants;
  std::uint64_t wrong = 0;
  const probe::Range outer("transpose");
  for (const Version& version : kVersions) {
    check(cudaMemset(target, 0xff, matrix.bytes()), "cudaMemset");
    for (unsigned i = 0; i < iterations; ++i) {
      const probe::Range inner(version.name, 2 * matrix.bytes());
      check(launch_transpose(version.version, target, source, matrix.rows, matrix.columns, nullptr),
            version.name);
    }
    wrong += wrong_words(matrix, target);
    variants.add(probe::Object()
                     .add("path", "transpose/" + std::string(version.name))
                     .add("calls", iterations)
                     .add("read_bytes", matrix.bytes())
                     .add("write_bytes", matrix.bytes())
                     .add("requests", requests)
                     .add("load_sectors_per_request", 4)
                     .add("store_sectors_per_request", version.store_sectors_per_request)
                     .add("bank_conflicts", requests * version.conflicts_per_request));
  }
  probe::print(probe::Object().add("case", "transpose").add("wrong_words", wrong).add("variants", variants));
  return wrong == 0 ? 0 : probe::kExitFailed;
}

}  // namespace
}  // namespace rangefinder::cases

int main(int argc, char** argv) {
  rangefinder::cases::Matrix matrix{8192, 4096};
  unsigned iterations = 20;
  rangefinder::Arguments arguments("Transposes a matrix in three versions");
  arguments.number("--rows", matrix.rows, "A multiple of 32", 32, 65'536);
  arguments.number("--columns", matrix.columns, "A multiple of 32", 32, 65'536);
  arguments.number("--iterations", iterations, "Calls of each version", 1u, 100'000u);
  if (const std::optional<int> exit_code = arguments.parse(argc, argv)) return *exit_code;
  if (matrix.rows % 32 != 0 || matrix.columns % 32 != 0) {
    std::fprintf(stderr, "case_transpose: --rows and --columns must be multiples of 32\n");
    return 2;
  }
  return rangefinder::cases::run(matrix, iterations);
}
