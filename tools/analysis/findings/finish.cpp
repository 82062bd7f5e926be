// SPDX-License-Identifier: Apache-2.0
#include "tools/analysis/findings/finish.h"

#include <algorithm>
#include <cstdio>
#include <iterator>

#include "profiler/base/number_text.h"
#include "tools/analysis/findings/finding_context.h"
#include "tools/analysis/findings/rules.h"

namespace rangefinder {
namespace {

/// The time that savings are compared with.
struct Compared {
  std::uint64_t ns = 0;
  const char* name = "";  ///< "an iteration"
};

Compared compared_with(const FindingContext& context, const Rule& rule) {
  const bool loop = context.loop.found();
  if (loop && context.host_times_hold) return {context.span_ns, "an iteration"};
  if (rule.of_host()) return {context.span_ns, loop ? "an iteration" : "the time"};
  return {context.of_analysed(context.gpu_ns), loop ? "an iteration's GPU time" : "the GPU time"};
}

/// "12 %", "3.4 %".
std::string share_text(double share) {
  char text[32];
  std::snprintf(text, sizeof text, share >= 0.0995 ? "%.0f %%" : "%.1f %%", share * 100);
  return text;
}

std::string title_of(const Finding& finding, const Compared& compared, bool is_saving) {
  std::string out = finding.where.empty() ? finding.effect : "`" + finding.where + "` " + finding.effect;
  const std::string share =
      finding.share ? share_text(*finding.share) + " of " + compared.name : "in set-up or warm-up";
  if (is_saving) {
    const std::uint64_t ns = finding.saving_each_ns.value_or(*finding.saving_ns);
    return out + ": up to " + duration_text(ns) + (finding.share ? ", " : " ") + share;
  }
  return finding.of_ns == 0 ? out : out + " (" + share + ")";
}

void complete(const FindingContext& context, Finding& finding) {
  const Rule& rule = rule_named(finding.id);
  const Compared compared = compared_with(context, rule);
  finding.experimental = rule.experimental();
  finding.outside = context.rest;
  if (!context.rest) finding.of_ns = std::min(finding.of_ns, compared.ns);
  if (finding.saving_ns) finding.saving_ns = std::min(*finding.saving_ns, finding.of_ns);
  const std::uint64_t ns = finding.saving_ns.value_or(finding.of_ns);
  if (ns != 0 && compared.ns != 0 && !context.rest) {
    finding.share = static_cast<double>(ns) / static_cast<double>(compared.ns);
    finding.severity = severity_of(ns, compared.ns);
    // Time that the trace cannot show to be lost is no serious matter.
    if (!finding.saving_ns) finding.severity = *finding.share >= 0.10 ? Severity::notable : Severity::info;
  }
  if (context.rest) finding.severity = Severity::info;
  if (finding.saving_ns && context.loop.found() && !context.rest)
    finding.saving_each_ns = *finding.saving_ns / context.loop.count;
  finding.title = title_of(finding, compared, finding.saving_ns.has_value());
}

/// Warps wait because of what such a rule reports.
bool causes_waits(Cause cause) {
  return cause == Cause::traffic || cause == Cause::on_chip || cause == Cause::arithmetic;
}

/// Of two findings with the same cause and place, the one to show. nullptr: causes or places differ.
const Finding* better_of(const Finding& a, const Finding& b) {
  const Rule &of_a = rule_named(a.id), &of_b = rule_named(b.id);
  if (a.where != b.where || a.outside != b.outside) return nullptr;
  if (of_a.cause == of_b.cause) return of_b.rank < of_a.rank ? &b : &a;
  const bool any_a = of_a.cause == Cause::any_of_gpu, any_b = of_b.cause == Cause::any_of_gpu;
  const auto explains = [](const Rule& rule, const Finding& finding) {
    return !rule.of_host() && rule.cause != Cause::summary && finding.saving_ns;
  };
  if (any_a && explains(of_b, b)) return &b;
  if (any_b && explains(of_a, a)) return &a;
  if (of_a.cause == Cause::latency && causes_waits(of_b.cause)) return &b;
  if (of_b.cause == Cause::latency && causes_waits(of_a.cause)) return &a;
  return nullptr;
}

void take_over(Finding& shown, const Finding& other) {
  const std::string text = other.id + " (" + other.effect + ")";
  const auto also = std::find_if(shown.evidence.begin(), shown.evidence.end(),
                                 [](const Evidence& one) { return one.key == "also"; });
  if (also == shown.evidence.end()) {
    shown.evidence.push_back(evidence_text("also", "the same cause:", text));
  } else {
    also->value = std::get<std::string>(also->value) + "; " + text;
  }
}

bool heavier(const Finding& a, const Finding& b) {
  if (a.outside != b.outside) return b.outside;
  if (a.saving_ns.has_value() != b.saving_ns.has_value()) return a.saving_ns.has_value();
  if (a.saving_ns != b.saving_ns) return *a.saving_ns > *b.saving_ns;
  if (a.severity != b.severity) return a.severity > b.severity;
  return a.share.value_or(0) > b.share.value_or(0);
}

}  // namespace

void complete_findings(const FindingContext& context, std::vector<Finding>& findings) {
  for (Finding& finding : findings) complete(context, finding);
}

void rank_findings(std::vector<Finding>& findings) {
  std::stable_sort(findings.begin(), findings.end(), heavier);
  for (std::size_t i = 0; i < findings.size(); ++i) {
    for (std::size_t k = i + 1; k < findings.size();) {
      const Finding* const better = better_of(findings[i], findings[k]);
      if (better == nullptr) {
        ++k;
        continue;
      }
      if (better == &findings[k]) std::swap(findings[i], findings[k]);
      take_over(findings[i], findings[k]);
      findings.erase(findings.begin() + static_cast<std::ptrdiff_t>(k));
    }
  }
  std::stable_sort(findings.begin(), findings.end(), heavier);
}

}  // namespace rangefinder
