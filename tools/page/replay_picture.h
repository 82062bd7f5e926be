// SPDX-License-Identifier: Apache-2.0
//
// The picture "one replay, byte by byte": an iteration as layers, kernels, DRAM and L2 over time, and the
// bytes of each layer in each iteration.
//
//   samples of the part ─▶ measure() ─▶ LayerBytes: of each layer in each replay, with their bounds
//   each chunk ──────────▶ add() ─────▶ work, samples or exact bytes, lost samples and holds of some replays
//                                        └─▶ json()
//
// A replay is the wall time of an iteration; bytes are those of `report --window` over it. The median one is
// always there in full, others while kMaxItems allow. Of more replays than kMaxReplays some in equal
// distances have bytes. Not thread-safe.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <unordered_map>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "tools/analysis/queries/row_values.h"
#include "tools/analysis/report/run_summary.h"
#include "tools/analysis/sampling/sampled_bytes_source.h"
#include "tools/page/layer_bytes.h"
#include "tools/page/page_counts.h"
#include "tools/page/page_indices.h"

namespace rangefinder {

class ReplayPicture {
 public:
  static constexpr std::size_t kMaxReplays = 24;
  static constexpr std::size_t kMaxItems = 6'000;   ///< pieces of work and samples, of all replays together
  static constexpr std::size_t kMaxPoints = 2'000;  ///< samples of one replay; neighbours are merged
  /// Some kernels are too many to compute bytes of more than one replay in reasonable time.
  static constexpr std::uint64_t kMaxWork = 1'000'000;

  /// `counted`: iterations, of which `median` is one. `log` must outlive this.
  ReplayPicture(const IterationLog& log, const std::vector<std::size_t>& counted, std::size_t median);

  /// `part`: totals of the counted iterations; `samples`: theirs. `part` must outlive this.
  void measure(const TraceTotals& part, const SampledTrace& samples);
  /// Of a trace with exact bytes: add() reads them.
  void measure_exact(const TraceTotals& part);
  [[nodiscard]] bool is_measured() const noexcept { return bytes_.has_value(); }
  static constexpr Columns kColumns = Column::work_times | Column::work_place | Column::work_path |
                                      Column::work_name | Column::work_correlation | Column::copies |
                                      Column::samples | Column::exact;
  void add(const SelectedRows& rows);
  /// `counted`: what `part` was a part of. Null: there are no bytes.
  [[nodiscard]] nlohmann::ordered_json json(const TracePart& counted, const RunSummary& run,
                                            const PageCounts& counts, const PageIndices& indices);

 private:
  struct Piece {
    TimeNs start_ns = 0, end_ns = 0;
    std::uint32_t correlation = 0;
    StreamKey stream;
    std::uint32_t path = 0, name = 0;
    bool is_kernel = false;  ///< or a whole graph
  };
  using Bytes = std::array<std::uint64_t, 3>;  ///< DRAM read, DRAM written, L2
  struct Point {
    TimeNs start_ns = 0, end_ns = 0;
    Bytes bytes{};
  };
  struct Replay {
    std::size_t iteration = 0;
    TimeNs from_ns = 0, to_ns = 0;
    bool full = false;  ///< with work and samples
    std::vector<Piece> pieces;
    std::vector<Point> points;
    std::vector<SampleWindow> held;
    std::size_t omitted = 0;  ///< shorter pieces
  };
  template <typename Record>
  void add_work(const Record& record);
  void add_samples(const SamplesRecord& line);
  void add_exact(const ExactRecord& exact);
  void begin(const TraceTotals& part);
  [[nodiscard]] const ShownLayers& layers() const { return bytes_->layers(); }
  void add_points(Replay& replay) const;
  /// The replay that contains part of the time; nullptr: none does.
  [[nodiscard]] Replay* at(TimeNs start_ns, TimeNs end_ns);
  void choose_full(TimeNs interval_ns);
  void finish(Replay& replay) const;
  [[nodiscard]] nlohmann::ordered_json replay_json(const Replay& replay, const PageIndices& indices) const;
  [[nodiscard]] nlohmann::ordered_json pieces_json(const Replay& replay, const PageIndices& indices) const;
  [[nodiscard]] static nlohmann::ordered_json points_json(const Replay& replay);
  [[nodiscard]] nlohmann::ordered_json lost_json(const Replay& replay) const;
  [[nodiscard]] nlohmann::ordered_json spans_json(const Replay& replay) const;
  [[nodiscard]] nlohmann::ordered_json scales_json(const RowValues& values) const;

  const IterationLog& log_;
  std::optional<LayerBytes> bytes_;
  std::vector<Replay> replays_;  ///< in order of time
  std::size_t median_ = 0;       ///< in replays_
  std::uint32_t gpu_ = 0;
  SampleGaps gaps_;
  bool exact_ = false;
  std::unordered_map<std::uint32_t, Bytes> launches_;  ///< of full replays, exact, by correlation
};

}  // namespace rangefinder
