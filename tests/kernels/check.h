// SPDX-License-Identifier: Apache-2.0
//
// Shared parts of the launchers' checks: a file per op registers itself, makes cases, and reports each.
//
//   inputs rounded to the type -+-> launcher on poisoned, guarded GPU memory --+-> compare -> Report
//                               +-> reference on host memory in fp32 ----------+
//
// A case fails on: an error of the launcher, an element beyond the tolerance, a poisoned element that remains
// in the output, a changed byte outside it. No sleeps; one synchronisation per case.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <random>
#include <string>
#include <vector>

#include "kernels/conversion.h"

namespace rangefinder::kernel_checks {

using kernels::ElementType;

/// Every `of`-th case from the `number`-th on: the part of one of several processes (a sanitizer is slow).
struct Share {
  int number = 0, of = 1;
};

/// The cases of one op.
class Report {
 public:
  explicit Report(Share share = {}) : share_(share) {}
  /// Whether the next case belongs to this share. Call it once for each case, in order.
  bool takes_next() { return next_++ % share_.of == share_.number; }
  bool takes_all() const { return share_.of == 1; }
  void pass() { ++passed_; }
  void fail(const std::string& case_name, const std::string& reason) {
    failures_.push_back(case_name + ": " + reason);
  }
  int passed() const { return passed_; }
  const std::vector<std::string>& failures() const { return failures_; }

 private:
  int passed_ = 0;
  std::vector<std::string> failures_;
  Share share_;
  int next_ = 0;
};

struct Check {
  const char* op;
  void (*run)(Report&);
};

/// All linked checks.
std::vector<Check>& registered_checks();

/// At namespace scope of each <op>_check.cpp:  const Registered registered{"gather", check_gather};
struct Registered {
  Registered(const char* op, void (*run)(Report&)) { registered_checks().push_back({op, run}); }
};

/// GPU memory between two guards, all of it filled with 0xFF: NaN in every floating type.
class GuardedBuffer {
 public:
  explicit GuardedBuffer(std::size_t bytes);
  ~GuardedBuffer();
  GuardedBuffer(const GuardedBuffer&) = delete;
  GuardedBuffer& operator=(const GuardedBuffer&) = delete;

  void* data() const;
  std::size_t bytes() const { return bytes_; }
  void upload(const void* host, std::size_t bytes);
  void upload_floats(ElementType element, const std::vector<float>& values);
  std::vector<float> floats(ElementType element, std::size_t count) const;
  std::vector<std::byte> content() const;
  bool guards_are_intact() const;

 private:
  std::byte* base_ = nullptr;
  std::size_t bytes_;
};

/// Seeded values in [-1, 1), rounded to `element`, so that launcher and reference read the same values.
std::vector<float> random_values(ElementType element, std::size_t count, std::uint64_t seed);

struct Tolerance {
  double absolute;
  double relative;  ///< of the expected value
};

/// Every element |actual - expected| <= absolute + relative * |expected|; NaN only where NaN is expected.
/// Returns an empty string, or the worst element: index, both values, the bound.
std::string compare(const std::vector<float>& actual, const std::vector<float>& expected,
                    Tolerance tolerance);

/// Runs `launch` twice on its own stream: directly, and captured in cudaStreamCaptureModeGlobal and replayed.
/// Returns an empty string, or the failed call. `between` runs once the first result is ready (it may save
/// the result and poison the output again).
std::string launch_and_capture(const std::function<cudaError_t(cudaStream_t)>& launch,
                               const std::function<void()>& between);

inline constexpr ElementType kAllElements[] = {ElementType::fp32, ElementType::tf32, ElementType::fp16,
                                               ElementType::bf16};

}  // namespace rangefinder::kernel_checks
