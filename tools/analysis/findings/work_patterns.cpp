// SPDX-License-Identifier: Apache-2.0
#include "tools/analysis/findings/work_patterns.h"

#include <algorithm>

namespace rangefinder {
namespace {

std::uint64_t stream_key(const GpuWork& work) {
  return std::uint64_t{work.context} << 32 | work.stream;
}

bool within(std::uint64_t a, std::uint64_t b, std::uint64_t factor) {
  return a <= b * factor && b <= a * factor;
}

std::uint64_t threads_of(const TraceNames& names, std::uint32_t config) {
  const auto at = names.configs.find(config);
  if (at == names.configs.end()) return 0;
  const Dim3 &g = at->second.grid, &b = at->second.block;
  return std::uint64_t{g.x} * g.y * g.z * b.x * b.y * b.z;
}

/// The common module of two equal, nested or sibling paths; 0: none of these.
std::uint32_t common_path(const TraceNames& names, std::uint32_t a, std::uint32_t b) {
  if (a == b || names.parent_of(b) == a) return a;
  const std::uint32_t above = names.parent_of(a);
  return above == b || above == names.parent_of(b) ? above : 0;
}

}  // namespace

KernelSort KernelSorts::of(std::uint32_t name, const TraceNames& names) {
  const std::uint32_t known = sorts_.find(name);
  if (known != DenseIds::kNone) return static_cast<KernelSort>(known);
  const auto at = names.kernel_names.find(name);
  if (at == names.kernel_names.end()) return KernelSort::other;  // its line may come later
  const KernelSort sort =
      names.communicates(name) ? KernelSort::communication : kernel_sort(at->second.demangled);
  sorts_.set(name, static_cast<std::uint32_t>(sort));
  return sort;
}

PatternSum& PatternSum::operator+=(const PatternSum& other) {
  times += other.times;
  kernels += other.kernels;
  total_ns += other.total_ns;
  saved_ns += other.saved_ns;
  l2_bytes += other.l2_bytes;
  return *this;
}

void ElementwiseChains::add(const WorkEvent& event, KernelSort sort, const TraceNames& names) {
  Chain& chain = open_[stream_key(event.work)];
  const bool fits = event.kind == WorkKind::kernel && sort == KernelSort::elementwise;
  if (!fits) return close(chain);
  const std::uint64_t threads = threads_of(names, event.config);
  if (!chain.names.empty()) {
    const std::uint32_t common = common_path(names, chain.path, event.work.path);
    const bool alike = chain.l2_bytes != 0 && event.l2_bytes != 0 ? within(chain.l2_bytes, event.l2_bytes, 2)
                                                                  : within(chain.threads, threads, 8);
    if ((chain.path != event.work.path && common == 0) || !alike) close(chain);
  }
  if (chain.names.size() == kMaxLength) return;
  const std::uint64_t duration = event.duration();
  chain.path = chain.names.empty() ? event.work.path : common_path(names, chain.path, event.work.path);
  chain.names.push_back(event.name);
  chain.threads = threads;
  chain.l2_bytes = event.l2_bytes;
  chain.total_ns += duration;
  chain.total_l2 += event.l2_bytes;
  chain.longest_ns = std::max(chain.longest_ns, duration);
}

void ElementwiseChains::finish() {
  for (auto& [stream, chain] : open_) close(chain);
}

void ElementwiseChains::close(Chain& chain) {
  if (chain.names.empty()) return;
  if (chain.names.size() > 1) {
    auto key = std::make_pair(chain.path, chain.names);
    if (sums_.size() < kMaxChains || sums_.count(key) != 0) {
      sums_[std::move(key)] +=
          {1, chain.names.size(), chain.total_ns, chain.total_ns - chain.longest_ns, chain.total_l2};
    }
  }
  chain = {};
}

void AttentionProducts::add(const WorkEvent& event, KernelSort sort, bool counts) {
  if (event.kind != WorkKind::kernel) return;
  Progress& stream = streams_[stream_key(event.work)];
  if (sort == KernelSort::matrix_product) {
    if (counts && stream.softmax && stream.path == event.work.path) {
      const std::uint64_t total_ns = stream.product_ns + stream.between_ns + event.duration();
      sums_[stream.path] += {1, 0, total_ns, stream.between_ns, stream.between_l2};
    }
    stream = {};
    stream.product = true;
    stream.product_ns = event.duration();
    stream.path = event.work.path;
    return;
  }
  const bool new_softmax = sort == KernelSort::softmax && stream.product && !stream.softmax;
  if (new_softmax && stream.path == event.work.path) {
    stream.softmax = true;
    stream.kernels = 0;
  } else if (++stream.kernels > kMaxBetween || sort == KernelSort::softmax) {
    stream = {};
    return;
  }
  stream.between_ns += event.duration();
  stream.between_l2 += event.l2_bytes;
}

void ShortNodes::add(const WorkEvent& event) {
  if (event.work.graph == 0) return;
  Chain& chain = open_[stream_key(event.work)];
  const std::uint64_t ns = event.duration();
  const bool is_short = event.kind == WorkKind::kernel && ns < kMaxNs;
  if (!is_short || event.work.path != chain.path || event.first_of_launch) close(chain);
  if (!is_short) return;
  chain.path = event.work.path;
  ++chain.kernels;
  chain.total_ns += ns;
  chain.longest_ns = std::max(chain.longest_ns, ns);
}

void ShortNodes::finish() {
  for (auto& [stream, chain] : open_) close(chain);
}

void ShortNodes::close(Chain& chain) {
  if (chain.kernels >= kMinOfChain) {
    sums_[chain.path] += {1, chain.kernels, chain.total_ns, chain.total_ns - chain.longest_ns};
  }
  chain = {};
}

void ConcurrentKernels::add(const WorkEvent& event) {
  if (event.kind != WorkKind::kernel) return;
  Cluster& cluster = open_[event.work.gpu];
  if (cluster.kernels.empty() || event.work.start_ns >= cluster.end_ns) {
    close(cluster);
    cluster.start_ns = event.work.start_ns;
    cluster.end_ns = event.work.end_ns;
    cluster.first_ns = event.duration();
  }
  cluster.end_ns = std::max(cluster.end_ns, event.work.end_ns);
  if (cluster.kernels.size() <= kMaxOfCluster) {
    cluster.kernels.push_back(Kernel{event.name} << 32 | event.config);
  }
}

void ConcurrentKernels::finish() {
  for (auto& [gpu, cluster] : open_) close(cluster);
}

void ConcurrentKernels::close(Cluster& cluster) {
  if (cluster.kernels.size() == 1) {
    Times& alone = alone_[cluster.kernels.front()];
    ++alone.count;
    alone.ns += cluster.first_ns;
  } else if (!cluster.kernels.empty() && cluster.kernels.size() <= kMaxOfCluster) {
    std::sort(cluster.kernels.begin(), cluster.kernels.end());
    const bool known = together_.count(cluster.kernels) != 0;
    if (known || together_.size() < kMaxClusters) {
      Times& together = together_[cluster.kernels];
      ++together.count;
      together.ns += elapsed_ns(cluster.start_ns, cluster.end_ns);
    }
  }
  cluster.kernels.clear();
}

}  // namespace rangefinder
