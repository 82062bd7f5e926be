// SPDX-License-Identifier: Apache-2.0
//
// Rules about the conditions of the run: clocks, CPU time, memory, other processes.
#include <algorithm>
#include <array>
#include <cstddef>
#include <string>
#include <string_view>

#include "profiler/base/number_text.h"
#include "tools/analysis/findings/facts.h"
#include "tools/analysis/findings/finding_context.h"
#include "tools/analysis/findings/rules.h"
#include "tools/analysis/queries/condition_log.h"
#include "tools/analysis/table/table_render.h"

namespace rangefinder {
namespace {

constexpr std::uint64_t kIdleReason = 0x1, kClockSetting = 0x2, kSoftwarePower = 0x4, kPowerBrake = 0x80;
constexpr std::uint64_t kThermalReasons = 0x8 | 0x20 | 0x40;
constexpr std::uint64_t kPowerReasons = kSoftwarePower | kPowerBrake;

/// The analysed time.
struct AnalysedSpan {
  explicit AnalysedSpan(const FindingContext& context) {
    const auto [first, last] = context.input.trace.totals.gpu_span();
    first_ns = context.loop.found() ? context.loop.start_ns : first;
    last_ns = context.loop.found() ? context.loop.end_ns : last;
  }
  [[nodiscard]] double seconds() const {
    return static_cast<double>(std::max<TimeNs>(last_ns - first_ns, 1)) / 1e9;
  }
  TimeNs first_ns = 0, last_ns = 0;
};

const ConditionLog::Series& series_of(const FindingContext& context, ConditionSubject subject,
                                      Condition what) {
  static const ConditionLog::Series kNone;
  const auto& subjects = context.facts.iteration_log.conditions().subjects();
  const auto at = subjects.find(subject);
  return at == subjects.end() ? kNone : at->second[static_cast<std::size_t>(what)];
}

HeldValues process_values(const FindingContext& context, Condition what) {
  const AnalysedSpan span(context);
  return ConditionLog::within(series_of(context, {ConditionOf::process, 0}, what), span.first_ns,
                              span.last_ns);
}

/// Time in which the GPU worked and its clock was below that of the rest of the run.
struct LowClock {
  std::uint64_t max_mhz = 0;
  double busy_s = 0, low_s = 0;  ///< time with work; of it, with a clock below kMinOfMax
  double lost_s = 0;             ///< of the low time: the part by which the clock was lower
  double low_mhz_s = 0;          ///< clock × time of the low time
  std::array<double, kThrottleReasons.size()> reason_s{};  ///< of the low time, by NVML's reason

  static constexpr double kMinOfMax = 0.95;

  void add(std::uint64_t mhz, std::uint64_t reasons, double seconds) {
    if ((reasons & kIdleReason) != 0 || seconds <= 0) return;
    busy_s += seconds;
    const double part = static_cast<double>(mhz) / static_cast<double>(std::max<std::uint64_t>(max_mhz, 1));
    if (part >= kMinOfMax) return;
    low_s += seconds;
    lost_s += seconds * (1 - part);
    low_mhz_s += seconds * static_cast<double>(mhz);
    for (std::size_t i = 0; i < kThrottleReasons.size(); ++i)
      if ((reasons & kThrottleReasons[i].bit) != 0) reason_s[i] += seconds;
  }
  [[nodiscard]] std::uint64_t main_reason() const {
    const auto most = std::max_element(reason_s.begin(), reason_s.end());
    return *most <= 0 ? 0 : kThrottleReasons[static_cast<std::size_t>(most - reason_s.begin())].bit;
  }
  [[nodiscard]] double mean_mhz() const { return low_s > 0 ? low_mhz_s / low_s : 0; }
};

/// The value that holds at `at_ns`; the first one before that.
std::uint64_t value_at(const ConditionLog::Series& series, TimeNs at_ns) {
  const auto after = std::upper_bound(series.begin(), series.end(), at_ns,
                                      [](TimeNs time, const auto& point) { return time < point.at_ns; });
  return (after == series.begin() ? series.front() : *(after - 1)).value;
}

LowClock low_clock(const FindingContext& context, std::uint32_t gpu) {
  const auto& clock = series_of(context, {ConditionOf::gpu, gpu}, Condition::sm_mhz);
  const auto& reasons = series_of(context, {ConditionOf::gpu, gpu}, Condition::throttle);
  LowClock out;
  if (clock.empty() || reasons.empty()) return out;
  for (const auto& point : clock) out.max_mhz = std::max(out.max_mhz, point.value);
  const AnalysedSpan span(context);
  std::vector<TimeNs> times{span.first_ns, span.last_ns};
  for (const auto* const series : {&clock, &reasons}) {
    for (const auto& point : *series)
      if (point.at_ns > span.first_ns && point.at_ns < span.last_ns) times.push_back(point.at_ns);
  }
  std::sort(times.begin(), times.end());
  for (std::size_t i = 0; i + 1 < times.size(); ++i)
    out.add(value_at(clock, times[i]), value_at(reasons, times[i]),
            static_cast<double>(times[i + 1] - times[i]) / 1e9);
  return out;
}

std::string_view reason_name(std::uint64_t bit) {
  const auto* const at = std::find_if(kThrottleReasons.begin(), kThrottleReasons.end(),
                                      [bit](const ThrottleReason& reason) { return reason.bit == bit; });
  return at == kThrottleReasons.end() ? "none" : at->name;
}

std::string reason_text(const FindingContext& context, std::uint32_t gpu, std::uint64_t reason) {
  if (reason == kSoftwarePower) {
    const auto& limit = series_of(context, {ConditionOf::gpu, gpu}, Condition::power_limit_w);
    return limit.empty() ? "its power limit" : "its power limit of " + count_text(limit.back().value) + " W";
  }
  if (reason == kPowerBrake) return "the power supply";
  if ((reason & kThermalReasons) != 0) return "its temperature";
  if (reason == kClockSetting) return "the clock that was set for applications";
  return "something that NVML does not name";
}

void add_clock_advice(std::uint64_t reason, Finding& finding) {
  if ((reason & kPowerReasons) != 0) {
    finding.next_step =
        "compare runs at equal clocks only; work that moves fewer bytes or uses smaller types needs less "
        "power";
    finding.code = "nvidia-smi -q -d POWER,PERFORMANCE";
  } else if ((reason & kThermalReasons) != 0) {
    finding.next_step = "check the cooling of this GPU against its neighbours";
    finding.code = "nvidia-smi -q -d TEMPERATURE,PERFORMANCE";
  } else {
    finding.next_step = "check which clocks are set for applications";
    finding.code = "nvidia-smi -q -d CLOCK,PERFORMANCE";
  }
}

/// Of the analysed work; without a loop the sum of its kernels.
std::uint64_t busy_ns(const FindingContext& context) {
  return context.loop.found() ? context.loop.busy_ns : context.gpu_ns;
}

/// `power`: those whose clock the power limit lowers, else the others.
void find_low_clocks(const FindingContext& context, std::string_view id, bool power,
                     std::vector<Finding>& out) {
  constexpr double kMinLost = 0.01;
  if (context.outside || context.span_ns == 0) return;
  for (const auto& [subject, conditions] : context.facts.iteration_log.conditions().subjects()) {
    if (subject.of != ConditionOf::gpu) continue;
    const LowClock low = low_clock(context, subject.id);
    const std::uint64_t reason = low.main_reason();
    if (low.busy_s <= 0 || ((reason & kPowerReasons) != 0) != power) continue;
    const double lost = low.lost_s / low.busy_s, low_part = low.low_s / low.busy_s;
    if (lost < kMinLost) continue;
    Finding finding{std::string(id)};
    finding.of_ns = std::min(busy_ns(context), context.span_ns);
    finding.saving_ns = static_cast<std::uint64_t>(lost * static_cast<double>(finding.of_ns));
    const std::string mean = count_text(static_cast<std::uint64_t>(low.mean_mhz()));
    finding.effect = "GPU " + std::to_string(subject.id) + " runs at " + mean + " MHz instead of " +
                     count_text(low.max_mhz) + ", because " + reason_text(context, subject.id, reason) +
                     " lowers its clock";
    finding.why = "For " + percent_text(low_part) +
                  " of the time with work the clock of the SMs was below 95 % of " + count_text(low.max_mhz) +
                  " MHz, the highest of this run; NVML's reason is " + std::string(reason_name(reason)) +
                  ". Only kernels that the SMs limit would gain all of it: DRAM has a clock of its own.";
    finding.evidence = {evidence_share("low_clock_share", "time with a low clock", low_part),
                        evidence_number("low_clock_mhz", "its mean, MHz", low.mean_mhz()),
                        evidence_number("max_clock_mhz", "highest, MHz", static_cast<double>(low.max_mhz)),
                        evidence_text("reason", "NVML's reason", std::string(reason_name(reason)))};
    add_clock_advice(reason, finding);
    out.push_back(std::move(finding));
    if (out.size() == kMaxFindings) return;
  }
}

std::uint64_t idle_ns(const FindingContext& context) {
  const std::uint64_t busy = busy_ns(context);
  return context.span_ns > busy ? context.span_ns - busy : 0;
}

/// Three significant digits.
std::string number_text(double value) {
  return cell_text(Cell(CellValue(value)), Unit::number, false);
}

std::string cores_text(double cores) {
  return number_text(cores) + (cores == 1 ? " core" : " cores");
}

}  // namespace

// The GPU's clock is lowered, for its temperature or because somebody set it.
void find_throttled(const FindingContext& context, std::vector<Finding>& out) {
  find_low_clocks(context, "throttled", false, out);
}

// The GPU's clock is lowered because it draws as much power as it may.
void find_power_capped(const FindingContext& context, std::vector<Finding>& out) {
  find_low_clocks(context, "power_capped", true, out);
}

// The process gets less CPU time than it could use: a cgroup's quota stopped it, or it uses all cores that it
// may use while the GPU is idle.
void find_cpu_limited(const FindingContext& context, std::vector<Finding>& out) {
  constexpr double kMinStopped = 0.02, kMinUsed = 0.9, kMinIdle = 0.1, kMinSwitchesPerS = 20;
  if (context.outside || context.span_ns == 0) return;
  const double seconds = AnalysedSpan(context).seconds();
  const HeldValues allowed = process_values(context, Condition::millicores);
  if (allowed.empty()) return;
  const double cores = static_cast<double>(allowed.median()) / 1000;
  const double used =
      static_cast<double>(process_values(context, Condition::cpu_ms).growth()) / 1e3 / seconds;
  const double stopped =
      static_cast<double>(process_values(context, Condition::quota_throttled_ms).growth()) / 1e3 / seconds;
  const double switches =
      static_cast<double>(process_values(context, Condition::involuntary_switches).growth()) / seconds;
  const bool by_quota = stopped >= kMinStopped;
  const std::uint64_t idle = idle_ns(context);
  const bool by_cores =
      used >= kMinUsed * cores && switches >= kMinSwitchesPerS && context.of_span(idle) >= kMinIdle;
  if (!by_quota && !by_cores) return;
  Finding finding{"cpu_limited"};
  finding.of_ns = context.span_ns;
  finding.saving_ns =
      by_quota ? std::min(idle, static_cast<std::uint64_t>(stopped * static_cast<double>(context.span_ns)))
               : idle;
  finding.effect = by_quota ? "The CPU quota of " + cores_text(cores) + " stops the process for " +
                                  percent_text(stopped) + " of the time"
                            : "The process uses all of the " + cores_text(cores) + " that it may use";
  finding.why = "It used " + cores_text(used) + " of " + cores_text(cores) + " and lost its core " +
                number_text(switches) + " times a second to other threads. The GPU was idle for " +
                percent_text(context.of_span(idle)) + " of the time.";
  finding.evidence = {
      evidence_number("cores_allowed", "cores allowed", cores),
      evidence_number("cores_used", "cores used", used),
      evidence_share("stopped_share", "stopped by the quota", stopped),
      evidence_number("involuntary_switches_per_s", "involuntary switches a second", switches)};
  finding.next_step = by_quota ? "give the container a larger CPU limit, or run fewer threads"
                               : "allow more cores, or run fewer threads: data loaders, OMP_NUM_THREADS";
  finding.code = by_quota ? "resources: {limits: {cpu: \"4\"}}" : "taskset -pc PID";
  out.push_back(std::move(finding));
}

// Pages of the process come from a disk while its iterations run.
void find_swapping(const FindingContext& context, std::vector<Finding>& out) {
  constexpr double kMinFaultsPerS = 20;
  if (context.outside || context.span_ns == 0) return;
  const double seconds = AnalysedSpan(context).seconds();
  const double faults =
      static_cast<double>(process_values(context, Condition::major_faults).growth()) / seconds;
  if (faults < kMinFaultsPerS) return;
  const HeldValues swap = process_values(context, Condition::swap_mib);
  const std::uint64_t swapped = swap.empty() ? 0 : swap.max();
  Finding finding{"swapping"};
  finding.severity = Severity::notable;
  finding.effect = "The process reads " + number_text(faults) + " pages a second back from a disk";
  finding.why = (swapped != 0 ? count_text(swapped) + " MiB of it are swapped out."
                              : std::string("Nothing of it is swapped out: these are pages of files, as of "
                                            "memory-mapped weights, that were dropped from memory.")) +
                " A thread waits for each page that it needs.";
  finding.evidence = {evidence_number("major_faults_per_s", "major page faults a second", faults),
                      evidence_count("swap_mib", "swapped out, MiB", swapped)};
  finding.next_step = "give it more memory, or keep less in memory";
  finding.code = "grep -E 'VmRSS|VmSwap' /proc/PID/status";
  out.push_back(std::move(finding));
}

// Another process runs kernels on the same GPU.
void find_shared_gpu(const FindingContext& context, std::vector<Finding>& out) {
  constexpr double kMinOthers = 0.1;
  if (context.outside || context.span_ns == 0) return;
  const AnalysedSpan span(context);
  for (const auto& [subject, conditions] : context.facts.iteration_log.conditions().subjects()) {
    if (subject.of != ConditionOf::gpu) continue;
    const auto of = [&](Condition what) {
      return ConditionLog::within(series_of(context, subject, what), span.first_ns, span.last_ns);
    };
    const HeldValues others = of(Condition::other_processes), load = of(Condition::gpu_busy_pct);
    if (others.empty() || load.empty() || others.max() == 0) continue;
    const double own = context.of_span(busy_ns(context));
    const double beyond = load.mean() / 100 - std::min(own, 1.0);
    if (beyond < kMinOthers) continue;
    Finding finding{"shared_gpu"};
    finding.of_ns = static_cast<std::uint64_t>(beyond * static_cast<double>(context.span_ns));
    finding.effect = "Another process works on GPU " + std::to_string(subject.id);
    finding.why = "The GPU was busy for " + percent_text(load.mean() / 100) +
                  " of the time, with kernels of this "
                  "process for " +
                  percent_text(own) + ". " +
                  counted_text(others.max(), "other process has", "other processes have") +
                  " a context on it; they take turns with this one.";
    finding.evidence = {evidence_count("other_processes", "other processes", others.max()),
                        evidence_share("gpu_busy_share", "busy, any process", load.mean() / 100),
                        evidence_share("own_busy_share", "busy, this process", own)};
    finding.next_step = "give the process a GPU of its own, or a MIG instance";
    finding.code = "nvidia-smi pmon -c 1";
    out.push_back(std::move(finding));
  }
}

}  // namespace rangefinder
