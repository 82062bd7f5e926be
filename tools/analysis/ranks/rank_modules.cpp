// SPDX-License-Identifier: Apache-2.0
#include "tools/analysis/ranks/rank_modules.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <string_view>

#include "profiler/base/iteration_names.h"

namespace rangefinder {
namespace {

/// Adds the modules below each one to it.
void add_to_parents(const std::vector<RankModule>& modules, std::vector<double>& ns) {
  for (std::size_t i = modules.size(); i-- > 1;) {
    if (modules[i].parent != 0) ns[modules[i].parent] += ns[i];
  }
}

}  // namespace

std::uint64_t whole_ns(double ns) {
  return static_cast<std::uint64_t>(std::llround(std::max(0.0, ns)));
}

double median_without(std::vector<double> values, std::size_t rank) {
  if (rank < values.size()) values.erase(values.begin() + static_cast<std::ptrdiff_t>(rank));
  if (values.empty()) return 0;
  std::sort(values.begin(), values.end());
  const std::size_t half = values.size() / 2;
  return values.size() % 2 == 1 ? values[half] : (values[half - 1] + values[half]) / 2;
}

RankModules::RankModules(const std::vector<JobRank>& ranks, const RankWaits& waits)
    : ranks_(ranks), waits_(waits) {
  for (std::vector<RankModule>* const modules : {&all_, &folded_}) {
    modules->emplace_back();
    modules->front().paths.resize(ranks.size());
  }
  for (std::size_t rank = 0; rank < ranks.size(); ++rank) add(rank);
}

std::size_t RankModules::Tree::place(const std::string& path, const std::string& name, std::size_t parent) {
  const auto [at, is_new] = places.try_emplace(path, modules.size());
  if (is_new) {
    RankModule module;
    module.path = path;
    module.name = name;
    module.parent = parent;
    module.depth = parent == 0 ? 1 : modules[parent].depth + 1;
    module.paths.resize(modules.front().paths.size());
    modules.push_back(std::move(module));
  }
  return at->second;
}

void RankModules::add(std::size_t rank) {
  const TraceNames& names = *ranks_[rank].trace;
  std::unordered_map<std::uint32_t, std::size_t> places{{0, 0}};
  const auto place_of = [&](const auto& self, std::uint32_t path) -> std::size_t {
    if (const auto known = places.find(path); known != places.end()) return known->second;
    const std::size_t parent = self(self, names.parent_of(path));
    const std::string& name = names.own_name(path);
    const std::string text = names.path_text(path);  // a '/' in a name is escaped there
    const std::size_t place = tree_.place(text, name, parent);
    const std::size_t folded_parent = parent == 0 ? 0 : all_[parent].folded;
    const std::string own = parent == 0 ? text : text.substr(all_[parent].path.size() + 1);
    const std::string folded_above = folded_parent == 0 ? "" : folded_[folded_parent].path + "/";
    all_[place].folded =
        folded_tree_.place(folded_above + numbers_folded(own), numbers_folded(name), folded_parent);
    return places[path] = place;
  };
  ranks_[rank].work->each_path([&](std::uint32_t path) {
    const std::size_t place = place_of(place_of, path);
    all_[place].paths[rank].push_back(path);
    folded_[all_[place].folded].paths[rank].push_back(path);
  });
}

std::vector<std::size_t> RankModules::in_tree_order(const std::vector<RankModule>& modules) {
  std::vector<std::vector<std::size_t>> below(modules.size());
  for (std::size_t i = 1; i < modules.size(); ++i) below[modules[i].parent].push_back(i);
  std::vector<std::size_t> out, next(below[0].rbegin(), below[0].rend());
  while (!next.empty()) {
    const std::size_t place = next.back();
    next.pop_back();
    out.push_back(place);
    next.insert(next.end(), below[place].rbegin(), below[place].rend());
  }
  out.push_back(0);
  return out;
}

std::vector<double> RankModules::ns(const std::vector<RankModule>& modules, RankCost cost, std::size_t rank,
                                    const JobIterations& iterations) const {
  std::vector<double> out(modules.size());
  for (std::size_t i = 0; i < modules.size(); ++i) {
    for (const std::uint32_t path : modules[i].paths[rank]) {
      for (const std::size_t iteration : iterations)
        out[i] += ranks_[rank].work->ns(cost, path, waits_.local(rank, iteration));
    }
    out[i] /= static_cast<double>(std::max<std::size_t>(1, iterations.size()));
  }
  add_to_parents(modules, out);
  return out;
}

double RankModules::total_ns(RankCost cost, std::size_t rank, const JobIterations& iterations) const {
  const std::vector<double> each = ns(folded_, cost, rank, iterations);
  double sum = 0;
  for (std::size_t m = 0; m < each.size(); ++m) sum += folded_[m].parent == 0 ? each[m] : 0;
  return sum;
}

std::vector<double> RankModules::more_kernel_ns(const std::vector<RankModule>& modules, std::size_t rank,
                                                const JobIterations& iterations) const {
  std::map<std::pair<std::size_t, std::string_view>, std::vector<double>> kernels;  // module, name; by rank
  for (std::size_t r = 0; r < ranks_.size(); ++r) {
    const std::vector<std::size_t> places = places_of(modules, r);
    ranks_[r].work->each_kernel([&](std::uint32_t path, std::uint32_t name, const auto& ns) {
      double sum = 0;
      for (const std::size_t i : iterations) sum += ns(waits_.local(r, i));
      std::vector<double>& values = kernels[{places[path], ranks_[r].trace->kernel_name(name).demangled}];
      values.resize(ranks_.size());
      values[r] += sum / static_cast<double>(std::max<std::size_t>(1, iterations.size()));
    });
  }
  std::vector<double> out(modules.size()), unlike(modules.size());
  for (const auto& [kernel, values] : kernels) {
    const double more = values[rank] - median_without(values, rank);
    const bool both = values[rank] > 0 && median_without(values, rank) > 0;
    (both ? out : unlike)[kernel.first] += both ? std::max(0.0, more) : more;
  }
  for (std::size_t m = 0; m < modules.size(); ++m) out[m] += std::max(0.0, unlike[m]);
  add_to_parents(modules, out);
  return out;
}

StackTimes RankModules::host_stacks(const std::vector<RankModule>& modules, std::size_t module,
                                    std::size_t rank, const JobIterations& iterations) const {
  StackTimes out;
  const std::vector<std::size_t> places = places_of(modules, rank);
  std::vector<bool> inside(modules.size());
  for (std::size_t m = module; m < modules.size(); ++m)
    inside[m] = m == module || (modules[m].parent != 0 && inside[modules[m].parent]);
  for (const RankWork::HostSample& sample : ranks_[rank].work->host_samples()) {
    if (sample.iteration == RankWork::kNone) continue;
    const std::size_t place = sample.path < places.size() ? places[sample.path] : 0;
    const auto number =
        static_cast<std::size_t>(static_cast<std::int64_t>(sample.iteration) - waits_.first[rank]);
    if (inside[place] && std::binary_search(iterations.begin(), iterations.end(), number))
      out.add(sample.moment);
  }
  return out;
}

std::vector<std::size_t> RankModules::places_of(const std::vector<RankModule>& modules, std::size_t rank) {
  std::vector<std::size_t> out;
  for (std::size_t m = 0; m < modules.size(); ++m) {
    for (const std::uint32_t path : modules[m].paths[rank]) {
      if (path >= out.size()) out.resize(path + std::size_t{1});
      out[path] = m;
    }
  }
  return out;
}

std::vector<bool> RankModules::present(const std::vector<RankModule>& modules, std::size_t rank) const {
  std::vector<bool> out(modules.size());
  for (std::size_t i = modules.size(); i-- > 0;) {
    if (!modules[i].paths[rank].empty()) out[i] = true;
    if (out[i] && i != 0 && modules[i].parent != 0) out[modules[i].parent] = true;
  }
  return out;
}

RankModules::Waits RankModules::waits(const std::vector<RankModule>& modules, std::size_t rank,
                                      const JobIterations& iterations) const {
  const std::vector<std::size_t> places = places_of(modules, rank);
  Waits out{std::vector<double>(modules.size()), std::vector<double>(modules.size())};
  for (const auto& [at, wait] : waits_.modules[rank]) {
    const auto number = static_cast<std::size_t>(static_cast<std::int64_t>(at.second) - waits_.first[rank]);
    const std::uint32_t path = ranks_[rank].work->module_of(at.first);
    const std::size_t place = path < places.size() ? places[path] : 0;
    if (!std::binary_search(iterations.begin(), iterations.end(), number)) continue;
    const auto share = static_cast<double>(iterations.size());
    out.waited_ns[place] += static_cast<double>(wait.waited_ns) / share;
    out.transfer_ns[place] += static_cast<double>(wait.transfer_ns) / share;
  }
  add_to_parents(modules, out.waited_ns);
  add_to_parents(modules, out.transfer_ns);
  return out;
}

}  // namespace rangefinder
