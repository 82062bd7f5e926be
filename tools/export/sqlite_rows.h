// SPDX-License-Identifier: Apache-2.0
//
// The lines of a trace as rows of the tables of sqlite_schema.h.
//
// Memory grows with distinct texts. Process and thread ids are packed as in Nsight Systems:
// globalTid / 0x1000000 % 0x1000000 is the process, globalTid % 0x1000000 the thread.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>

#include "tools/export/sqlite_database.h"
#include "tools/export/trace_outline.h"

namespace rangefinder {

class SqliteRows final : public TraceVisitor {
 public:
  /// The tables must exist.
  SqliteRows(const TraceOutline& trace, SqliteDatabase& database);
  ~SqliteRows() override;

  void line(const Line& line, const LinePlace& place) override;
  void broken(std::string_view, const LinePlace&) override {}  // read_outline() has already reported it
  /// Adds names, GPUs, streams and loss.
  void add_outline();

 private:
  struct Inserts;
  struct KernelTexts {
    std::int64_t demangled = 0, short_name = 0, mangled = 0, from_library = 0;
  };

  template <typename Other>
  void add(const Other&) {}
  void add(const KernelRecord& kernel);
  void add(const MemcpyRecord& copy);
  void add(const MemsetRecord& memset);
  void add(const GraphRecord& graph);
  void add(const LaunchRecord& launch);
  void add(const ExactRecord& exact);
  void add(const SyncRecord& sync);
  void add(const AllocRecord& alloc);
  void add(const EventRecord& event);
  void add(const CaptureRecord& capture);
  void add(const OverheadRecord& overhead);
  void add(const RangeRecord& range);
  void add(const MarkRecord& mark);
  void add(const SamplingRecord& sampling);
  void add(const SamplesRecord& samples);

  void add_enumerations();
  void add_names();
  void add_trace_facts();
  void call(const HostWork& host, std::string_view api, std::optional<std::uint32_t> correlation,
            std::int32_t result);
  void metrics(const ExactRecord& exact);
  void nvtx(const NvtxExtras& extras);
  [[nodiscard]] std::int64_t global_tid(std::uint32_t thread) const;
  /// Id in StringIds.
  [[nodiscard]] std::int64_t string_id(std::string_view text);
  [[nodiscard]] const KernelTexts& kernel_texts(std::uint32_t name);

  const TraceOutline& trace_;
  std::unique_ptr<Inserts> inserts_;
  std::map<std::string, std::int64_t, std::less<>> strings_;
  std::unordered_map<std::uint32_t, KernelTexts> kernel_texts_;
  std::map<std::uint32_t, std::array<bool, kSampleColumns>> collected_;  // by GPU
};

}  // namespace rangefinder
