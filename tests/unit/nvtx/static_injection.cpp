// SPDX-License-Identifier: Apache-2.0
//
// Makes the nvtx3 headers of this test program load our handlers, like a tool that is linked
// into the program: by two strong symbols.
#include <cstdlib>

#include "profiler/nvtx/nvtx.h"

namespace {

int initialize(NvtxGetExportTableFunc_t get_export_table) {
#ifdef RANGEFINDER_TEST_CHAIN
  rangefinder::nvtx_set_chain(RANGEFINDER_TEST_CHAIN);
#endif
  return rangefinder::nvtx_initialize_v2(get_export_table);
}

int initialize_extension(nvtxExtModuleInfo_t* module) {
  return rangefinder::nvtx_initialize_extension(module);
}

// The variable would take precedence over the symbols.
[[maybe_unused]] const int unset = unsetenv("NVTX_INJECTION64_PATH");

}  // namespace

extern "C" {
extern NvtxInitializeInjectionNvtxFunc_t InitializeInjectionNvtx2_fnptr;
extern NvtxExtInitializeInjectionFunc_t InitializeInjectionNvtxExtension_fnptr;
NvtxInitializeInjectionNvtxFunc_t InitializeInjectionNvtx2_fnptr = initialize;
NvtxExtInitializeInjectionFunc_t InitializeInjectionNvtxExtension_fnptr = initialize_extension;
}
