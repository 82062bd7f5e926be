// SPDX-License-Identifier: Apache-2.0
//
// Sequences of GPU work that rules report. Each takes the work of a trace in order of start.
//
//   ElementwiseChains   …, add, clamp, mul, …   on one stream, in one module or in siblings
//   AttentionProducts   q kᵀ ─▶ [scale, mask] ─▶ softmax ─▶ [dropout, cast] ─▶ · v   on one stream
//   ShortNodes          …, ├2┤ ├3┤, …           short kernels of a graph in one module
//   ConcurrentKernels   kernels that overlap in a chain, and the same kernels alone
//
// Kernels are classified by name (kernel_kinds.h). Memory grows with paths, streams and distinct kernels;
// chains and clusters are bounded.
#pragma once

#include <cstdint>
#include <map>
#include <unordered_map>
#include <utility>
#include <vector>

#include "tools/analysis/model/dense_ids.h"
#include "tools/analysis/model/launched_work.h"
#include "tools/analysis/model/recent_map.h"
#include "tools/analysis/model/trace_names.h"
#include "tools/analysis/queries/kernel_kinds.h"

namespace rangefinder {

/// Kinds of kernels by name id, each name classified once.
class KernelSorts {
 public:
  [[nodiscard]] KernelSort of(std::uint32_t name, const TraceNames& names);

 private:
  DenseIds sorts_;
};

/// The occurrences of a pattern.
struct PatternSum {
  std::uint64_t times = 0;
  std::uint64_t kernels = 0;   ///< 0: not counted, as of attention
  std::uint64_t total_ns = 0;  ///< of their kernels
  std::uint64_t saved_ns = 0;  ///< beyond the longest kernel of each; of attention: between the two products
  std::uint64_t l2_bytes = 0;  ///< of the kernels that these times are of
  PatternSum& operator+=(const PatternSum& other);
};

/// Consecutive elementwise kernels, each of which reads what the previous one wrote.
///
/// Two kernels are assumed to pass the same bytes if their L2 bytes, where measured, agree within a factor of
/// two. Without them, their thread counts must agree within a factor of eight: kernels differ in elements per
/// thread.
class ElementwiseChains {
 public:
  static constexpr std::size_t kMaxChains = 65'536;  // distinct
  static constexpr std::size_t kMaxLength = 64;

  /// Path, 0: none in common; kernel names.
  using ByPathAndNames = std::map<std::pair<std::uint32_t, std::vector<std::uint32_t>>, PatternSum>;

  /// `sort`: of its kernel.
  void add(const WorkEvent& event, KernelSort sort, const TraceNames& names);
  void finish();
  [[nodiscard]] const ByPathAndNames& sums() const noexcept { return sums_; }

 private:
  struct Chain {
    std::vector<std::uint32_t> names;
    std::uint32_t path = 0;
    std::uint64_t threads = 0, l2_bytes = 0;  // of its latest kernel
    std::uint64_t total_ns = 0, longest_ns = 0, total_l2 = 0;
  };
  void close(Chain& chain);

  RecentMap<std::uint64_t, Chain, 16> open_;  // by context and stream
  ByPathAndNames sums_;
};

/// Softmax between two matrix products: attention that writes its scores to memory.
class AttentionProducts {
 public:
  static constexpr std::uint32_t kMaxBetween =
      4;  // kernels between a product and the softmax, on either side

  /// `counts`: a pattern that ends with this event is summed.
  void add(const WorkEvent& event, KernelSort sort, bool counts);
  /// By path.
  [[nodiscard]] const std::unordered_map<std::uint32_t, PatternSum>& sums() const noexcept { return sums_; }

 private:
  /// The part of the pattern that a stream has matched so far.
  struct Progress {
    bool product = false, softmax = false;
    std::uint32_t path = 0, kernels = 0;  // of the product; since the latest match
    std::uint64_t product_ns = 0, between_ns = 0, between_l2 = 0;
  };

  RecentMap<std::uint64_t, Progress, 16> streams_;  // by context and stream
  std::unordered_map<std::uint32_t, PatternSum> sums_;
};

/// Chains of kernels of a replayed graph that are too short to fill the GPU.
class ShortNodes {
 public:
  static constexpr std::uint64_t kMaxNs = 5'000;
  static constexpr std::uint64_t kMinOfChain = 2;

  void add(const WorkEvent& event);
  void finish();
  /// By path.
  [[nodiscard]] const std::unordered_map<std::uint32_t, PatternSum>& sums() const noexcept { return sums_; }

 private:
  struct Chain {
    std::uint64_t kernels = 0, total_ns = 0, longest_ns = 0;
    std::uint32_t path = 0;
  };
  void close(Chain& chain);

  RecentMap<std::uint64_t, Chain, 16> open_;  // by context and stream
  std::unordered_map<std::uint32_t, PatternSum> sums_;
};

/// Clusters of kernels that overlap in a chain on one GPU, from first start to last end.
///
///   ├─ A ─────────┤
///      ├─ B ────────────┤
///   └──── cluster ──────┘
class ConcurrentKernels {
 public:
  static constexpr std::size_t kMaxClusters = 4096;  // distinct
  static constexpr std::size_t kMaxOfCluster = 64;   // longer: the program overlaps kernels throughout

  using Kernel = std::uint64_t;  ///< name and configuration
  struct Times {
    std::uint64_t count = 0, ns = 0;
  };
  void add(const WorkEvent& event);
  void finish();
  [[nodiscard]] const std::unordered_map<Kernel, Times>& alone() const noexcept { return alone_.map(); }
  [[nodiscard]] const std::map<std::vector<Kernel>, Times>& together() const noexcept { return together_; }

 private:
  struct Cluster {
    TimeNs start_ns = 0, end_ns = 0;
    std::vector<Kernel> kernels;
    std::uint64_t first_ns = 0;  // duration of the first kernel
  };
  void close(Cluster& cluster);

  RecentMap<std::uint64_t, Cluster, 16> open_;  // by GPU
  RecentMap<Kernel, Times, 8192> alone_;
  std::map<std::vector<Kernel>, Times> together_;
};

}  // namespace rangefinder
