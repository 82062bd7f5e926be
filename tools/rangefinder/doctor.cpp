// SPDX-License-Identifier: Apache-2.0
//
// rangefinder doctor [--probe] [--json]: checks whether this machine can trace, and says how to fix it.
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "profiler/base/number_text.h"
#include "profiler/options/options.h"
#include "tools/analysis/queries/rows_json.h"
#include "tools/command_line/command_line.h"
#include "tools/rangefinder/doctor_checks.h"
#include "tools/rangefinder/doctor_probe.h"
#include "tools/rangefinder/probe_program.h"
#include "tools/rangefinder/terminal.h"
#include "tools/rangefinder/verb.h"

namespace rangefinder {
namespace {

using OrderedJson = nlohmann::ordered_json;

const char* word(Health health) {
  return health == Health::ok ? "ok" : health == Health::warn ? "warn" : "no";
}

const char* colour(Health health) {
  return health == Health::ok ? "\033[32m" : health == Health::warn ? "\033[33m" : "\033[31m";
}

struct DoctorOptions {
  std::string out;
  std::string root = "/";
  std::string probe_answer;  ///< not empty: this process is the probe and writes its answer here
  bool json = false;
  bool probe = false;
};

std::vector<HealthFinding> examine(const DoctorOptions& options) {
  const MachineFiles files(options.root);
  std::vector<HealthFinding> all{check_system(files), check_cores(files), check_memory(files)};
  const auto add = [&all](std::vector<HealthFinding> more) {
    all.insert(all.end(), more.begin(), more.end());
  };
  add(check_container(files));
  const GpuCheck gpu = check_gpu();
  add(gpu.findings);
  add({check_library()});
  const std::vector<HealthFinding> cupti = check_cupti();
  add(cupti);
  add({check_pairing(gpu.driver_version, cupti), check_permission(files)});
  add(check_other_tools(files));
  add(check_library_path());
  add(check_sharing(files));
  add({check_disk(options.out)});
  if (!options.probe) return all;
  if (gpu.has_gpu) {
    add(probe_features());
  } else {
    all.push_back({"probe", Health::warn, "not tried: there is no GPU", "", false});
  }
  return all;
}

std::string as_text(const std::vector<HealthFinding>& findings) {
  const bool coloured = use_colour(STDOUT_FILENO);
  std::string out;
  for (const HealthFinding& finding : findings) {
    std::string health = word(finding.health);
    health.resize(5, ' ');
    std::string name = finding.check;
    name.resize(std::max<std::size_t>(name.size() + 1, 15), ' ');
    out += coloured ? colour(finding.health) + health + "\033[0m" : health;
    out += name + printable(finding.text) + "\n";
    if (!finding.fix.empty()) out += std::string(20, ' ') + "→ " + printable(finding.fix) + "\n";
  }
  return out;
}

OrderedJson as_json(const std::vector<HealthFinding>& findings, bool can_trace) {
  OrderedJson out{{"schema", "rangefinder.doctor"},
                  {"version", "1.0"},
                  {"can_trace", can_trace},
                  {"checks", OrderedJson::array()}};
  for (const HealthFinding& finding : findings) {
    OrderedJson row{{"check", finding.check}, {"health", word(finding.health)}, {"text", finding.text}};
    if (!finding.fix.empty()) row["cure"] = finding.fix;
    row["needed"] = finding.needed;
    out["checks"].push_back(std::move(row));
  }
  return out;
}

int doctor(const DoctorOptions& options) {
  if (!options.probe_answer.empty()) return run_probe_program(options.probe_answer);
  const std::vector<HealthFinding> findings = examine(options);
  const bool can_trace = std::none_of(findings.begin(), findings.end(), [](const HealthFinding& finding) {
    return finding.needed && finding.health == Health::no;
  });
  if (options.json) {
    std::cout << dump_json(as_json(findings, can_trace)) << "\n";
  } else {
    std::cout << as_text(findings);
    std::cout << (can_trace ? "\nThis machine can trace.  Next:  rangefinder run -- ./app\n"
                            : "\nThis machine cannot trace yet: see the lines marked `no`.\n");
  }
  return can_trace ? kExitOk : kExitMissing;
}

}  // namespace

void add_doctor(CommandLine& line, Action& action) {
  const auto options = std::make_shared<DoctorOptions>();
  const char* const from_environment = std::getenv("RANGEFINDER_OUT");
  options->out = from_environment == nullptr ? Options{}.out : from_environment;
  Verb verb = line.verb("doctor", "Check whether this machine can trace, and how to fix it");
  verb.option("--out", options->out, "Folder of the trace to write: check access and free space")
      .type_name("DIR");
  verb.flag("--probe", options->probe,
            "Also trace a small program with every feature, and report what works here");
  verb.option("--root", options->root,
              "Read /proc, /sys and /etc below this folder, such as a copy from another machine")
      .type_name("DIR")
      .existing_directory();
  verb.option(kProbeFlag, options->probe_answer, "").hidden();
  verb.flag("--json", options->json, "As JSON");
  add_color_option(verb);
  verb.callback([options, &action] { action = [options] { return doctor(*options); }; });
}

}  // namespace rangefinder
