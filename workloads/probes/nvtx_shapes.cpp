// SPDX-License-Identifier: Apache-2.0
//
// Every form of NVTX, right and wrong, one after the other (nvtx_calls.h), from this program
// and from a plugin with its own copy of NVTX. Kernels inside some ranges show the paths.
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

void from_plugin(Told& told) {
  void* const plugin = dlopen(kPlugin, RTLD_NOW | RTLD_LOCAL);
  void* const symbol = plugin == nullptr ? nullptr : dlsym(plugin, "nvtx_shapes_plugin_run");
  if (symbol == nullptr) {
    std::fprintf(stderr, "nvtx_shapes: %s\n", dlerror());
    std::exit(kExitFailed);
  }
  const auto run = reinterpret_cast<void (*)(void (*)(void*), void*)>(symbol);
  const auto launch = [](void* with) {
    static_cast<Told*>(with)->kernel_under({"before the plugin", "of the plugin", "of its domain"});
  };
  nvtxRangePushA("before the plugin");
  run(launch, &told);
  nvtxRangePop();
  told.push_pop += 3;
  told.marks += 1;
  told.domains.push_back("shapes.plugin");
  told.names.push_back("mark of the plugin");
}

Array in_hex(const std::vector<std::string>& texts) {
  Array out;
  for (const std::string& text : texts) out.add(hex(text));
  return out;
}

Object loss(const Told& told) {
  return Object()
      .add("nvtx_pop_without_push", told.pop_without_push)
      .add("nvtx_end_unknown", told.end_unknown)
      .add("nvtx_unclosed", told.unclosed)
      .add("nvtx_too_deep", told.too_deep)
      .add("names_truncated", told.names_truncated);
}

Object expectation(const Told& told, bool cuda) {
  Array paths, payloads, categories;
  for (const ToldPath& path : told.paths) {
    paths.add(Object().add("names_hex", in_hex(path.names)).add("kernels", cuda ? path.kernels : 0));
  }
  for (const ToldPayload& payload : told.payloads) {
    payloads.add(Object().add("name", payload.name).add("type", payload.type).add("value", payload.value));
  }
  for (const ToldCategory& category : told.categories) {
    categories.add(
        Object().add("domain", category.domain).add("id", category.id).add("name_hex", hex(category.name)));
  }
  return Object()
      .add("probe", "nvtx_shapes")
      .add("cuda", cuda)
      .add("push_pop", told.push_pop)
      .add("push_pop_lines", told.push_pop - told.too_deep)
      .add("start_end", told.start_end)
      .add("end_on_another_thread", told.end_elsewhere)
      .add("marks", told.marks)
      .add("schemas", told.schemas)
      .add("schema_payload_hex", hex(told.schema_payload))
      .add("color", told.color)
      .add("domain_enabled", told.domain_enabled)
      .add("domains_hex", in_hex(told.domains))
      .add("threads_hex", in_hex(told.threads))
      .add("names_hex", in_hex(told.names))
      .add("categories", categories)
      .add("payloads", payloads)
      .add("paths", paths)
      .add("loss", loss(told));
}

void run(bool cuda) {
  if (cuda) require_gpu();  // first: a tool that starts with CUDA must not miss the calls below
  Told told;
  told.launch = [cuda] {
    if (cuda) check(launch_empty(132, nullptr), "launch");
  };
  push_forms(told);
  domains_out_of_order(told);
  start_end_forms(told);
  marks_and_payloads(told);
  registered_strings(told);
  thread_names(told);
  payload_extension(told);
  deep_stack(told);
  mistakes(told);
  odd_names(told);
  from_plugin(told);
  never_closed(told);
  if (cuda) check(cudaDeviceSynchronize(), "nvtx_shapes");
  print(expectation(told, cuda));
}

}  // namespace
}  // namespace rangefinder::probe

int main(int argc, char** argv) {
  bool no_cuda = false;
  rangefinder::Arguments arguments("Every form of NVTX");
  arguments.flag("--no-cuda", no_cuda, "Touch no GPU: ranges and marks alone");
  if (const std::optional<int> exit_code = arguments.parse(argc, argv)) return *exit_code;
  rangefinder::probe::run(!no_cuda);
}
