// SPDX-License-Identifier: Apache-2.0
//
// A shared object with its own copy of NVTX, which attaches to the tool on its first call. Its ranges nest
// into those of the program, because both are on one thread.
#include <nvtx3/nvToolsExt.h>

/// 2 push/pop ranges (one in the domain "shapes.plugin"), 1 mark; calls `launch` in both ranges.
extern "C" __attribute__((visibility("default"))) void nvtx_shapes_plugin_run(void (*launch)(void*),
                                                                              void* with) {
  nvtxRangePushA("of the plugin");
  const nvtxDomainHandle_t domain = nvtxDomainCreateA("shapes.plugin");
  nvtxEventAttributes_t a{};
  a.version = NVTX_VERSION;
  a.size = NVTX_EVENT_ATTRIB_STRUCT_SIZE;
  a.messageType = NVTX_MESSAGE_TYPE_ASCII;
  a.message.ascii = "of its domain";
  nvtxDomainRangePushEx(domain, &a);
  launch(with);
  nvtxDomainRangePop(domain);
  nvtxMarkA("mark of the plugin");
  nvtxRangePop();
}
