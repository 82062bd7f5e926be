// SPDX-License-Identifier: Apache-2.0
//
// A RecordSink that keeps all records and copies the names.
#pragma once

#include <cstdlib>
#include <string>
#include <vector>

#include "profiler/activity/activity_decoder.h"

namespace rangefinder::test {

struct Collected final : RecordSink {
  std::vector<KernelActivity> kernels;
  std::vector<std::string> names;  ///< of the kernels
  std::vector<MemcpyRecord> copies;
  std::vector<MemsetRecord> memsets;
  std::vector<GraphRecord> graphs;
  std::vector<HostFunctionRecord> host_functions;
  std::vector<OverheadRecord> overheads;
  std::vector<ContextRecord> contexts;
  std::vector<StreamRecord> streams;
  std::string order;  ///< one character per record

  void on_kernel(const KernelActivity& kernel) override {
    order += 'k';
    kernels.push_back(kernel);
    names.emplace_back(kernel.name);
    kernels.back().name = "";
  }
  void on_memcpy(MemcpyRecord copy) override {
    order += 'c';
    copies.push_back(copy);
  }
  void on_graph(GraphRecord graph) override { graphs.push_back(graph); }
  void on_memset(MemsetRecord memset) override {
    order += 'm';
    memsets.push_back(memset);
  }
  void on_host_function(HostFunctionRecord function) override { host_functions.push_back(function); }
  void on_overhead(OverheadRecord overhead, void* details) override {
    order += 'o';
    std::free(details);
    overheads.push_back(overhead);
  }
  void on_context(const ContextRecord& context) override {
    order += 'x';
    contexts.push_back(context);
  }
  void on_stream(const StreamRecord& stream) override {
    order += 's';
    streams.push_back(stream);
  }
  [[nodiscard]] std::size_t size() const { return order.size(); }
};

}  // namespace rangefinder::test
