// SPDX-License-Identifier: Apache-2.0
#include "tools/export/work_totals.h"

#include "tools/export/time_span.h"

namespace rangefinder {
namespace {

class WorkVisitor final : public TraceVisitor {
 public:
  explicit WorkVisitor(WorkTotals& out) : out_(out) {}

  void line(const Line& line, const LinePlace&) override {
    std::visit([this](const auto& record) { add(record); }, line);
  }
  void broken(std::string_view, const LinePlace&) override {}  // read_outline() has already reported it

 private:
  template <typename Other>
  void add(const Other&) {}
  void add(const KernelRecord& kernel) { add_work(kernel.work, WorkKind::kernel, kernel.name, 1, 0); }
  void add(const MemcpyRecord& copy) {
    add_work(copy.work, WorkKind::memcpy, static_cast<std::uint32_t>(copy.kind), copy.count, copy.bytes);
  }
  void add(const GraphRecord& graph) { add_work(graph.work, WorkKind::graph, 0, 1, 0); }
  void add(const MemsetRecord& memset) { add_work(memset.work, WorkKind::memset, 0, 1, memset.bytes); }

  void add_work(const GpuWork& work, WorkKind kind, std::uint32_t name, std::uint64_t count,
                std::uint64_t bytes) {
    WorkSum& sum = out_.work[{work.gpu, work.path, kind, name}];
    sum.count += count;
    sum.bytes += bytes;
    if (is_timed(work)) sum.ns += span_ns(work.start_ns, work.end_ns);
  }

  void add(const ExactRecord& exact) {
    if (!exact.measured || !exact.has_bytes || shares_counter_range(exact)) return;
    const WorkKind kind = exact.is_counter_range ? WorkKind::graph : exact.kind;
    ExactSum& sum = out_.exact[{exact.gpu, values_path(exact), kind, exact.name}];
    ++sum.measured;
    sum.dram_read_bytes += exact.dram_read_bytes;
    sum.dram_write_bytes += exact.dram_write_bytes;
    sum.l2_bytes += exact.l2_bytes;
  }

  WorkTotals& out_;
};

}  // namespace

WorkTotals collect_work(const TraceOutline& trace) {
  WorkTotals out;
  LineReader reader;
  WorkVisitor visitor(out);
  (void)read_trace(trace.files, reader, visitor);
  return out;
}

}  // namespace rangefinder
