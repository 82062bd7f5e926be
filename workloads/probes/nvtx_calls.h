// SPDX-License-Identifier: Apache-2.0
//
// The NVTX calls of nvtx_shapes, form by form, and what each must leave in a trace.
//
//   push_forms(told) ─ NVTX calls ─▶ the tool
//                   └─ told.paths, told.push_pop, … ─▶ JSON
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace rangefinder::probe {

/// A path under which kernels were launched: range names, outermost first, raw bytes.
struct ToldPath {
  std::vector<std::string> names;
  std::uint64_t kernels = 0;
};

/// A value that a range or mark carried. `type` as in the trace, `value` in decimal.
struct ToldPayload {
  std::string name, type, value;
};

struct ToldCategory {
  std::string domain;  ///< empty: the default one
  std::uint32_t id = 0;
  std::string name;
};

/// What was told to NVTX. Pushes beyond the 128th level are in `push_pop` and in `too_deep`.
struct Told {
  std::function<void()> launch;  ///< one kernel, or nothing without CUDA
  std::uint64_t push_pop = 0, start_end = 0, end_elsewhere = 0, marks = 0, schemas = 0;
  std::uint64_t pop_without_push = 0, end_unknown = 0, unclosed = 0, too_deep = 0, names_truncated = 0;
  std::vector<ToldPath> paths;
  std::vector<ToldPayload> payloads;
  std::vector<ToldCategory> categories;
  std::vector<std::string> domains, threads, names;  ///< `names`: of marks and start/end ranges
  std::string schema_payload;                        ///< bytes of the extended payload
  std::uint32_t color = 0;
  bool domain_enabled = false;

  /// Launches a kernel that must be found under `path`.
  void kernel_under(std::vector<std::string> path) {
    launch();
    paths.push_back({std::move(path), 1});
  }
};

void push_forms(Told& told);
void domains_out_of_order(Told& told);
void start_end_forms(Told& told);
void marks_and_payloads(Told& told);
void registered_strings(Told& told);
void thread_names(Told& told);
void payload_extension(Told& told);
void deep_stack(Told& told);
void mistakes(Told& told);
void odd_names(Told& told);
/// Leaves a push and a start open: call it last.
void never_closed(Told& told);

}  // namespace rangefinder::probe
