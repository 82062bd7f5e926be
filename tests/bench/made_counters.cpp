// SPDX-License-Identifier: Apache-2.0
#include "tests/bench/made_counters.h"

#include <algorithm>
#include <cmath>
#include <fstream>
#include <stdexcept>

#include "tests/bench/made_names.h"

namespace rangefinder::bench {
namespace {

// Bytes per ns, 1 is 1 GB/s. Highest sum of reads and writes: 3,400 of 4,814.
constexpr double kMinRead = 8, kMaxRead = 2'400;
constexpr double kMinWritten = 5, kMaxWritten = 1'000;
constexpr double kMaxL2 = 6'500;
constexpr double kLaunchSpread = 0.03;  // of a launch's bytes, either way

/// Between 0 and 1, the same for the same arguments.
double part(std::uint64_t seed, std::uint64_t which) {
  return static_cast<double>(spread(seed * 16 + which, 1 << 24)) * 0x1p-24;
}

double log_uniform(double low, double high, double at) {
  return low * std::pow(high / low, at);
}

using Rates = std::array<double, kSharedColumns>;

Rates rates_of(std::uint32_t path, std::uint32_t name) {
  const std::uint64_t seed = std::uint64_t{path} * (kMadeKernelNames + 1) + name;
  const double read = log_uniform(kMinRead, kMaxRead, part(seed, 0));
  // One of four kernels writes to L2 only.
  const double written = part(seed, 1) < 0.25 ? 0 : log_uniform(kMinWritten, kMaxWritten, part(seed, 2));
  return {read, written, std::min((read + written) * (1 + 1.5 * part(seed, 3)) + 100, kMaxL2)};
}

std::uint64_t whole_sectors(double bytes) {
  return static_cast<std::uint64_t>(bytes / kSampleUnitBytes) * kSampleUnitBytes;
}

}  // namespace

MadeBytes MadeCounters::kernel(std::uint32_t path, std::uint32_t name, TimeNs took_ns) {
  const double noise = 1 + kLaunchSpread * (2 * part(++launches_, 4) - 1);
  const Rates rates = rates_of(path, name);
  MadeBytes bytes;
  for (std::size_t c = 0; c < kSharedColumns; ++c) {
    bytes[c] = whole_sectors(rates[c] * static_cast<double>(took_ns) * noise);
  }
  add(path, bytes);
  return bytes;
}

MadeBytes MadeCounters::copy(std::uint64_t bytes, bool to_device) {
  const std::uint64_t moved = whole_sectors(static_cast<double>(bytes));
  const MadeBytes sums{to_device ? 0 : moved, to_device ? moved : 0, moved};
  add(0, sums);
  return sums;
}

void MadeCounters::add(std::uint32_t path, const MadeBytes& bytes) {
  if (path >= sums_.size()) sums_.resize(path + 1);
  for (std::size_t c = 0; c < kSharedColumns; ++c) sums_[path][c] += bytes[c];
}

void MadeCounters::write_truth(const std::string& file, const std::vector<PathRecord>& paths) const {
  std::vector<MadeBytes> inclusive = sums_;
  inclusive.resize(std::max(sums_.size(), paths.size() + 1));
  for (auto path = paths.rbegin(); path != paths.rend() && path->parent != 0; ++path) {
    for (std::size_t c = 0; c < kSharedColumns; ++c) inclusive[path->parent][c] += inclusive[path->id][c];
  }
  std::ofstream out(file);
  std::vector<std::string> texts(inclusive.size());
  for (const PathRecord& path : paths) {
    texts[path.id] = path.parent == 0 ? path.name : texts[path.parent] + "/" + path.name;
    out << texts[path.id];
    for (const std::uint64_t bytes : inclusive[path.id]) out << '\t' << bytes;
    out << '\n';
  }
  out.close();
  if (!out) throw std::runtime_error("cannot write " + file);
}

}  // namespace rangefinder::bench
