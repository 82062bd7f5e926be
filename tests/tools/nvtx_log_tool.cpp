// SPDX-License-Identifier: Apache-2.0
//
// An NVTX tool for tests: writes a line to the file NVTX_LOG for each call of a domain's function, and for
// each push and pop of the default domain. Levels are counted by thread, all domains together.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "tests/nvtx_tool.h"

namespace {

using test::set;

thread_local int g_level = 0;

std::FILE* log_file() {
  static std::FILE* const file = std::fopen(std::getenv("NVTX_LOG"), "a");
  return file;
}

const char* domain_name(nvtxDomainHandle_t domain) {
  return domain == nullptr ? "default" : reinterpret_cast<const char*>(domain);
}

int push(nvtxDomainHandle_t domain, const nvtxEventAttributes_t* event) {
  const bool registered = event->messageType == NVTX_MESSAGE_TYPE_REGISTERED;
  const char* const text =
      registered ? reinterpret_cast<const char*>(event->message.registered) : event->message.ascii;
  std::fprintf(log_file(), "push %s %s%s", domain_name(domain), registered ? "" : "unregistered ", text);
  if (event->payloadType == NVTX_PAYLOAD_TYPE_UNSIGNED_INT64)
    std::fprintf(log_file(), " category %u payload %llu", event->category,
                 static_cast<unsigned long long>(event->payload.ullValue));
  if (event->colorType == NVTX_COLOR_ARGB) std::fprintf(log_file(), " color %08x", event->color);
  std::fputc('\n', log_file());
  std::fflush(log_file());
  return g_level++;
}

void mark(nvtxDomainHandle_t domain, const nvtxEventAttributes_t* event) {
  std::fprintf(log_file(), "mark %s %s\n", domain_name(domain), event->message.ascii);
  std::fflush(log_file());
}

int pop(nvtxDomainHandle_t domain) {
  std::fprintf(log_file(), "pop %s\n", domain_name(domain));
  std::fflush(log_file());
  return --g_level;
}

// Handles are copies of the texts.
nvtxStringHandle_t register_string(nvtxDomainHandle_t domain, const char* text) {
  std::fprintf(log_file(), "register %s %s\n", domain_name(domain), text);
  std::fflush(log_file());
  return reinterpret_cast<nvtxStringHandle_t>(strdup(text));
}

nvtxDomainHandle_t create_domain(const char* name) {
  std::fprintf(log_file(), "domain %s\n", name);
  return reinterpret_cast<nvtxDomainHandle_t>(strdup(name));
}

void name_category(nvtxDomainHandle_t domain, std::uint32_t category, const char* name) {
  std::fprintf(log_file(), "category %s %u %s\n", domain_name(domain), category, name);
}

}  // namespace

extern "C" {
__attribute__((visibility("default"))) int InitializeInjectionNvtx2(NvtxGetExportTableFunc_t get);

int InitializeInjectionNvtx2(NvtxGetExportTableFunc_t get) {
  NvtxFunctionTable table = test::nvtx_table(get, NVTX_CB_MODULE_CORE2);
  if (table == nullptr) return 0;
  set(table, NVTX_CBID_CORE2_DomainMarkEx, mark);
  set(table, NVTX_CBID_CORE2_DomainRangePushEx, push);
  set(table, NVTX_CBID_CORE2_DomainRangePop, pop);
  set(table, NVTX_CBID_CORE2_DomainRegisterStringA, register_string);
  set(table, NVTX_CBID_CORE2_DomainCreateA, create_domain);
  set(table, NVTX_CBID_CORE2_DomainNameCategoryA, name_category);
  table = test::nvtx_table(get, NVTX_CB_MODULE_CORE);
  if (table == nullptr) return 1;
  set(
      table, NVTX_CBID_CORE_RangePushEx,
      +[](const nvtxEventAttributes_t* event) { return push(nullptr, event); });
  set(
      table, NVTX_CBID_CORE_RangePop, +[] { return pop(nullptr); });
  return 1;
}
}
