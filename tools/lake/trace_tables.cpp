// SPDX-License-Identifier: Apache-2.0
#include "tools/lake/trace_tables.h"

#include <array>
#include <charconv>
#include <optional>
#include <utility>

#include "tools/analysis/queries/whole_trace.h"
#include "tools/analysis/sampling/sampled_bytes.h"
#include "tools/export/time_span.h"
#include "tools/export/value_text.h"
#include "tools/lake/rank_sums.h"
#include "tools/lake/record_columns.h"

namespace rangefinder {

/// The first columns of every table. Tables of events have no host: a text costs as much as the rest of a
/// row.
struct ProcessColumns {
  static constexpr std::size_t kOfEvents = 2;

  std::uint64_t process = 0;
  std::optional<std::int32_t> rank;
  std::string_view host;

  template <typename Out>
  void put(Out& out, bool is_event) const {
    out.put("process", process);
    if (rank || Out::kAll) out.put("rank", rank.value_or(0));
    if (!is_event) out.put("host", host);
  }
};

namespace {

constexpr Columns kColumns =
    kAllWork | kAllLaunch | kAllRange | Column::exact | Column::syncs | Column::samples | RankWork::kColumns;

/// A record of fields.h, or a row of sums.
template <typename Out, typename Record>
void put_record(Out& out, const LakeTexts& texts, const Record& record) {
  if constexpr (requires { put_row(out, record); }) {
    put_row(out, record);
  } else {
    RecordColumns<Record, Out> columns(out, texts);
    fields(columns, record);
    if constexpr (std::is_same_v<Record, RangeRecord>) out.put("name", texts.range(record));
  }
}

struct OneSample {
  const SamplesRecord& line;
  TimeNs start_ns, end_ns;
  std::size_t place;                                ///< in the columns of the line
  const std::array<bool, kSampleColumns>& columns;  ///< were collected
};

template <typename Out>
void put_record(Out& out, const LakeTexts&, const OneSample& sample) {
  static constexpr std::array<std::string_view, kSampleColumns> kNames{
      "dram_read_bytes",          "dram_write_bytes", "l2_bytes",
      "pcie_read_bytes",          "pcie_write_bytes", "nvlink_received_bytes",
      "nvlink_transmitted_bytes", "sm_active_pct",    "engine_active_pct"};
  out.put("gpu", sample.line.gpu);
  out.put("start_ns", sample.start_ns);
  out.put("end_ns", sample.end_ns);
  for (std::size_t i = 0; i < kSampleColumns; ++i) {
    const auto& values = sample.line.columns[i];
    if (!sample.columns[i] && values.empty() && !Out::kAll) continue;
    // A column that was collected and omitted was 0 in every sample.
    const std::uint64_t units = sample.place < values.size() ? values[sample.place] : 0;
    out.put(kNames[i], units * (is_byte_column(i) ? kSampleUnitBytes : 1));
  }
}

struct OneStack {
  std::uint32_t thread;
  TimeNs at_ns;
  std::uint32_t interval_ns, stack;
};

template <typename Out>
void put_record(Out& out, const LakeTexts& texts, const OneStack& sample) {
  out.put("thread", sample.thread);
  out.put("at_ns", sample.at_ns);
  out.put("interval_ns", sample.interval_ns);
  out.put("function", texts.function(sample.stack));
  out.put("stack", texts.stack(sample.stack));
}

struct OneLoss {
  std::string_view cause;
  std::uint64_t count;
};

template <typename Out>
void put_record(Out& out, const LakeTexts&, const OneLoss& loss) {
  out.put("cause", loss.cause);
  out.put("count", loss.count);
}

struct OneProcess {
  const ProcessKey& key;
  const Header& header;
  std::string_view command, trace, end_reason;
  TimeNs last_ns = 0;
};

template <typename Out>
void put_record(Out& out, const LakeTexts& texts, const OneProcess& process) {
  const Header& header = process.header;
  out.put("pid", header.pid);
  out.put("boot_unix_ns", process.key.boot_ns);
  out.put("start_unix_ns", process.key.start_ns);
  if (header.ranks != 0 || Out::kAll) out.put("ranks", header.ranks);
  out.put("executable", texts.valid(header.executable));
  out.put("command", process.command);
  out.put("counters", texts.valid(header.counters));
  out.put("tool_version", texts.valid(header.tool_version));
  out.put("driver_version", header.driver_version);
  out.put("cupti_version", header.cupti_version);
  out.put("last_ns", process.last_ns);
  if (!process.end_reason.empty() || Out::kAll) out.put("end_reason", process.end_reason);
  out.put("trace", process.trace);
}

/// False for a process and for sums.
template <typename Record>
constexpr bool is_event(const Record&) {
  return !std::is_same_v<Record, OneProcess> && !requires(ColumnList & out, const Record& record) {
    put_row(out, record);
  };
}

/// The columns of records like these, which together have all keys.
template <typename... Records>
std::vector<LakeColumn> columns_of_records(const Records&... records) {
  static const TraceNames kNoNames;
  static const LakeTexts kNoTexts(kNoNames);
  ColumnList out;
  const auto add = [&out](const auto& record) {
    ProcessColumns{}.put(out, is_event(record));
    put_record(out, kNoTexts, record);
    out.end_row();
  };
  (add(records), ...);
  return out.columns();
}

MemcpyRecord peer_copy() {
  MemcpyRecord out;
  out.kind = CopyKind::PtoP;
  return out;
}

RangeRecord start_end_range() {
  RangeRecord out;
  out.name = 1;
  return out;
}

ExactRecord counter_range() {
  ExactRecord out;
  out.is_counter_range = true;
  return out;
}

enum class TableId : std::uint8_t {
  processes,
  kernels,
  launches,
  copies,
  memsets,
  ranges,
  exact,
  samples,
  syncs,
  holds,
  loss,
  conditions,
  stacks,
  rank_module,
  rank_kernel,
  collectives,
  iterations,
  findings
};

constexpr TableId table_of(const ModuleSums&) {
  return TableId::rank_module;
}
constexpr TableId table_of(const KernelSums&) {
  return TableId::rank_kernel;
}
constexpr TableId table_of(const CollectiveRow&) {
  return TableId::collectives;
}
constexpr TableId table_of(const IterationRow&) {
  return TableId::iterations;
}
constexpr TableId table_of(const FindingRow&) {
  return TableId::findings;
}

std::vector<LakeTable> make_tables() {
  const std::vector<std::string_view> by_stream{"gpu", "stream", "start_ns"}, by_thread{"thread", "start_ns"},
      as_they_come;
  const SamplesRecord samples;
  const std::array<bool, kSampleColumns> all{};
  const PathTotals row;
  const RowBytes bytes;
  const Collective collective;
  const IterationTotals totals;
  const ProcessKey key;
  const Header header;
  return {{"processes", as_they_come, columns_of_records(OneProcess{key, header, {}, {}, {}})},
          {"kernels", by_stream, columns_of_records(KernelRecord())},
          {"launches", by_thread, columns_of_records(LaunchRecord())},
          {"copies", by_stream, columns_of_records(peer_copy())},
          {"memsets", by_stream, columns_of_records(MemsetRecord())},
          {"ranges", by_thread, columns_of_records(start_end_range())},
          {"exact", by_thread, columns_of_records(ExactRecord(), counter_range())},
          {"samples", {"gpu", "start_ns"}, columns_of_records(OneSample{samples, 0, 0, 0, all})},
          {"syncs", by_thread, columns_of_records(SyncRecord())},
          {"holds", by_thread, columns_of_records(HoldRecord())},
          {"loss", as_they_come, columns_of_records(OneLoss{})},
          {"conditions", {"gpu", "thread", "at_ns"}, columns_of_records(ConditionRecord())},
          {"stacks", {"thread", "at_ns"}, columns_of_records(OneStack{})},
          {"rank_module", as_they_come, columns_of_records(ModuleSums{row, bytes, {}, {}, {}, {}})},
          {"rank_kernel", as_they_come, columns_of_records(KernelSums{})},
          {"collectives", as_they_come, columns_of_records(CollectiveRow{collective, 0, 0, {}, {}})},
          {"iterations", as_they_come, columns_of_records(IterationRow{0, 0, totals})},
          {"findings", as_they_come, columns_of_records(FindingRow{})}};
}

}  // namespace

const std::vector<LakeTable>& lake_tables() {
  static const std::vector<LakeTable> tables = make_tables();
  return tables;
}

std::uint64_t ProcessKey::number() const {
  // FNV-1a, over the parts with their ends.
  std::uint64_t hash = 0xCBF2'9CE4'8422'2325;
  const std::string text = run + '\0' + host + '\0' + std::to_string(boot_ns) + '\0' + std::to_string(pid) +
                           '\0' + std::to_string(start_ns);
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100'0000'01B3;
  return hash;
}

ProcessKey process_key(const std::string& run, const Header& header) {
  return {run, header.host, header.base_unix_ns - header.base_monotonic_ns, header.pid, header.base_unix_ns};
}

/// Appends the rows of one process.
class TraceTables::Appender {
 public:
  Appender(std::vector<std::unique_ptr<TableRows>>& tables, LakeTexts& texts, const TraceNames& trace,
           const std::string& run)
      : tables_(tables), texts_(texts) {
    process_.process = process_key(run, trace.header).number();
    process_.host = texts_.valid(trace.header.host);
    const std::string& rank = trace.header.rank;
    std::int32_t number = 0;
    const auto [end, error] = std::from_chars(rank.data(), rank.data() + rank.size(), number);
    if (error == std::errc() && end == rank.data() + rank.size()) process_.rank = number;
  }

  void add(const SelectedRows& rows) {
    texts_.add(rows);
    rows.all_work(kAllWork, [this](const auto& record) { add_work(record); });
    rows.launches(kAllLaunch | Column::exact, [this](const auto& record, bool) { add_launch(record); });
    rows.ranges(kAllRange, [this](const RangeRecord& range, bool) { put(TableId::ranges, range); });
    rows.each<SyncRecord>(Column::syncs, [this](const SyncRecord& sync, bool) { put(TableId::syncs, sync); });
    rows.lines<HoldRecord>([this](const HoldRecord& hold) { put(TableId::holds, hold); });
    rows.lines<ConditionRecord>([this](const ConditionRecord& one) { put(TableId::conditions, one); });
    rows.lines<SamplingRecord>([this](const SamplingRecord& sampling) { set_columns(sampling); });
    rows.samples([this](const SamplesRecord& samples) { add_samples(samples); });
    rows.lines<StackSampleRecord>([this](const StackSampleRecord& line) {
      for (const StackSample& sample : line.samples)
        put(TableId::stacks,
            OneStack{line.thread, sample_time_ns(line, sample), line.interval_ns, sample.stack});
    });
  }

  void add_whole(WholeTrace& whole, const ProcessKey& key) {
    const TraceTotals& trace = whole.totals();
    const std::string folder = std::filesystem::absolute(trace.files.folder).lexically_normal().string();
    put(TableId::processes,
        OneProcess{key, trace.header, texts_.valid(words_text(trace.header.command)), texts_.valid(folder),
                   trace.end ? texts_.valid(trace.end->reason) : std::string_view(), trace.last_ns});
    for (std::size_t i = 0; i < kLossCauses.size(); ++i) {
      if (trace.loss[i] != 0) put(TableId::loss, OneLoss{kLossCauses[i].name, trace.loss[i]});
    }
    RankSums sums(whole, texts_);
    sums.each([this](const auto& row) { put(table_of(row), row); });
  }

 private:
  template <typename Record>
  void put(TableId id, const Record& record) {
    TableRows& rows = *tables_[static_cast<std::size_t>(id)];
    process_.put(rows, is_event(record));
    put_record(rows, texts_, record);
    rows.end_row();
  }
  void add_work(const KernelRecord& record) { put(TableId::kernels, record); }
  void add_work(const MemcpyRecord& record) { put(TableId::copies, record); }
  void add_work(const MemsetRecord& record) { put(TableId::memsets, record); }
  void add_work(const GraphRecord&) {}
  void add_launch(const LaunchRecord& record) { put(TableId::launches, record); }
  void add_launch(const ExactRecord& record) { put(TableId::exact, record); }

  void set_columns(const SamplingRecord& sampling) {
    if (sampling.interval_ns == 0) return;
    for (std::size_t i = 0; i < kSampleColumns; ++i) {
      collected_[sampling.gpu][i] = std::find(sampling.columns.begin(), sampling.columns.end(),
                                              kSampleColumnNames[i]) != sampling.columns.end();
    }
  }
  void add_samples(const SamplesRecord& samples) {
    std::size_t place = 0;
    for (const SampleRun& run : samples.runs) {
      for (std::uint32_t i = 0; i < run.count; ++i, ++place) {
        put(TableId::samples, OneSample{samples, sample_start_ns(run, i), sample_start_ns(run, i + 1), place,
                                        collected_[samples.gpu]});
      }
    }
  }

  std::vector<std::unique_ptr<TableRows>>& tables_;
  LakeTexts& texts_;
  ProcessColumns process_;
  std::unordered_map<std::uint32_t, std::array<bool, kSampleColumns>> collected_;  // by GPU
};

TraceTables::TraceTables(DuckDb& db) {
  for (const LakeTable& table : lake_tables())
    tables_.push_back(std::make_unique<TableRows>(db, table.name, table.columns));
}

TraceTables::~TraceTables() = default;

void TraceTables::add(const TraceFolder& files, const std::string& run, const ReadLimits& limits) {
  WholeTrace trace(files, kColumns, limits);
  std::vector<std::uint64_t> first;
  for (const std::unique_ptr<TableRows>& table : tables_) first.push_back(table->size());
  texts_.push_back(std::make_unique<LakeTexts>(trace.totals()));
  Appender appender(tables_, *texts_.back(), trace.totals(), run);
  trace.each([&appender](const SelectedRows& rows) { appender.add(rows); });
  appender.add_whole(trace, process_key(run, trace.totals().header));
  for (std::size_t i = 0; i < tables_.size(); ++i) {
    const LakeTable& table = lake_tables()[i];
    if (!table.order.empty()) tables_[i]->sort_from(first[i], table.order, ProcessColumns::kOfEvents);
  }
}

std::uint64_t TraceTables::rows() const noexcept {
  std::uint64_t sum = 0;
  for (const std::unique_ptr<TableRows>& table : tables_) sum += table->size();
  return sum;
}

void TraceTables::finish() {
  for (const std::unique_ptr<TableRows>& table : tables_) table->seal();
}

}  // namespace rangefinder
