// SPDX-License-Identifier: Apache-2.0
//
// Checks one case of a launcher from poisoned outputs to the report: launched, captured and replayed, equal
// bits both times, guards intact, expected values.
//
// Where a launcher must not write (channels between the slices of a view) the expected value is NaN, which is
// how the poison reads.
#pragma once

#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "tests/kernels/check.h"

namespace rangefinder::kernel_checks {

/// An operand on the host, for the reference, and on the GPU.
struct Operand {
  Operand(ElementType element, std::vector<float> values)
      : host(std::move(values)), device(host.size() * kernels::element_bytes(element)) {
    device.upload_floats(element, host);
  }
  Operand(ElementType element, std::size_t count, std::uint64_t seed)
      : Operand(element, random_values(element, count, seed)) {}
  std::vector<float> host;
  GuardedBuffer device;
};

/// An output on the host, NaN until the reference writes it, and a poisoned one on the GPU.
struct Result {
  Result(ElementType type, std::size_t count)
      : element(type),
        expected(count, std::numeric_limits<float>::quiet_NaN()),
        device(count * kernels::element_bytes(type)) {}
  ElementType element;
  std::vector<float> expected;
  GuardedBuffer device;
};

/// The relative error of one rounding to the type, with a margin for ties.
inline double rounding_of(ElementType element) {
  switch (element) {
    case ElementType::fp16:
      return 0x1.04p-11;
    case ElementType::bf16:
      return 0x1.04p-8;
    default:
      return 0;
  }
}

inline void poison(GuardedBuffer& buffer) {
  const std::vector<unsigned char> poisoned(buffer.bytes(), 0xFF);
  buffer.upload(poisoned.data(), poisoned.size());
}

/// `difference`: returns the error in the values, or an empty string.
inline void verify(Report& report, const std::string& name,
                   const std::function<cudaError_t(cudaStream_t)>& launch,
                   const std::vector<GuardedBuffer*>& outputs,
                   const std::function<std::string()>& difference) {
  if (!report.takes_next()) return;
  std::vector<std::vector<std::byte>> first;
  std::string wrong;
  const std::string failed = launch_and_capture(launch, [&] {
    wrong = difference();
    for (GuardedBuffer* const output : outputs) {
      first.push_back(output->content());
      poison(*output);
    }
  });
  if (!failed.empty()) return report.fail(name, failed);
  if (!wrong.empty()) return report.fail(name, wrong);
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    if (outputs[i]->content() != first[i]) return report.fail(name, "the replay gives different bits");
    if (!outputs[i]->guards_are_intact()) return report.fail(name, "bytes outside an output were written");
  }
  report.pass();
}

inline void verify(Report& report, const std::string& name,
                   const std::function<cudaError_t(cudaStream_t)>& launch, Result& result,
                   Tolerance tolerance) {
  verify(report, name, launch, {&result.device}, [&] {
    return compare(result.device.floats(result.element, result.expected.size()), result.expected, tolerance);
  });
}

/// The launcher must return cudaErrorInvalidValue, and leave no CUDA error behind.
inline void verify_refused(Report& report, const std::string& name, cudaError_t status) {
  if (status != cudaErrorInvalidValue) return report.fail(name, "was not refused");
  if (cudaGetLastError() != cudaSuccess) return report.fail(name, "a refusal left an error behind");
  report.pass();
}

}  // namespace rangefinder::kernel_checks
