// SPDX-License-Identifier: Apache-2.0
#include "tools/analysis/diff/diff_answer.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <string_view>
#include <utility>

#include "profiler/base/number_text.h"
#include "tools/analysis/table/table_render.h"

namespace rangefinder {
namespace {

using OrderedJson = nlohmann::ordered_json;

OrderedJson side_json(const IterationSeries& series) {
  OrderedJson out{{"trace", series.title},
                  {"iteration_path", series.iteration_path},
                  {"iterations", series.iterations},
                  {"counters", series.counters},
                  {"batches", series.batches}};
  if (series.ranks != 0) out["ranks"] = series.ranks;
  if (!series.late.empty()) out["late"] = series.late;
  return out;
}

/// What fits the width of a comment.
void narrow(Table& table) {
  constexpr std::array<std::string_view, 7> kKeys{"path",     "quantity",          "a",      "b",
                                                  "relative", "relative_interval", "verdict"};
  for (TableColumn& column : table.columns)
    column.in.markdown = std::find(kKeys.begin(), kKeys.end(), column.key) != kKeys.end();
  keep_columns(table, &Outputs::markdown);
}

constexpr double kMinOfParent = 0.5;

double difference(const Change& change) {
  return change.b.value_or(0) - change.a.value_or(0);
}

/// Whether the change is one of time, and in the direction of `verdict` if that has one.
bool explains(const Change& change, Verdict verdict) {
  if (!change.is_changed()) return false;
  if (verdict == Verdict::worse) return difference(change) > 0;
  return verdict != Verdict::better || difference(change) < 0;
}

bool is_below(const std::string& path, const std::string& parent) {
  return path.size() > parent.size() && path.compare(0, parent.size(), parent) == 0 &&
         path[parent.size()] == '/';
}

/// The deepest module that has most of the change; nullptr: none.
const Change* largest_module(const TraceDiff& diff, Verdict verdict) {
  const Change* out = nullptr;
  for (bool deeper = true; deeper;) {
    const Change* next = nullptr;
    for (const Change& change : diff.modules) {
      if (change.quantity != Quantity::gpu_ns || !explains(change, verdict)) continue;
      if (out != nullptr && !is_below(change.key, out->key)) continue;
      if (next == nullptr || std::abs(difference(change)) > std::abs(difference(*next))) next = &change;
    }
    deeper = next != nullptr &&
             (out == nullptr || std::abs(difference(*next)) >= kMinOfParent * std::abs(difference(*out)));
    if (deeper) out = next;
  }
  return out;
}

/// What the host did in most of the change of the idle time: ", mostly in launch calls"; "": no one thing.
std::string idle_cause(const TraceDiff& diff, const Change& idle, Verdict verdict) {
  static const std::map<Quantity, const char*> kTexts{
      {Quantity::idle_copies_ns, "during copies"},
      {Quantity::idle_queued_ns, "between kernels already launched"},
      {Quantity::idle_function_ns, "in functions that a stream waited for"},
      {Quantity::idle_launch_ns, "in launch calls"},
      {Quantity::idle_sync_ns, "in waits for the GPU"},
      {Quantity::idle_memory_ns, "in allocations"},
      {Quantity::idle_code_ns, "outside of CUDA calls"}};
  for (const Change& change : diff.iterations) {
    if (is_idle_cause(change.quantity) && explains(change, verdict) &&
        std::abs(difference(change)) >= kMinOfParent * std::abs(difference(idle))) {
      return std::string(", mostly ") + kTexts.at(change.quantity);
    }
  }
  return "";
}

/// "", or " Largest change: …" as a sentence.
std::string largest_text(const TraceDiff& diff, Verdict verdict) {
  const Change* largest = largest_module(diff, verdict);
  std::string name = largest == nullptr ? "" : "GPU time of " + printable(largest->key);
  for (const Change& change : diff.iterations) {
    const bool of_gpu = change.quantity == Quantity::idle_ns || change.quantity == Quantity::rank_wait_ns ||
                        (change.quantity == Quantity::busy_ns && largest == nullptr);
    if (!of_gpu || !explains(change, verdict)) continue;
    if (largest != nullptr && std::abs(difference(change)) <= std::abs(difference(*largest))) continue;
    largest = &change;
    name = change.quantity == Quantity::idle_ns        ? "GPU idle"
           : change.quantity == Quantity::rank_wait_ns ? "waits for other ranks"
                                                       : "GPU busy";
  }
  if (largest == nullptr) return "";
  const std::string cause =
      largest->quantity == Quantity::idle_ns ? idle_cause(diff, *largest, verdict) : std::string();
  return " Largest change: " + name + " " + value_text(difference(*largest), largest->quantity, true) +
         cause + ".";
}

DiffVerdict of_iterations(const TraceDiff& diff, const Change& row, const IterationSeries& a,
                          const IterationSeries& b, double least) {
  const bool wall = row.quantity == Quantity::wall_ns;
  const std::string what = wall ? "an iteration takes " : "the kernels of an iteration take ";
  const std::string before = value_text(*row.a, row.quantity), after = value_text(*row.b, row.quantity);
  const double relative = row.relative().value_or(0);
  const std::string change = signed_percent(relative);
  if (row.verdict == Verdict::worse || row.verdict == Verdict::better) {
    const bool slower = row.verdict == Verdict::worse;
    return {slower ? "slower" : "faster", (slower ? "Slower: " : "Faster: ") + what + after + " instead of " +
                                              before + " (" + change + ")." +
                                              largest_text(diff, row.verdict)};
  }
  std::string both = what + before + " and " + after + " (" + change;
  const std::string counts =
      "; " + count_text(a.iterations) + " and " + count_text(b.iterations) + " iterations";
  const std::string largest = largest_text(diff, row.verdict);
  if (row.verdict == Verdict::same && std::abs(relative) < least)
    return {"same", "No change: " + both + ")." + largest};
  if (row.test) both += ", ± " + percent_text(row.test->half_interval / *row.a);
  if (row.verdict == Verdict::same)
    return {"same", "No significant change: " + both + counts + ")." + largest};
  if (row.verdict == Verdict::unclear)
    return {"unclear", "Unclear, the spread is too large: " + both + counts + ")." + largest};
  return {"too_few", "Too few iterations to test: " + both + counts + ", " + count_text(kMinForVerdict) +
                         " a side are needed)."};
}

/// "DRAM bytes of 277 modules: 4 more, 0 less."; empty: no row has a test.
std::string bytes_of_modules(const TraceDiff& diff, Quantity quantity, const char* name) {
  std::uint64_t tested = 0, more = 0, less = 0;
  for (const Change& change : diff.modules) {
    if (change.quantity != quantity || change.verdict == Verdict::untested) continue;
    if (change.a && change.b) ++tested;
    more += change.verdict == Verdict::worse ? 1 : 0;
    less += change.verdict == Verdict::better ? 1 : 0;
  }
  if (tested == 0) return "";
  return std::string(name) + " bytes of " + counted_text(tested, "module", "modules") + ": " +
         count_text(more) + " more, " + count_text(less) + " less.";
}

DiffVerdict of_other_counters(const TraceDiff& diff, const IterationSeries& a, const IterationSeries& b) {
  std::string text =
      "No verdict on time: A has counters " + a.counters + ", B " + b.counters +
      (a.counters == "exact" || b.counters == "exact" ? ", and exact counters run launches one at a time."
                                                      : ", which changes the times.");
  const std::string dram = bytes_of_modules(diff, Quantity::dram_bytes, "DRAM"),
                    l2 = bytes_of_modules(diff, Quantity::l2_bytes, "L2");
  for (const std::string& bytes : {dram, l2}) text += bytes.empty() ? "" : " " + bytes;
  if (dram.empty() && l2.empty()) {
    text += diff.enough ? " No module has bytes on both sides." : " Too few iterations to compare bytes.";
  }
  return {"other_counters", text};
}

DiffVerdict of_other_program(const IterationSeries& a, const IterationSeries& b) {
  return {"other_program", "No verdict: the programs differ, " + printable(program_name(a.header)) + " and " +
                               printable(program_name(b.header)) +
                               ", and have less than half of their GPU time in common modules or kernels."};
}

DiffVerdict of_modules(const TraceDiff& diff) {
  std::uint64_t changed = 0;
  for (const Change& change : diff.modules) {
    if (change.quantity == Quantity::gpu_ns && change.is_changed()) ++changed;
  }
  std::string text = "No iterations to test: ";
  text += changed == 0 ? "no module is new or gone."
                       : counted_text(changed, "module is", "modules are") + " new or gone.";
  return {"no_iterations", text + largest_text(diff, Verdict::same)};
}

std::string joined(const std::vector<std::string>& texts, const char* separator) {
  std::string out;
  for (const std::string& text : texts) out += (out.empty() ? "" : separator) + text;
  return out.empty() ? "none" : out;
}

std::string file_name(const std::string& path) {
  return std::filesystem::path(path).filename().string();
}

/// Without the program: the same one in another folder is no difference.
std::string arguments(const Header& header) {
  const std::vector<std::string>& all = header.command;
  return joined(all.empty() ? all : std::vector<std::string>(all.begin() + 1, all.end()), " ");
}

std::string side_lines(const char* name, const IterationSeries& series) {
  std::string out = std::string(name) + "  " + series.title + "\n";
  if (series.iteration_path.empty())
    return out + "   no iterations found: totals are compared, without a significance test\n";
  return out + "   " + counted_text(series.iterations, "iteration", "iterations") + " of " +
         printable(series.iteration_path) + ", in " + counted_text(series.batches, "batch", "batches") +
         "\n" + (series.late.empty() ? "" : "   " + series.late + "\n");
}

/// "A: 59 iterations of `out/before`. "
std::string side_text(const char* name, const IterationSeries& series) {
  return std::string(name) + ": " + counted_text(series.iterations, "iteration", "iterations") + " of `" +
         printable(series.title.substr(0, series.title.find("   "))) + "`. " +
         (series.late.empty() ? "" : printable(series.late) + " ");
}

std::string gpu_names(const IterationSeries& series) {
  return joined({series.gpus.begin(), series.gpus.end()}, ", ");
}

std::string monitor_mode(const Header& header) {
  if (header.monitor_period_ns == 0) return "off";
  return duration_text(header.monitor_window_ns) + " in " + duration_text(header.monitor_period_ns);
}

std::string clock_texts(const IterationSeries& series) {
  return joined({series.clocks.begin(), series.clocks.end()}, "; ");
}

/// GPU time of the kernels of an iteration. 0: no kernel has times.
double kernels_ns(const IterationSeries& series) {
  double out = 0;
  for (const auto& [name, kernel] : series.kernels)
    out += kernel.spreads[static_cast<std::size_t>(Quantity::gpu_ns)].mean();
  return out;
}

std::optional<double> ratio(double a, double b) {
  return a > 0 && b > 0 ? std::optional(a / b) : std::nullopt;
}

/// Unknown without iterations on both sides. A kernel that has another name in B counts like any other.
DiffRatios ratios_of(const TraceDiff& diff, const IterationSeries& a, const IterationSeries& b) {
  if (diff.iterations.empty() || diff.basis == Basis::bytes || diff.basis == Basis::none) return {};
  const Change& wall = diff.iterations.front();
  DiffRatios out{ratio(kernels_ns(a), kernels_ns(b)), {}, {}};
  if (wall.quantity == Quantity::wall_ns) out.iterations = ratio(wall.a.value_or(0), wall.b.value_or(0));
  const std::optional<double> clocks = clock_ratio(a.conditions, b.conditions);
  if (out.kernels && clocks) out.kernels_per_clock = *out.kernels / *clocks;
  return out;
}

constexpr std::string_view kDifferent = "Different ";

/// A line for each that differs. What decides about speed comes first.
std::vector<std::string> differences_of(const IterationSeries& a, const IterationSeries& b) {
  std::vector<std::string> out;
  const auto compare = [&out](const char* what, const std::string& of_a, const std::string& of_b) {
    if (of_a == of_b) return;
    out.push_back(std::string(kDifferent) + what + ": " + printable(of_a) + " and " + printable(of_b));
  };
  const auto iterations = [](const IterationSeries& series) {
    return series.iteration_path.empty() ? std::string("none") : series.iteration_path;
  };
  compare("GPUs", gpu_names(a), gpu_names(b));
  if (!a.clocks.empty() && !b.clocks.empty()) compare("clocks", clock_texts(a), clock_texts(b));
  for (const std::string& text : condition_differences(a.conditions, b.conditions))
    out.push_back(std::string(kDifferent) + text);
  compare("programs", file_name(a.header.executable), file_name(b.header.executable));
  compare("arguments", arguments(a.header), arguments(b.header));
  compare("drivers", a.header.driver_release, b.header.driver_release);
  compare("counters", a.counters, b.counters);
  compare("monitor modes", monitor_mode(a.header), monitor_mode(b.header));
  compare("iterations", iterations(a), iterations(b));
  if (a.ranks != b.ranks) compare("ranks", std::to_string(a.ranks), std::to_string(b.ranks));
  return out;
}

/// The wall time of an iteration decides. Without iterations on both sides the line is about modules. The
/// largest change is GPU idle or a module, the deepest one that has at least half of its parent's change.
DiffVerdict verdict_of(const TraceDiff& diff, const IterationSeries& a, const IterationSeries& b,
                       double least) {
  if (diff.basis == Basis::none) return of_other_program(a, b);
  if (diff.basis == Basis::bytes) return of_other_counters(diff, a, b);
  if (diff.iterations.empty()) return of_modules(diff);
  return of_iterations(diff, diff.iterations.front(), a, b, least);
}

}  // namespace

std::string DiffRatios::text() const {
  std::string out;
  if (kernels) out = "Kernels " + factor_text(*kernels) + " as fast";
  if (kernels_per_clock) out += " (" + factor_text(*kernels_per_clock) + " a clock cycle)";
  if (iterations) {
    out += out.empty() ? "Iterations " : ", iterations ";
    out += factor_text(*iterations) + " as fast";
  }
  return out.empty() ? out : out + ".";
}

DiffAnswer::DiffAnswer(IterationSeries of_a, IterationSeries of_b, const DiffOptions& how)
    : a(std::move(of_a)),
      b(std::move(of_b)),
      options(how),
      diff(compare(a, b, options)),
      verdict(verdict_of(diff, a, b, options.least)),
      ratios(ratios_of(diff, a, b)),
      differences(differences_of(a, b)) {}

std::string DiffAnswer::likely_cause() const {
  const std::optional<double> clocks = clock_ratio(a.conditions, b.conditions);
  if (!clocks || *clocks >= 1) return "";
  return "Likely cause: " + condition_differences(a.conditions, b.conditions).front() +
         ", of the GPU and not of the program.";
}

std::string DiffAnswer::set_ups() const {
  std::string out;
  for (const std::string& text : differences) {
    const std::size_t colon = text.find(':');
    out += out.empty() ? "Set-ups differ: " : "; ";
    out += text.substr(kDifferent.size(), colon - kDifferent.size()) + text.substr(colon + 1);
  }
  return out;
}

std::string DiffAnswer::sides_text() const {
  return side_lines("A", a) + side_lines("B", b);
}

std::string DiffAnswer::explanation() const {
  return "Values are per iteration. Wall time: until its GPU work is done; GPU idle: its part without a "
         "kernel.\n"
         "±: half the 95 % confidence interval of the change (sampled bytes: their "
         "stated error).\n"
         "better, worse: a change of at least " +
         percent_text(options.least) +
         " that is significant (Yuen's t-test over batches, Holm's correction, " +
         percent_text(options.alpha) +
         ").\nunclear: a change of 10 % or more that is not. untested: fewer than five iterations, or no "
         "test.\n";
}

OrderedJson DiffAnswer::json(const std::vector<Table>& tables) const {
  OrderedJson out{
      {"schema", "rangefinder.diff"}, {"version", "1.1"}, {"a", side_json(a)}, {"b", side_json(b)}};
  out["differences"] = differences;
  if (const std::string text = set_ups(); !text.empty()) out["set_ups"] = text;
  out["verdict"] = {{"result", verdict.result}, {"text", verdict.text}};
  if (const std::string text = ratios.text(); !text.empty()) {
    if (ratios.kernels) out["ratios"]["kernels"] = *ratios.kernels;
    if (ratios.iterations) out["ratios"]["iterations"] = *ratios.iterations;
    if (ratios.kernels_per_clock) out["ratios"]["kernels_per_clock"] = *ratios.kernels_per_clock;
    out["ratios"]["text"] = text;
  }
  for (const Table& table : tables) out[table.name] = render_rows(table);
  return out;
}

std::string DiffAnswer::markdown(std::vector<Table> tables, const std::vector<const Change*>& failed,
                                 const std::string& outcome) const {
  std::string out = "**" + printable(verdict.text) + "**\n\n" + outcome + (outcome.empty() ? "" : "\n");
  if (const std::string text = set_ups(); !text.empty()) out += printable(text) + "\n\n";
  for (Table& table : tables) {
    if (table.name == "kernels") continue;
    if (table.name == "modules") table = modules_for_comment(diff, failed);
    narrow(table);
    out += render_markdown(table, false) + "\n";
  }
  if (const std::string text = ratios.text(); !text.empty()) out += text + "\n\n";
  return out + side_text("A", a) + side_text("B", b) +
         "±: half the 95 % confidence interval of the change.\n";
}

}  // namespace rangefinder
