// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstddef>
#include <iterator>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>

#include "profiler/base/iteration_names.h"
#include "profiler/base/number_text.h"
#include "profiler/metrics/named_metrics.h"
#include "tools/analysis/diff/trace_diff.h"
#include "tools/analysis/queries/cells.h"
#include "tools/analysis/queries/kernel_labels.h"
#include "tools/analysis/table/table_render.h"

namespace rangefinder {
namespace {

struct QuantityName {
  const char* key;
  const char* title;
  Unit unit;
  const char *worse = "worse", *better = "better";
};
/// By Quantity.
constexpr QuantityName kQuantityNames[] = {
    {"gpu_ns", "GPU time", Unit::ns},
    {"dram_bytes", "DRAM", Unit::bytes},
    {"l2_bytes", "L2", Unit::bytes},
    {"wall_ns", "wall time", Unit::ns, "slower", "faster"},
    {"wall_p95_ns", "wall time, p95", Unit::ns, "slower", "faster"},
    {"wall_longest_ns", "wall time, longest", Unit::ns, "slower", "faster"},
    {"gpu_busy_ns", "GPU busy", Unit::ns, "slower", "faster"},
    {"gpu_idle_ns", "GPU idle", Unit::ns, "more", "less"},
    {"gpu_idle_copies_ns", "idle: copies", Unit::ns, "more", "less"},
    {"gpu_idle_queued_ns", "idle: launched kernels", Unit::ns, "more", "less"},
    {"gpu_idle_function_ns", "idle: host functions", Unit::ns, "more", "less"},
    {"gpu_idle_launch_ns", "idle: launching", Unit::ns, "more", "less"},
    {"gpu_idle_sync_ns", "idle: waiting", Unit::ns, "more", "less"},
    {"gpu_idle_memory_ns", "idle: allocating", Unit::ns, "more", "less"},
    {"gpu_idle_host_ns", "idle: host code", Unit::ns, "more", "less"},
    {"host_ns", "host time", Unit::ns, "slower", "faster"},
    {"launches", "launches", Unit::count, "more", "fewer"},
    {"kernels", "kernels", Unit::count, "more", "fewer"},
    {"gpu_memory_bytes", "GPU memory, peak", Unit::bytes, "more", "less"},
    {"rank_wait_ns", "waits, mean rank", Unit::ns, "more", "less"},
    {"transfer_ns", "communication", Unit::ns, "more", "less"}};

/// By Verdict.
constexpr const char* kVerdictNames[] = {"same", "better",  "worse",    "new",
                                         "gone", "unclear", "untested", "fused"};

const char* verdict_name(Verdict verdict) {
  return kVerdictNames[static_cast<std::size_t>(verdict)];
}

const QuantityName& name_of(Quantity quantity) {
  return kQuantityNames[static_cast<std::size_t>(quantity)];
}

bool is_tested(Quantity quantity) {
  return quantity != Quantity::wall_p95_ns && quantity != Quantity::wall_longest_ns &&
         quantity != Quantity::memory_bytes;
}

/// A value in the unit of its quantity: one column holds times and bytes.
Cell value_cell(const std::optional<double>& value, Quantity quantity, bool with_sign = false) {
  if (!value) return {};
  return Cell(CellValue(*value), value_text(*value, quantity, with_sign));
}

Cell percent_cell(const std::optional<double>& part) {
  if (!part) return {};
  std::string text = cell_text(Cell(CellValue(*part)), Unit::share, false);
  if (*part > 0) text.insert(0, 1, '+');
  return Cell(CellValue(*part), std::move(text));
}

/// Half the 95 % interval of the relative change, or the stated error of samples.
Cell interval_cell(const Change& change) {
  if (!change.a || *change.a == 0) return {};
  std::optional<double> half = change.bound;
  if (change.test) half = change.test->half_interval;
  if (!half) return {};
  const double part = *half / *change.a;
  return Cell(CellValue(part), cell_text(Cell(CellValue(part)), Unit::share, false));
}

std::vector<TableColumn> value_columns() {
  return {{"quantity", "what", Unit::text},
          {"a", "A", Unit::number, 90},
          {"b", "B", Unit::number, 90},
          {"difference", "B - A", Unit::number, 60},
          {"relative", "change", Unit::share, kAlwaysShown, "B - A over A"},
          {"relative_interval", "±", Unit::share, 80,
           "half the 95 % confidence interval of the change; of sampled bytes their error"},
          {"p", "p", Unit::number, 20},
          {"n_a", "n A", Unit::count, 10, "batches of iterations"},
          {"n_b", "n B", Unit::count, 10, "batches of iterations"},
          {"verdict", "verdict", Unit::text}};
}

/// The cells of value_columns().
void add_values(std::vector<Cell>& cells, const Change& change, const char* verdict) {
  const QuantityName& quantity = name_of(change.quantity);
  const bool tested = is_tested(change.quantity);
  std::optional<double> difference;
  if (change.a && change.b) difference = *change.b - *change.a;
  cells.insert(cells.end(), {Cell(CellValue(std::string(quantity.key)), quantity.title),
                             value_cell(change.a, change.quantity), value_cell(change.b, change.quantity),
                             value_cell(difference, change.quantity, true), percent_cell(change.relative()),
                             interval_cell(change), change.test ? Cell(CellValue(change.test->p)) : Cell(),
                             cell_if(tested, change.n_a), cell_if(tested, change.n_b), Cell(verdict)});
}

/// The kernels' names as tables show them, by their full names.
std::map<std::string_view, std::string> labels_of(const std::vector<Change>& kernels) {
  std::map<std::string_view, std::string> out;
  for (const Change& change : kernels) out.try_emplace(change.key);
  std::vector<std::string_view> names;
  for (const auto& [name, label] : out) names.push_back(name);
  const std::vector<std::string> labels = kernel_labels(names);
  for (std::size_t i = 0; i < names.size(); ++i) out[names[i]] = labels[i];
  return out;
}

/// "": no row is of a module in a fused kernel.
std::string fused_remark(const std::vector<Change>& changes, bool all) {
  std::uint64_t fused = 0;
  for (const Change& change : changes) {
    if (change.verdict == Verdict::fused && change.quantity == Quantity::gpu_ns) ++fused;
  }
  if (fused == 0) return "";
  return (all ? "fused: " : "Hidden (--all): ") + counted_text(fused, "module", "modules") +
         " that only one of the traces has in kernels fused over several. Compare the modules around them.\n";
}

/// "a_min_ns" ─▶ "A, min": of the ranks of a job.
std::string rank_title(std::string_view key) {
  return std::string(key[0] == 'a' ? "A, " : "B, ") + std::string(key.substr(2, 3));
}

/// Of paths, or of kernels.
Table changes_table(const char* name, const char* title, const std::vector<Change>& changes, bool all) {
  const bool kernels = std::string_view(name) == "kernels";
  Table out;
  out.name = name;
  out.title = title;
  out.empty = all ? "Nothing to compare." : "No change (--all shows every row).";
  out.cut = kernels || !all ? CutSide::front : CutSide::back;
  out.sortable = kernels;
  out.columns = value_columns();
  out.columns.insert(out.columns.begin(),
                     {kernels ? "name" : "path", kernels ? "kernel" : "module", Unit::text});
  if (kernels) out.columns.push_back({"where", "mostly in", Unit::text, 30});
  const bool ranks = std::any_of(changes.begin(), changes.end(),
                                 [](const Change& change) { return change.ranks_a.has_value(); });
  if (ranks) {
    for (const char* const key : {"a_min_ns", "a_max_ns", "b_min_ns", "b_max_ns"})
      out.columns.push_back({key, rank_title(key), Unit::ns, 50});
  }
  if (!kernels) out.remarks = fused_remark(changes, all);
  const auto labels = kernels ? labels_of(changes) : std::map<std::string_view, std::string>();
  for (const Change& change : changes) {
    if (!all && !change.is_changed()) continue;
    const std::string shown = kernels ? labels.at(change.key) : change.shown;
    std::vector<Cell> cells{Cell(CellValue(change.key), all || kernels ? shown : change.key)};
    add_values(cells, change, verdict_name(change.verdict));
    if (kernels) cells.push_back(Cell(CellValue(change.where)));
    for (const std::optional<RankSpread>& spread : {change.ranks_a, change.ranks_b}) {
      if (!ranks) break;
      cells.push_back(spread ? number_cell(static_cast<std::uint64_t>(spread->min_ns)) : Cell());
      cells.push_back(spread ? number_cell(static_cast<std::uint64_t>(spread->max_ns)) : Cell());
    }
    out.add(std::move(cells));
  }
  return out;
}

Table iteration_table(const std::vector<Change>& changes) {
  Table out;
  out.name = "iteration";
  out.title = "Iteration: medians";
  out.empty = "No iterations in one of the traces.";
  out.sortable = false;
  out.columns = value_columns();
  for (const Change& change : changes) {
    std::vector<Cell> cells;
    add_values(cells, change, iteration_verdict_name(change));
    out.add(std::move(cells));
  }
  return out;
}

/// Without rows that did not change, unless `all`.
Table metrics_table(const std::vector<MetricChange>& changes, bool all) {
  Table out;
  out.name = "metrics";
  out.title = "Metrics";
  out.cut = CutSide::front;
  out.columns = {{"path", "module or kernel", Unit::text},
                 {"kind", "kind", Unit::text, 20},
                 {"metric", "metric", Unit::text},
                 {"a", "A", Unit::number},
                 {"b", "B", Unit::number},
                 {"relative", "change", Unit::share, kAlwaysShown, "B - A over A"},
                 {"verdict", "verdict", Unit::text}};
  const auto value = [](const MetricChange& change, double of) {
    const std::string unit = change.metric->unit;
    const std::string text =
        cell_text(Cell(CellValue(of)), unit == "%" ? Unit::percent : Unit::number, false);
    return Cell(CellValue(of), unit == "%" || unit.empty() ? text : text + " " + unit);
  };
  for (const MetricChange& change : changes) {
    if (change.verdict == Verdict::same && !all) continue;
    const bool neither = change.verdict == Verdict::unclear;
    const std::string shown = change.of_kernel ? short_kernel_name(change.key) : change.key;
    out.add({Cell(CellValue(change.key), shown), Cell(change.of_kernel ? "kernel" : "module"),
             Cell(CellValue(std::string(change.metric->name)), change.metric->title), value(change, change.a),
             value(change, change.b),
             percent_cell(change.a == 0 ? std::nullopt : std::optional((change.b - change.a) / change.a)),
             Cell(neither ? (change.b > change.a ? "higher" : "lower") : verdict_name(change.verdict))});
  }
  return out;
}

/// Modules that differ in a number, and changed alike in one quantity.
struct AlikeChanges {
  Change sum;
  std::size_t count = 0;
  bool fails = false;
  double half = 0;  ///< of the interval of the sum

  void add(const Change& change) {
    if (count++ == 0) {
      sum = change;
    } else {
      if (sum.a && change.a) *sum.a += *change.a;
      if (sum.b && change.b) *sum.b += *change.b;
    }
    half = root_sum_square(half, change.bound ? *change.bound : change.test ? change.test->half_interval : 0);
  }
};

std::vector<AlikeChanges> alike(const TraceDiff& diff, const std::vector<const Change*>& failed) {
  using Key = std::tuple<std::string, Quantity, Verdict, bool>;
  std::map<Key, std::size_t> positions;
  std::vector<AlikeChanges> out;
  for (const Change& change : diff.modules) {
    if (!change.is_changed()) continue;
    const bool fails = std::find(failed.begin(), failed.end(), &change) != failed.end();
    const Key key{numbers_folded(change.key), change.quantity, change.verdict, fails};
    const auto [at, fresh] = positions.try_emplace(key, out.size());
    if (fresh) out.emplace_back().fails = fails;
    out[at->second].add(change);
  }
  return out;
}

}  // namespace

std::string_view verdict_tone(std::string_view verdict) noexcept {
  const auto is = [verdict](Verdict one, const char* QuantityName::*word) {
    return verdict == verdict_name(one) ||
           (word != nullptr && std::any_of(std::begin(kQuantityNames), std::end(kQuantityNames),
                                           [&](const QuantityName& name) { return verdict == name.*word; }));
  };
  if (is(Verdict::worse, &QuantityName::worse)) return "worse";
  if (is(Verdict::better, &QuantityName::better)) return "better";
  const bool neither = verdict == "higher" || verdict == "lower";  // of a metric
  return neither || is(Verdict::appeared, nullptr) || is(Verdict::gone, nullptr) ? "changed" : "";
}

const char* quantity_key(Quantity quantity) noexcept {
  return name_of(quantity).key;
}

std::optional<Quantity> quantity_of(std::string_view key) noexcept {
  for (std::size_t i = 0; i < std::size(kQuantityNames); ++i) {
    if (key == kQuantityNames[i].key) return static_cast<Quantity>(i);
  }
  return {};
}

std::string value_text(double value, Quantity quantity, bool with_sign) {
  const Unit unit = name_of(quantity).unit;
  const std::string text = cell_text(Cell(CellValue(value)), unit, false);
  return with_sign && value > 0 ? "+" + text : text;
}

const char* iteration_verdict_name(const Change& change) noexcept {
  const QuantityName& quantity = name_of(change.quantity);
  if (change.verdict == Verdict::worse) return quantity.worse;
  if (change.verdict == Verdict::better) return quantity.better;
  const bool few = std::min(change.n_a, change.n_b) < kMinForVerdict;
  return change.verdict == Verdict::untested && few && is_tested(change.quantity)
             ? "too few"
             : verdict_name(change.verdict);
}

Table modules_for_comment(const TraceDiff& diff, const std::vector<const Change*>& failed) {
  constexpr std::size_t kRows = 20;
  std::vector<AlikeChanges> rows = alike(diff, failed);
  const auto rank = [](const AlikeChanges& row) {
    return row.fails ? 0 : row.sum.verdict == Verdict::worse ? 1 : 2;
  };
  std::stable_sort(rows.begin(), rows.end(), [&rank](const AlikeChanges& x, const AlikeChanges& y) {
    if (rank(x) != rank(y)) return rank(x) < rank(y);
    return weight(x.sum) > weight(y.sum);
  });
  const auto fails = static_cast<std::size_t>(
      std::count_if(rows.begin(), rows.end(), [](const AlikeChanges& row) { return row.fails; }));
  const std::size_t shown = std::min(rows.size(), std::max(kRows, fails));
  const bool any_worse = !rows.empty() && rank(rows.front()) < 2;
  Table out = changes_table("modules", any_worse ? "Modules, what got worse first" : "Modules", {}, false);
  out.empty = "No change.";
  if (shown < rows.size()) out.title += ": " + count_text(shown) + " of " + count_text(rows.size()) + " rows";
  for (std::size_t i = 0; i < shown; ++i) {
    AlikeChanges& row = rows[i];
    std::string name = row.sum.key;
    if (row.count > 1) {
      name = numbers_folded(name) + " (" + count_text(row.count) + ")";
      row.sum.test.reset();
      row.sum.bound = row.half > 0 ? std::optional(row.half) : std::nullopt;
    }
    std::vector<Cell> cells{Cell(CellValue(row.sum.key), name)};
    add_values(cells, row.sum, row.fails ? "worse, over the limit" : verdict_name(row.sum.verdict));
    out.add(std::move(cells));
  }
  return out;
}

std::vector<Table> diff_tables(const TraceDiff& diff, bool all) {
  std::vector<Change> modules = diff.modules;
  if (!all) heaviest_first(modules);
  std::vector<Table> out{iteration_table(diff.iterations), changes_table("modules", "Modules", modules, all),
                         changes_table("kernels", "Kernels", diff.kernels, all)};
  Table metrics = metrics_table(diff.metrics, all);
  if (!metrics.rows.empty()) out.push_back(std::move(metrics));
  Table calls = changes_table("calls", "Outside of iterations: per call", diff.calls, all);
  if (!calls.rows.empty()) out.push_back(std::move(calls));
  return out;
}

}  // namespace rangefinder
