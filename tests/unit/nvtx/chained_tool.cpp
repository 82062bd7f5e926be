// SPDX-License-Identifier: Apache-2.0
//
// Another NVTX tool in a shared library, which logs the calls that it receives. Like a
// careless real tool it dereferences handles without checking them.
#include "tests/unit/nvtx/chained_tool.h"

#include <cstdint>
#include <string>

#include "tests/nvtx_tool.h"

namespace {

using test::set;

struct Handle {
  std::string text;
};

std::string g_log;
std::uint64_t g_next = 0x7001000000000000;

const std::string& text_of(const void* handle) {
  static const std::string none = "-";
  return handle == nullptr ? none : static_cast<const Handle*>(handle)->text;
}

void log_call(const std::string& call) {
  g_log += call + ";";
}

std::string message_of(const nvtxEventAttributes_t* event) {
  if (event->messageType == NVTX_MESSAGE_TYPE_REGISTERED) return "@" + text_of(event->message.registered);
  return event->message.ascii;
}

void attach_core(NvtxFunctionTable table) {
  set(
      table, NVTX_CBID_CORE_RangePushA, +[](const char* text) {
        log_call(std::string("push ") + text);
        return 0;
      });
  set(
      table, NVTX_CBID_CORE_RangePop, +[] {
        log_call("pop");
        return 0;
      });
  set(
      table, NVTX_CBID_CORE_RangeStartA, +[](const char* text) -> nvtxRangeId_t {
        log_call(std::string("start ") + text);
        return ++g_next;
      });
  set(
      table, NVTX_CBID_CORE_RangeEnd,
      +[](nvtxRangeId_t id) { log_call(id == g_next ? "end last" : "end other"); });
}

void attach_core2(NvtxFunctionTable table) {
  set(
      table, NVTX_CBID_CORE2_DomainCreateA,
      +[](const char* name) { return reinterpret_cast<nvtxDomainHandle_t>(new Handle{name}); });
  set(
      table, NVTX_CBID_CORE2_DomainRegisterStringA, +[](nvtxDomainHandle_t, const char* text) {
        return reinterpret_cast<nvtxStringHandle_t>(new Handle{text});
      });
  set(
      table, NVTX_CBID_CORE2_DomainRangePushEx,
      +[](nvtxDomainHandle_t domain, const nvtxEventAttributes_t* event) {
        log_call("push " + text_of(domain) + " " + message_of(event));
        return 0;
      });
  set(
      table, NVTX_CBID_CORE2_DomainResourceCreate, +[](nvtxDomainHandle_t domain, nvtxResourceAttributes_t*) {
        log_call("resource " + text_of(domain));
        return static_cast<nvtxResourceHandle_t>(nullptr);
      });
}

}  // namespace

extern "C" {
const char* chained_tool_log();
int InitializeInjectionNvtx2(NvtxGetExportTableFunc_t get);
// The headers give their types hidden visibility, which functions with such a parameter inherit by default.
__attribute__((visibility("default"))) int InitializeInjectionNvtxExtension(nvtxExtModuleInfo_t* module);

int InitializeInjectionNvtx2(NvtxGetExportTableFunc_t get) {
  const auto* const callbacks = static_cast<const NvtxExportTableCallbacks*>(get(NVTX_ETID_CALLBACKS));
  NvtxFunctionTable table = nullptr;
  unsigned size = 0;
  if (callbacks->GetModuleFunctionTable(NVTX_CB_MODULE_CORE, &table, &size) == 0) return 0;
  attach_core(table);
  if (callbacks->GetModuleFunctionTable(NVTX_CB_MODULE_CORE2, &table, &size) == 0) return 0;
  attach_core2(table);
  log_call("attached");
  return 1;
}

int InitializeInjectionNvtxExtension(nvtxExtModuleInfo_t* module) {
  if (module->moduleId != NVTX_EXT_PAYLOAD_MODULEID) return 0;
  const auto schema = +[](nvtxDomainHandle_t domain, const nvtxPayloadSchemaAttr_t*) -> std::uint64_t {
    log_call("schema " + text_of(domain));
    return NVTX_PAYLOAD_SCHEMA_ID_DYNAMIC_START + 4711;
  };
  const auto submit = +[](nvtxDomainHandle_t domain, const nvtxPayloadData_t*, std::size_t) {
    log_call("submit " + text_of(domain));
  };
  module->segments->functionSlots[NVTX3EXT_CBID_nvtxPayloadSchemaRegister] =
      reinterpret_cast<std::intptr_t>(schema);
  module->segments->functionSlots[NVTX3EXT_CBID_nvtxEventSubmit] = reinterpret_cast<std::intptr_t>(submit);
  return 1;
}

const char* chained_tool_log() {
  return g_log.c_str();
}
}
