// SPDX-License-Identifier: Apache-2.0
//
// Every form of NVTX, correct and wrong, one after the other (nvtx_calls.h), from this program and from a
// plugin with its own copy of NVTX. Kernels inside some ranges show the paths.
#include <dlfcn.h>
#include <nvtx3/nvToolsExt.h>

#include "workloads/arguments.h"
#include "workloads/probes/cuda_check.h"
#include "workloads/probes/expectation.h"
#include "workloads/probes/kernels.h"
#include "workloads/probes/nvtx_calls.h"

namespace rangefinder::probe {
namespace {

constexpr const char* kPlugin = "libnvtx_shapes_plugin.so";  // found beside the program: RUNPATH is $ORIGIN

void from_plugin(ExpectedTrace& expected) {
  void* const plugin = dlopen(kPlugin, RTLD_NOW | RTLD_LOCAL);
  void* const symbol = plugin == nullptr ? nullptr : dlsym(plugin, "nvtx_shapes_plugin_run");
  if (symbol == nullptr) {
    std::fprintf(stderr, "nvtx_shapes: %s\n", dlerror());
    std::exit(kExitFailed);
  }
  const auto run = reinterpret_cast<void (*)(void (*)(void*), void*)>(symbol);
  const auto launch = [](void* with) {
    static_cast<ExpectedTrace*>(with)->kernel_under({"before the plugin", "of the plugin", "of its domain"});
  };
  nvtxRangePushA("before the plugin");
  run(launch, &expected);
  nvtxRangePop();
  expected.push_pop += 3;
  expected.marks += 1;
  expected.domains.push_back("shapes.plugin");
  expected.names.push_back("mark of the plugin");
}

Array in_hex(const std::vector<std::string>& texts) {
  Array out;
  for (const std::string& text : texts) out.add(hex(text));
  return out;
}

Object loss(const ExpectedTrace& expected) {
  return Object()
      .add("nvtx_pop_without_push", expected.pop_without_push)
      .add("nvtx_end_unknown", expected.end_unknown)
      .add("nvtx_unclosed", expected.unclosed)
      .add("nvtx_too_deep", expected.too_deep)
      .add("names_truncated", expected.names_truncated);
}

Object expectation(const ExpectedTrace& expected, bool cuda) {
  Array paths, payloads, categories;
  for (const ExpectedPath& path : expected.paths) {
    paths.add(Object().add("names_hex", in_hex(path.names)).add("kernels", cuda ? path.kernels : 0));
  }
  for (const ExpectedPayload& payload : expected.payloads) {
    payloads.add(Object().add("name", payload.name).add("type", payload.type).add("value", payload.value));
  }
  for (const ExpectedCategory& category : expected.categories) {
    categories.add(
        Object().add("domain", category.domain).add("id", category.id).add("name_hex", hex(category.name)));
  }
  return Object()
      .add("probe", "nvtx_shapes")
      .add("cuda", cuda)
      .add("push_pop", expected.push_pop)
      .add("push_pop_lines", expected.push_pop - expected.too_deep)
      .add("start_end", expected.start_end)
      .add("end_on_another_thread", expected.end_elsewhere)
      .add("marks", expected.marks)
      .add("schemas", expected.schemas)
      .add("schema_payload_hex", hex(expected.schema_payload))
      .add("color", expected.color)
      .add("domain_enabled", expected.domain_enabled)
      .add("domains_hex", in_hex(expected.domains))
      .add("threads_hex", in_hex(expected.threads))
      .add("names_hex", in_hex(expected.names))
      .add("categories", categories)
      .add("payloads", payloads)
      .add("paths", paths)
      .add("loss", loss(expected));
}

void run(bool cuda) {
  if (cuda) require_gpu();  // first: tools that start with CUDA must see the calls below
  ExpectedTrace expected;
  expected.launch = [cuda] {
    if (cuda) check(launch_empty(132, nullptr), "launch");
  };
  push_forms(expected);
  domains_out_of_order(expected);
  start_end_forms(expected);
  marks_and_payloads(expected);
  registered_strings(expected);
  thread_names(expected);
  payload_extension(expected);
  deep_stack(expected);
  mistakes(expected);
  odd_names(expected);
  from_plugin(expected);
  never_closed(expected);
  if (cuda) check(cudaDeviceSynchronize(), "nvtx_shapes");
  print(expectation(expected, cuda));
}

}  // namespace
}  // namespace rangefinder::probe

int main(int argc, char** argv) {
  bool no_cuda = false;
  rangefinder::Arguments arguments("Every form of NVTX");
  arguments.flag("--no-cuda", no_cuda, "Use no GPU: only ranges and marks");
  if (const std::optional<int> exit_code = arguments.parse(argc, argv)) return *exit_code;
  rangefinder::probe::run(!no_cuda);
}
