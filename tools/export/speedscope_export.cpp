// SPDX-License-Identifier: Apache-2.0
//
// Modules and their kernels as flame graphs for speedscope: GPU time, DRAM bytes, L2 bytes; and host stacks.
//
//   frames: model, decoder, layer 0, gemm<…>      one for each path and each kernel name
//   profile "GPU time of kernels", nanoseconds: [model, decoder, layer 0, gemm<…>]  1,234,567
//   profile "DRAM bytes", bytes
//   profile "host thread 4711 (main)", nanoseconds: [train (train.py:30), Loader.next (data.py:41)]
//   20,000,000
//
// Weights are exclusive; speedscope adds up the frames below. The profiles are sums without a timeline: each
// stack occurs once, for all of its calls.
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "schema/json_text.h"
#include "schema/key_names.h"
#include "tools/export/export_format.h"
#include "tools/export/value_text.h"
#include "tools/export/work_totals.h"

namespace rangefinder {
namespace {

using Stack = std::vector<std::uint32_t>;  // frames, outermost first

struct Frame {
  std::string name, file;  ///< file: of host functions
  std::uint32_t line = 0;
};

/// The frames of all traces in the file.
class Frames {
 public:
  /// `identity` distinguishes frames with the same name.
  std::uint32_t add(const std::string& identity, const std::string& name, const std::string& file = {},
                    std::uint32_t line = 0) {
    const auto [it, is_new] = ids_.try_emplace(identity, static_cast<std::uint32_t>(frames_.size()));
    // speedscope does not draw a frame without a name.
    if (is_new) frames_.push_back({name.empty() ? "(no name)" : name, file, line});
    return it->second;
  }
  [[nodiscard]] const std::vector<Frame>& all() const noexcept { return frames_; }

 private:
  std::map<std::string, std::uint32_t> ids_;
  std::vector<Frame> frames_;
};

/// Stacks in tree order, so that neighbours share their ancestors.
using Weights = std::map<Stack, std::uint64_t>;

struct Profile {
  std::string name;
  const char* unit;
  Weights weights;
};

class TraceProfiles {
 public:
  TraceProfiles(const WorkTotals& trace, Frames& frames) : trace_(trace), frames_(frames) {
    if (!trace.header.rank.empty()) prefix_ = "rank " + trace.header.rank + ": ";
  }

  void add_to(std::vector<Profile>& out) {
    time(out, "GPU time of kernels", [](const WorkKey& key) { return key.kind == WorkKind::kernel; });
    time(out, "GPU time of copies", [](const WorkKey& key) { return key.kind != WorkKind::kernel; });
    if (!trace_.exact.empty()) exact(out);
    if (trace_.sampled) samples(out, *trace_.sampled);
    for (const auto& [thread, stacks] : trace_.stack_ns) host_stacks(out, thread, stacks);
  }

 private:
  Stack stack(std::uint32_t path) {
    if (path == 0) return {frames_.add("outside", "(outside of any range)")};
    Stack out;
    for (std::uint32_t up = path; up != 0; up = trace_.parent_of(up)) {
      out.insert(out.begin(), frames_.add("path " + trace_.path_text(up), trace_.own_name(up)));
    }
    return out;
  }

  Stack stack(const WorkKey& key) {
    Stack out = stack(key.path);
    if (key.kind == WorkKind::kernel) {
      const std::string& name = trace_.kernel_name(key.name).demangled;
      out.push_back(frames_.add("kernel " + name, name));
    } else if (key.kind == WorkKind::memcpy && key.name < kCopyKindNames.size()) {
      const std::string name = "Memcpy " + std::string(kCopyKindNames[key.name]);
      out.push_back(frames_.add(name, name));
    } else if (key.kind == WorkKind::memset) {
      out.push_back(frames_.add("Memset", "Memset"));
    } else if (key.kind == WorkKind::graph) {
      out.push_back(frames_.add("CUDA graph", "CUDA graph"));
    }
    return out;
  }

  void time(std::vector<Profile>& out, const std::string& name,
            const std::function<bool(const WorkKey&)>& is_wanted) {
    Profile profile{prefix_ + name, "nanoseconds", {}};
    for (const auto& [key, sum] : trace_.work) {
      if (is_wanted(key) && sum.ns != 0) profile.weights[stack(key)] += sum.ns;
    }
    // speedscope rejects a file without a profile, so the profile of kernels is written even if empty.
    if (!profile.weights.empty() || out.empty()) out.push_back(std::move(profile));
  }

  void exact(std::vector<Profile>& out) {
    Profile dram{prefix_ + "DRAM bytes, read and written (measured launches)", "bytes", {}};
    Profile l2{prefix_ + "L2 bytes (measured launches)", "bytes", {}};
    for (const auto& [key, sum] : trace_.exact) {
      // An exact line has no direction of a copy, and a counter range does not name its launches.
      WorkKey at = key;
      if (key.kind == WorkKind::memcpy) at.name = static_cast<std::uint32_t>(CopyKind::unknown);
      if (sum.dram_read_bytes + sum.dram_write_bytes != 0) {
        dram.weights[stack(at)] += sum.dram_read_bytes + sum.dram_write_bytes;
      }
      if (sum.l2_bytes != 0) l2.weights[stack(at)] += sum.l2_bytes;
    }
    out.push_back(std::move(dram));
    out.push_back(std::move(l2));
  }

  void samples(std::vector<Profile>& out, const SampledTotals& totals) {
    Profile dram{prefix_ + "DRAM bytes, read and written (sampled)", "bytes", {}};
    Profile l2{prefix_ + "L2 bytes (sampled)", "bytes", {}};
    for (const SampledPath& path : totals.paths) {
      const std::uint64_t bytes = path.exclusive[0].bytes + path.exclusive[1].bytes;
      if (bytes != 0) dram.weights[stack(path.path)] += bytes;
      if (path.exclusive[2].bytes != 0) l2.weights[stack(path.path)] += path.exclusive[2].bytes;
    }
    const Stack unattributed{frames_.add("unattributed", "(unattributed)")};
    const auto& left = totals.samples.unattributed;
    if (left[0] + left[1] != 0) dram.weights[unattributed] += left[0] + left[1];
    if (left[2] != 0) l2.weights[unattributed] += left[2];
    out.push_back(std::move(dram));
    out.push_back(std::move(l2));
  }

  void host_stacks(std::vector<Profile>& out, std::uint32_t thread,
                   const std::map<std::uint32_t, std::uint64_t>& stacks) {
    const auto name = trace_.threads.find(thread);
    const bool named = name != trace_.threads.end() && !name->second.empty();
    const std::string shown = named ? " (" + name->second + ")" : "";
    Profile profile{prefix_ + "host thread " + std::to_string(thread) + shown, "nanoseconds", {}};
    Stack host, stack;
    for (const auto& [id, ns] : stacks) {
      trace_.stacks.frames_of(id, host);
      stack.clear();
      for (const std::uint32_t frame : host) stack.push_back(host_frame(trace_.stacks.frame(frame)));
      profile.weights[stack] += ns;
    }
    out.push_back(std::move(profile));
  }

  std::uint32_t host_frame(const FrameRecord& frame) {
    return frames_.add("host " + frame.function + " " + source_text(frame), frame.function, frame.file,
                       frame.line);
  }

  const WorkTotals& trace_;
  Frames& frames_;
  std::string prefix_;
};

void append_profile(OutputFile& file, const Profile& profile) {
  std::string& out = file.text();
  std::uint64_t total = 0;
  for (const auto& [stack, weight] : profile.weights) total += weight;
  out += "{\"type\":\"sampled\",\"name\":";
  append_json_string(out, profile.name);
  out += ",\"unit\":\"" + std::string(profile.unit) +
         "\",\"startValue\":0,\"endValue\":" + std::to_string(total);
  out += ",\"samples\":[";
  const char* separator = "";
  for (const auto& [stack, weight] : profile.weights) {
    out += separator;
    separator = ",";
    out += '[';
    for (std::size_t i = 0; i < stack.size(); ++i) out += (i == 0 ? "" : ",") + std::to_string(stack[i]);
    out += ']';
    file.drain();
  }
  out += "],\"weights\":[";
  separator = "";
  for (const auto& [stack, weight] : profile.weights) {
    out += separator + std::to_string(weight);
    separator = ",";
  }
  out += "]}";
}

void append_frames(OutputFile& file, const Frames& frames) {
  const char* separator = "";
  for (const Frame& frame : frames.all()) {
    file.text() += separator;
    separator = ",\n";
    JsonObject object(file.text());
    object.text("name", frame.name);
    object.nonempty("file", frame.file);
    object.nonzero("line", frame.line);
    object.close();
    file.drain();
  }
}

}  // namespace

ExportResult export_speedscope(const ExportRequest& request) {
  OutputFile file(request.out, request.overwrite);
  ExportResult result;
  Frames frames;
  std::vector<Profile> profiles;
  std::string version;
  for (const TraceFolder& trace : request.traces) {
    const WorkTotals totals = load_work(recorded_trace(trace));
    note_trace(totals, result);
    note_untimed(totals, totals.untimed, result);
    TraceProfiles(totals, frames).add_to(profiles);
    version = totals.header.tool_version;
  }
  std::string& out = file.text();
  out += "{\"$schema\":\"https://www.speedscope.app/file-format-schema.json\",\"exporter\":";
  append_json_string(out, "rangefinder@" + version);
  out += ",\"name\":";
  append_json_string(out, request.traces.front().folder.filename().string());
  out += ",\"activeProfileIndex\":0,\"shared\":{\"frames\":[";
  append_frames(file, frames);
  out += "]},\n\"profiles\":[";
  for (std::size_t i = 0; i < profiles.size(); ++i) {
    if (i != 0) out += ",\n";
    append_profile(file, profiles[i]);
  }
  out += "]}\n";
  file.commit();
  result.files.push_back(request.out);
  return result;
}

}  // namespace rangefinder
