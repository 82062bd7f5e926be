// SPDX-License-Identifier: Apache-2.0
//
// A control target without CUDA, for tests of control requests.
#pragma once

#include <string>

#include "profiler/control/control_target.h"

namespace rangefinder {

/// Opens and closes windows at once, unless opens_at_once or completes_at_once is false.
class FakeTarget final : public ControlTarget {
 public:
  std::string begin_window(const WindowRequest& request) noexcept override {
    if (now.state != SessionState::idle)
      return now.state == SessionState::closing ? kNotCompleteYet : "open already";
    last = request;
    now.state = SessionState::recording;
    ++now.window.number;
    now.window.opened = opens_at_once;
    now.window.folder = "/traces/" + std::to_string(now.window.number);
    return {};
  }
  std::string close_window(const char* reason) noexcept override {
    if (now.state != SessionState::recording) return "no window is open";
    closed_by = reason;
    now.state = completes_at_once ? SessionState::idle : SessionState::closing;
    return {};
  }
  bool finish_window() override { return now.state == SessionState::closing; }
  std::string give_up_cupti(const std::string& cause) override {
    if (now.state != SessionState::idle && cause.empty()) return "a window is open";
    gap_cause = cause;
    now.yielded = yields_at_once;
    return {};
  }
  std::string reclaim_cupti() override {
    now.yielded = !yields_at_once;
    return {};
  }
  SessionStatus status() override { return now; }
  void set_counters(CounterMode counters) override { now.counters = counters; }
  std::string set_metrics(const std::string& metrics) override {
    now.metrics = metrics;
    return {};
  }
  std::uint64_t request_write() override { return now.state == SessionState::recording ? ++requested : 0; }
  std::string summary() override { return text; }

  SessionStatus now;
  WindowRequest last;
  std::string closed_by, gap_cause, text = R"({"duration_ns":5,"modules":[]})";
  std::uint64_t requested = 0;
  bool opens_at_once = true, completes_at_once = true, yields_at_once = true;
};

}  // namespace rangefinder
