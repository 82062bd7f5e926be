// SPDX-License-Identifier: Apache-2.0
//
// What the experiments share: libcupti as the library loads it, times and medians, lines of JSON, and CUPTI
// without our library. A call that fails prints one line and ends the program.
#pragma once

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "profiler/cupti/loader.h"
#include "tests/bench/cupti_alone.h"
#include "workloads/probes/cuda_check.h"

namespace rangefinder::bench {

using Clock = std::chrono::steady_clock;

inline double us_since(Clock::time_point begin) {
  return std::chrono::duration<double, std::micro>(Clock::now() - begin).count();
}

template <typename Step>
double us_of(const Step& step) {
  const auto begin = Clock::now();
  step();
  return us_since(begin);
}

template <typename Step>
double ms_of(const Step& step) {
  return us_of(step) / 1e3;
}

inline double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

[[noreturn]] inline void fail(const std::string& reason) {
  std::fprintf(stderr, "%s: %s\n", program_invocation_short_name, reason.c_str());
  std::exit(3);
}

/// A graph of what `launches` puts into `stream`.
template <typename Launches>
cudaGraphExec_t captured(cudaStream_t stream, const Launches& launches) {
  cudaGraph_t graph = nullptr;
  cudaGraphExec_t executable = nullptr;
  probe::check(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal), "begin capture");
  launches();
  probe::check(cudaStreamEndCapture(stream, &graph), "end capture");
  probe::check(cudaGraphInstantiate(&executable, graph, 0), "instantiate");
  return executable;
}

/// Prints one line on stdout; `line`: nlohmann::ordered_json.
template <typename Json>
void print_line(const Json& line) {
  std::printf("%s\n", line.dump().c_str());
  std::fflush(stdout);
}

/// Loads once per process.
inline const CuptiLibrary& cupti_or_exit() {
  struct Loaded {
    CuptiLibrary cupti;
    CuptiFailure failure;
    bool there = load_cupti("", cupti, failure);
  };
  static const Loaded loaded;
  if (!loaded.there) fail(loaded.failure.reason);
  return loaded.cupti;
}

/// Callbacks of one domain.
struct Calls {
  CUpti_CallbackDomain domain;
  std::vector<CUpti_CallbackId> ids;
};

/// A subscriber of CUPTI, and kinds of records, whose buffers `completed` frees.
class CuptiAlone {
 public:
  CuptiAlone(const CuptiFunctions& cupti, CUpti_CallbackFunc callback, void* user,
             CUpti_BuffersCallbackCompleteFunc completed = on_buffer_completed)
      : cupti_(cupti), callback_(callback), user_(user) {
    check_cupti(cupti_.ActivityRegisterCallbacks(on_buffer_requested, completed), "buffers");
  }

  void subscribe() { check_cupti(bench::subscribe(cupti_, subscriber_, callback_, user_), "subscribe"); }
  void unsubscribe() { check_cupti(cupti_.Unsubscribe(subscriber_), "unsubscribe"); }
  void callbacks(bool on, const Calls& calls) {
    for (const CUpti_CallbackId id : calls.ids)
      check_cupti(cupti_.EnableCallback(on ? 1 : 0, subscriber_, calls.domain, id), "callback");
  }
  void records(bool on, CUpti_ActivityKind kind) {
    check_cupti(on ? cupti_.ActivityEnable(kind) : cupti_.ActivityDisable(kind), "kind");
  }
  void kernels(bool on) { records(on, CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL); }
  void flush(std::uint32_t flag = 0) { check_cupti(cupti_.ActivityFlushAll(flag), "flush"); }

 private:
  const CuptiFunctions& cupti_;
  const CUpti_CallbackFunc callback_;
  void* const user_;
  CUpti_SubscriberHandle subscriber_ = nullptr;
};

}  // namespace rangefinder::bench
