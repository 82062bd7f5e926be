// SPDX-License-Identifier: Apache-2.0
#include "workloads/probes/nvtx_calls.h"

#include <nvtx3/nvToolsExt.h>
#include <nvtx3/nvToolsExtPayload.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <thread>

namespace rangefinder::probe {
namespace {

constexpr const wchar_t* kWide = L"wide \u00e4\u20ac\U0001f600";
constexpr const char* kWideUtf8 = "wide \xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80";
constexpr std::uint32_t kColor = 0xff12ab34u;
constexpr int kNamedLevels = 128;  // deeper levels are counted in a trace, but not named
constexpr int kDeepLevels = 200;

nvtxEventAttributes_t attributes(const char* message) {
  nvtxEventAttributes_t a{};
  a.version = NVTX_VERSION;
  a.size = NVTX_EVENT_ATTRIB_STRUCT_SIZE;
  a.messageType = NVTX_MESSAGE_TYPE_ASCII;
  a.message.ascii = message;
  return a;
}

std::uint32_t thread_id() {
  return static_cast<std::uint32_t>(syscall(SYS_gettid));
}

void mark_with_payload(ExpectedTrace& expected, const char* name, std::int32_t type, const char* type_name,
                       nvtxEventAttributes_t::payload_t payload, const char* value) {
  nvtxEventAttributes_t a = attributes(name);
  a.payloadType = type;
  a.payload = payload;
  nvtxMarkEx(&a);
  expected.marks += 1;
  expected.names.push_back(name);
  expected.payloads.push_back({name, type_name, value});
}

}  // namespace

void push_forms(ExpectedTrace& expected) {
  nvtxRangePushA("ascii");
  nvtxRangePushW(kWide);
  nvtxEventAttributes_t a = attributes("extended");
  a.colorType = NVTX_COLOR_ARGB;
  a.color = kColor;
  nvtxRangePushEx(&a);
  expected.kernel_under({"ascii", kWideUtf8, "extended"});
  nvtxRangePop();
  expected.kernel_under({"ascii", kWideUtf8});
  nvtxRangePop();
  expected.kernel_under({"ascii"});
  nvtxRangePop();
  expected.push_pop += 3;
  expected.color = kColor;
}

void domains_out_of_order(ExpectedTrace& expected) {
  const nvtxDomainHandle_t one = nvtxDomainCreateA("shapes.one");
  const nvtxDomainHandle_t two = nvtxDomainCreateW(L"shapes.two");
  const nvtxEventAttributes_t outer = attributes("outer of one"), inner = attributes("inner of two");
  nvtxDomainRangePushEx(one, &outer);
  nvtxDomainRangePushEx(two, &inner);
  expected.kernel_under({"outer of one", "inner of two"});
  nvtxDomainRangePop(one);  // the outer range closes first: two is now alone
  expected.kernel_under({"inner of two"});
  nvtxDomainRangePop(two);
  expected.push_pop += 2;
  expected.domains.insert(expected.domains.end(), {"shapes.one", "shapes.two"});
}

void start_end_forms(ExpectedTrace& expected) {
  const nvtxDomainHandle_t domain = nvtxDomainCreateA("shapes.start");
  const nvtxEventAttributes_t a = attributes("start extended"), in_domain = attributes("start in a domain");
  const nvtxRangeId_t ascii = nvtxRangeStartA("start ascii");
  const nvtxRangeId_t wide = nvtxRangeStartW(kWide);
  const nvtxRangeId_t extended = nvtxRangeStartEx(&a);
  const nvtxRangeId_t of_domain = nvtxDomainRangeStartEx(domain, &in_domain);
  nvtxRangeEnd(ascii);  // not the last one started: start/end ranges do not nest
  std::thread([&] {
    nvtxRangeEnd(wide);
    nvtxDomainRangeEnd(domain, of_domain);
  }).join();
  nvtxRangeEnd(extended);
  expected.start_end += 4;
  expected.end_elsewhere += 2;
  expected.domains.push_back("shapes.start");
  expected.names.insert(expected.names.end(),
                        {"start ascii", kWideUtf8, "start extended", "start in a domain"});
}

void marks_and_payloads(ExpectedTrace& expected) {
  nvtxMarkA("mark ascii");
  nvtxMarkW(kWide);
  expected.marks += 2;
  expected.names.push_back("mark ascii");
  nvtxNameCategoryA(7, "category of shapes");
  nvtxNameCategoryW(8, kWide);
  expected.categories.insert(expected.categories.end(), {{"", 7, "category of shapes"}, {"", 8, kWideUtf8}});

  nvtxEventAttributes_t::payload_t p{};
  p.ullValue = UINT64_MAX;
  mark_with_payload(expected, "payload u64", NVTX_PAYLOAD_TYPE_UNSIGNED_INT64, "u64", p,
                    "18446744073709551615");
  p.llValue = -5;
  mark_with_payload(expected, "payload i64", NVTX_PAYLOAD_TYPE_INT64, "i64", p, "-5");
  p.dValue = 0.1;
  mark_with_payload(expected, "payload f64", NVTX_PAYLOAD_TYPE_DOUBLE, "f64", p, "0.1");
  p.ullValue = 0;
  p.uiValue = UINT32_MAX;
  mark_with_payload(expected, "payload u32", NVTX_PAYLOAD_TYPE_UNSIGNED_INT32, "u32", p, "4294967295");
  p.iValue = -7;
  mark_with_payload(expected, "payload i32", NVTX_PAYLOAD_TYPE_INT32, "i32", p, "-7");
  p.fValue = 0.5f;
  mark_with_payload(expected, "payload f32", NVTX_PAYLOAD_TYPE_FLOAT, "f32", p, "0.5");

  const nvtxDomainHandle_t domain = nvtxDomainCreateA("shapes.marks");
  nvtxDomainNameCategoryA(domain, 3, "category of a domain");
  nvtxEventAttributes_t a = attributes("mark in a domain");
  a.category = 3;
  nvtxDomainMarkEx(domain, &a);
  expected.marks += 1;
  expected.names.push_back("mark in a domain");
  expected.domains.push_back("shapes.marks");
  expected.categories.push_back({"shapes.marks", 3, "category of a domain"});
}

void registered_strings(ExpectedTrace& expected) {
  const nvtxDomainHandle_t domain = nvtxDomainCreateA("shapes.registered");
  nvtxEventAttributes_t a = attributes(nullptr);
  a.messageType = NVTX_MESSAGE_TYPE_REGISTERED;
  a.message.registered = nvtxDomainRegisterStringA(domain, "registered ascii");
  nvtxDomainRangePushEx(domain, &a);
  a.message.registered = nvtxDomainRegisterStringW(domain, kWide);
  nvtxDomainRangePushEx(domain, &a);
  expected.kernel_under({"registered ascii", kWideUtf8});
  nvtxDomainRangePop(domain);
  nvtxDomainRangePop(domain);
  expected.push_pop += 2;
  expected.domains.push_back("shapes.registered");
}

void thread_names(ExpectedTrace& expected) {
  std::thread([&expected] {
    nvtxNameOsThreadA(thread_id(), "named by shapes");
    nvtxRangePushA("on a named thread");
    expected.kernel_under({"on a named thread"});
    nvtxRangePop();
  }).join();
  std::thread([] {
    nvtxNameOsThreadW(thread_id(), kWide);
    nvtxMarkA("on a widely named thread");
  }).join();
  expected.push_pop += 1;
  expected.marks += 1;
  expected.names.push_back("on a widely named thread");
  expected.threads.insert(expected.threads.end(), {"named by shapes", kWideUtf8});
}

void payload_extension(ExpectedTrace& expected) {
  struct Tile {
    std::uint64_t rows;
    double share;
  };
  static const nvtxPayloadSchemaEntry_t entries[] = {
      {0, NVTX_PAYLOAD_ENTRY_TYPE_UINT64, "rows", nullptr, 0, offsetof(Tile, rows), nullptr, nullptr},
      {0, NVTX_PAYLOAD_ENTRY_TYPE_DOUBLE, "share", nullptr, 0, offsetof(Tile, share), nullptr, nullptr}};
  nvtxPayloadSchemaAttr_t schema{};
  schema.fieldMask = NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_NAME | NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_TYPE |
                     NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_ENTRIES | NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_NUM_ENTRIES |
                     NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_STATIC_SIZE;
  schema.name = "tile";
  schema.type = NVTX_PAYLOAD_SCHEMA_TYPE_STATIC;
  schema.entries = entries;
  schema.numEntries = 2;
  schema.payloadStaticSize = sizeof(Tile);
  const nvtxDomainHandle_t domain = nvtxDomainCreateA("shapes.payload");
  expected.domain_enabled = nvtxDomainIsEnabled(domain) != 0;
  const std::uint64_t schema_id = nvtxPayloadSchemaRegister(domain, &schema);

  const Tile tile{300, 0.25};
  const nvtxPayloadData_t data{schema_id, sizeof tile, &tile};
  nvtxEventAttributes_t a = attributes("with a schema");
  a.payloadType = NVTX_PAYLOAD_TYPE_EXT;
  a.payload.ullValue = reinterpret_cast<std::uint64_t>(&data);
  a.reserved0 = 1;  // one payload
  nvtxDomainRangePushEx(domain, &a);
  expected.kernel_under({"with a schema"});
  nvtxDomainRangePop(domain);
  nvtxRangePushPayload(domain, &data, 1);  // without a message: the tool chooses its name
  nvtxDomainRangePop(domain);
  nvtxMarkPayload(domain, &data, 1);
  expected.push_pop += 2;
  expected.marks += 1;
  expected.schemas += 1;
  expected.domains.push_back("shapes.payload");
  expected.schema_payload.assign(reinterpret_cast<const char*>(&tile), sizeof tile);
}

void deep_stack(ExpectedTrace& expected) {
  std::vector<std::string> path;
  for (int level = 0; level < kDeepLevels; ++level) {
    const std::string name = "level " + std::to_string(level);
    nvtxRangePushA(name.c_str());
    if (level < kNamedLevels) path.push_back(name);
  }
  expected.kernel_under(path);
  for (int level = 0; level < kDeepLevels; ++level) nvtxRangePop();
  nvtxRangePushA("after the deep stack");
  expected.kernel_under({"after the deep stack"});
  nvtxRangePop();
  expected.push_pop += kDeepLevels + 1;
  expected.too_deep += kDeepLevels - kNamedLevels;
}

void mistakes(ExpectedTrace& expected) {
  const nvtxDomainHandle_t domain = nvtxDomainCreateA("shapes.mistakes");
  nvtxRangePop();
  nvtxDomainRangePop(domain);
  expected.pop_without_push += 2;
  nvtxRangeEnd(0x0123456789abcdefull);
  const nvtxRangeId_t ended = nvtxRangeStartA("ended twice");
  nvtxRangeEnd(ended);
  nvtxRangeEnd(ended);
  expected.start_end += 1;
  expected.end_unknown += 2;
  expected.names.push_back("ended twice");
  expected.domains.push_back("shapes.mistakes");
}

void odd_names(ExpectedTrace& expected) {
  const std::vector<std::string> names{
      "a/b\\c", "\"quoted\"",      "control \x01\t\n\x7f",   "\xff\xfe broken \xc3(",
      "",       "{\"json\": [1]}", std::string(100'000, 'n')};
  for (const std::string& name : names) {
    nvtxRangePushA(name.c_str());
    expected.kernel_under({name});
    nvtxRangePop();
    expected.push_pop += 1;
  }
  expected.names_truncated += 1;
}

void never_closed(ExpectedTrace& expected) {
  nvtxRangeStartA("never ended");
  nvtxRangePushA("never popped");
  expected.kernel_under({"never popped"});
  expected.start_end += 1;
  expected.push_pop += 1;
  expected.unclosed += 2;
  expected.names.push_back("never ended");
}

}  // namespace rangefinder::probe
