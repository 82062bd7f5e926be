// SPDX-License-Identifier: Apache-2.0
//
// The NVTX calls of nvtx_shapes, form by form, and what each must produce in a trace.
//
//   push_forms(expected) ─ NVTX calls ─▶ the tool
//                        └─ expected.paths, expected.push_pop, … ─▶ JSON
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace rangefinder::probe {

/// A path under which kernels were launched: range names, outermost first, raw bytes.
struct ExpectedPath {
  std::vector<std::string> names;
  std::uint64_t kernels = 0;
};

/// A value that a range or mark carried. `type` as in the trace, `value` in decimal.
struct ExpectedPayload {
  std::string name, type, value;
};

struct ExpectedCategory {
  std::string domain;  ///< empty: the default domain
  std::uint32_t id = 0;
  std::string name;
};

/// What the trace must contain. Pushes beyond the 128th level are in `push_pop` and in `too_deep`.
struct ExpectedTrace {
  std::function<void()> launch;  ///< one kernel, or nothing without CUDA
  std::uint64_t push_pop = 0, start_end = 0, end_elsewhere = 0, marks = 0, schemas = 0;
  std::uint64_t pop_without_push = 0, end_unknown = 0, unclosed = 0, too_deep = 0, names_truncated = 0;
  std::vector<ExpectedPath> paths;
  std::vector<ExpectedPayload> payloads;
  std::vector<ExpectedCategory> categories;
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

void push_forms(ExpectedTrace& expected);
void domains_out_of_order(ExpectedTrace& expected);
void start_end_forms(ExpectedTrace& expected);
void marks_and_payloads(ExpectedTrace& expected);
void registered_strings(ExpectedTrace& expected);
void thread_names(ExpectedTrace& expected);
void payload_extension(ExpectedTrace& expected);
void deep_stack(ExpectedTrace& expected);
void mistakes(ExpectedTrace& expected);
void odd_names(ExpectedTrace& expected);
/// Must be the last call: leaves a push and a start open.
void never_closed(ExpectedTrace& expected);

}  // namespace rangefinder::probe
