// SPDX-License-Identifier: Apache-2.0
//
// CUPTI's callbacks about CUDA graphs: keep GraphTable up to date, in every window and between windows.
//
//   resource callbacks: graphs, nodes, executables created, cloned, destroyed ──┐
//   driver calls: cuGraphExecUpdate, …ChildGraphNodeSetParams, …SetParams ──────┴▶ GraphTable
//
// What CUPTI reports, in which order: docs/internals/graph-callbacks.md. Same rules as LaunchCallbacks.
#pragma once

#include <cupti.h>

#include <atomic>

#include "profiler/cupti/functions.h"
#include "profiler/events/recorder.h"

namespace rangefinder {

struct GraphCall;

class GraphCallbacks {
 public:
  GraphCallbacks(const CuptiFunctions& cupti, Recorder& recorder) noexcept
      : cupti_(cupti), recorder_(recorder) {}

  void on_resource(CUpti_CallbackId cbid, const CUpti_GraphData& data) noexcept;
  /// A driver call of kGraphCalls (untraced_calls.h) has returned without an error.
  void on_call(CUpti_CallbackId cbid, const void* params) noexcept;
  /// Whether launches from the device have records. Otherwise a graph that allows them is a loss.
  void record_device_launches(bool recorded) noexcept { device_launches_recorded_.store(recorded); }
  /// Id of what a launch of `executable` launches; 0: unknown.
  [[nodiscard]] std::uint64_t launched(CUgraphExec executable) noexcept;

 private:
  [[nodiscard]] std::uint32_t id_of(CUgraph graph) const noexcept;
  [[nodiscard]] std::uint32_t id_of(CUgraphExec executable) const noexcept;
  [[nodiscard]] std::uint64_t id_of(CUgraphNode node) const noexcept;
  [[nodiscard]] std::uint32_t cached_id_of(ThreadState& state, CUgraph graph) const noexcept;
  void node_created(ThreadState& state, const CUpti_GraphData& data) noexcept;
  void called(const GraphCall& call) noexcept;
  void graph_changed(ThreadState& state, CUpti_CallbackId cbid, const CUpti_GraphData& data) noexcept;

  const CuptiFunctions& cupti_;
  Recorder& recorder_;
  std::atomic<bool> device_launches_recorded_{false};
};

}  // namespace rangefinder
