// SPDX-License-Identifier: Apache-2.0
#include "tools/export/chrome_parts.h"

#include <cctype>
#include <cmath>
#include <utility>

#include "schema/key_names.h"
#include "tools/export/time_span.h"

namespace rangefinder {
namespace {

/// libkineto's spelling of a memory kind: "device_static" becomes "Device Static".
std::string memory_words(MemoryKind kind) {
  std::string out(to_text(kind));
  bool first = true;
  for (char& c : out) {
    if (c == '_') c = ' ';
    if (std::exchange(first, c == ' ')) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  }
  return out;
}

std::string stream_name(const TraceOutline& trace, const GpuWork& work) {
  std::string out = "stream " + std::to_string(work.stream);
  const auto context = trace.contexts.find(work.context);
  if (context != trace.contexts.end() && context->second.null_stream == work.stream) out += " (default)";
  if (trace.contexts.size() > 1) out += ", context " + std::to_string(work.context);
  return out;
}

void append_dim3(std::string& out, const Dim3& dim) {
  out += '[' + std::to_string(dim.x) + ',' + std::to_string(dim.y) + ',' + std::to_string(dim.z) + ']';
}

double blocks_of(const LaunchConfigRecord& config) {
  return static_cast<double>(config.grid.x) * config.grid.y * config.grid.z;
}
double threads_of(const LaunchConfigRecord& config) {
  return static_cast<double>(config.block.x) * config.block.y * config.block.z;
}

/// Bytes and, as in libkineto, bandwidth; without bandwidth if the duration is 0.
void append_bytes(std::string& out, std::uint64_t bytes, const GpuWork& work) {
  out += ",\"bytes\":" + std::to_string(bytes);
  const std::uint64_t ns = span_ns(work.start_ns, work.end_ns);
  if (ns == 0) return;
  out += ",\"memory bandwidth (GB/s)\":";
  append_json_real(out, static_cast<double>(bytes) / static_cast<double>(ns));
}

}  // namespace

ChromeRow ChromeGpu::row(const GpuWork& work) {
  const RowKey key{context_.gpu_pid(work.gpu), RowKind::stream, work.context, work.stream, 0};
  return context_.rows.lane(key, work.stream, work.start_ns, work.end_ns,
                            [&] { return stream_name(context_.trace, work); });
}

/// The caller appends members and then ends the object.
void ChromeGpu::open_args(const GpuWork& work) {
  // "device" must be first and "stream" always present: Holistic Trace Analysis recognises GPU events by
  // them.
  JsonObject args(context_.events.args());
  args.number("device", work.gpu);
  args.number("context", work.context);
  args.number("stream", work.stream);
  args.number("correlation", work.correlation);
  args.nonzero("External id", work.range);
  if (work.path != 0) args.open("module") += context_.names.path(work.path);
  args.nonzero("graph id", work.graph);
  args.nonzero("graph node id", work.graph_node);
}

void ChromeGpu::flow(const GpuWork& work, ChromeRow row) {
  if (!context_.has_flow(work.correlation)) return;
  const FlowPoint point{work.correlation, row, work.start_ns};
  if (work.graph == 0) return write_flow('f', point);
  // A launch of a graph has one flow through all of its nodes, which ends at the node that starts last. Two
  // launches of one graph do not overlap, so the first node of the next one shows which node that was.
  const auto [at, is_first] = latest_nodes_.try_emplace(work.graph, point);
  if (is_first) return;
  FlowPoint& latest = at->second;
  const bool same_launch = point.correlation == latest.correlation;
  if (point.correlation < latest.correlation || (same_launch && point.start_ns < latest.start_ns)) {
    return write_flow('t', point);
  }
  write_flow(same_launch ? 't' : 'f', std::exchange(latest, point));
}

void ChromeGpu::write_flow(char phase, const FlowPoint& point) {
  context_.events.flow(phase, point.row, context_.process.first_flow_id + point.correlation, point.start_ns);
}

const std::string& ChromeGpu::config_args(std::uint32_t config, std::uint32_t gpu) {
  const auto [it, is_new] = config_args_.try_emplace(std::uint64_t{config} << 32 | gpu);
  const auto at = context_.trace.configs.find(config);
  if (!is_new || at == context_.trace.configs.end()) return it->second;
  const LaunchConfigRecord& launch = at->second;
  std::string& out = it->second;
  out += ",\"grid\":";
  append_dim3(out, launch.grid);
  out += ",\"block\":";
  append_dim3(out, launch.block);
  out += ",\"registers per thread\":" + std::to_string(launch.registers);
  out += ",\"shared memory\":" +
         std::to_string(std::uint64_t{launch.static_shared_bytes} + launch.dynamic_shared_bytes);
  if (launch.cluster.x != 0) {
    out += ",\"cluster\":";
    append_dim3(out, launch.cluster);
  }
  const GpuRecord* const device = context_.trace.gpu(gpu);
  if (device != nullptr && device->sm_count != 0) {
    constexpr double kWarpThreads = 32;
    const double blocks = blocks_of(launch) / device->sm_count;
    out += ",\"blocks per SM\":";
    append_json_real(out, blocks);
    out += ",\"warps per SM\":";
    append_json_real(out, blocks * std::ceil(threads_of(launch) / kWarpThreads));
  }
  return out;
}

void ChromeGpu::append_exact(std::uint32_t correlation) {
  const auto it = waiting_.find(correlation);
  if (it == waiting_.end()) return;
  const ExactRecord& exact = it->second;
  std::string& out = context_.events.text();
  if (exact.has_bytes) {
    out += ",\"dram_read_bytes\":" + std::to_string(exact.dram_read_bytes);
    out += ",\"dram_write_bytes\":" + std::to_string(exact.dram_write_bytes);
    out += ",\"l2_bytes\":" + std::to_string(exact.l2_bytes);
  }
  const auto set = context_.trace.metric_sets.find(exact.metric_set);
  if (set != context_.trace.metric_sets.end()) {
    for (std::size_t i = 0; i < exact.values.size() && i < set->second.metrics.size(); ++i) {
      // A ratio with denominator 0 is NaN, which JSON does not have.
      if (!std::isfinite(exact.values[i])) continue;
      out += ',' + json_string(set->second.metrics[i]) + ':';
      append_json_real(out, exact.values[i]);
    }
  }
  waiting_.erase(it);
}

template <typename Add>
void ChromeGpu::slice(const GpuWork& work, std::string_view category, std::string_view name, Add&& add) {
  if (!is_timed(work)) return;
  const ChromeRow at = row(work);
  context_.events.slice(at, category, name, work.start_ns, work.end_ns);
  open_args(work);
  add(context_.events.text());
  append_exact(work.correlation);
  context_.events.text() += '}';
  context_.events.close();
  flow(work, at);
  annotate(work);
}

void ChromeGpu::add(const KernelRecord& kernel) {
  slice(kernel.work, "kernel", context_.names.kernel(kernel.name),
        [&](std::string& out) { out += config_args(kernel.config, kernel.work.gpu); });
}

void ChromeGpu::add(const MemcpyRecord& copy) {
  const std::string name = "Memcpy " + std::string(to_text(copy.kind)) + " (" + memory_words(copy.source) +
                           " -> " + memory_words(copy.destination) + ")";
  slice(copy.work, "gpu_memcpy", json_string(name), [&copy](std::string& out) {
    append_bytes(out, copy.bytes, copy.work);
    if (copy.count > 1) out += ",\"copies\":" + std::to_string(copy.count);
    if (copy.kind == CopyKind::PtoP) {
      out += ",\"fromDevice\":" + std::to_string(copy.source_gpu);
      out += ",\"toDevice\":" + std::to_string(copy.destination_gpu);
    }
  });
}

void ChromeGpu::add(const MemsetRecord& memset) {
  slice(memset.work, "gpu_memset", json_string("Memset (" + memory_words(memset.memory) + ")"),
        [&memset](std::string& out) { append_bytes(out, memset.bytes, memset.work); });
}

void ChromeGpu::add(const GraphRecord& graph) {
  slice(graph.work, "gpu_graph", json_string("CUDA graph " + std::to_string(graph.work.graph)),
        [](std::string&) {});
}

void ChromeGpu::add(const ExactRecord& exact) {
  // The bytes of a graph belong to all of its nodes, those of a counter range to all of its launches.
  if (!exact.measured || exact.is_counter_range || exact.kind == WorkKind::graph) return;
  if (context_.trace.worked.contains(exact.launch.correlation)) {
    waiting_.emplace(exact.launch.correlation, exact);
  }
}

bool ChromeGpu::is_above(std::uint32_t path, std::uint32_t below) const {
  do {
    below = context_.trace.parent_of(below);
  } while (below > path);  // a parent has a smaller id
  return below == path;
}

void ChromeGpu::annotate(const GpuWork& work) {
  const StreamKey key{work.context, work.stream};
  OpenAnnotations& open = annotations_[key];
  open.gpu = work.gpu;
  // Annotations that are no ancestors of the kernel's path, or earlier instances of it, are complete.
  while (!open.stack.empty() && open.stack.back().range != work.range &&
         (work.path == 0 || !is_above(open.stack.back().path, work.path))) {
    close_annotation(key, open);
  }
  if (work.range == 0 || work.path == 0) return;
  if (open.stack.empty() || open.stack.back().range != work.range) {
    open.stack.push_back({work.range, work.path, work.start_ns, work.end_ns});
    return;
  }
  Annotation& top = open.stack.back();
  top.start_ns = std::min(top.start_ns, work.start_ns);
  top.end_ns = std::max(top.end_ns, work.end_ns);
}

void ChromeGpu::close_annotation(const StreamKey& key, OpenAnnotations& open) {
  const Annotation done = open.stack.back();
  open.stack.pop_back();
  // Each level has its own row, because overlapping kernels make neighbours overlap.
  const auto level = static_cast<std::uint32_t>(open.stack.size());
  const RowKey row_key{context_.gpu_pid(open.gpu), RowKind::annotation, key.first, key.second, level};
  const ChromeRow row = context_.rows.lane(row_key, 0, done.start_ns, done.end_ns, [&] {
    return "stream " + std::to_string(key.second) + " modules" +
           (level == 0 ? std::string() : ", level " + std::to_string(level + 1));
  });
  context_.events.slice(row, "gpu_user_annotation", context_.names.path(done.path), done.start_ns,
                        done.end_ns, [&](JsonObject& args) {
                          args.number("device", open.gpu);
                          args.number("context", key.first);
                          args.number("stream", key.second);
                          args.number("External id", done.range);
                        });
}

void ChromeGpu::finish() {
  for (auto& [key, open] : annotations_) {
    while (!open.stack.empty()) close_annotation(key, open);
  }
  for (const auto& [graph, latest] : latest_nodes_) write_flow('f', latest);
}

}  // namespace rangefinder
