// SPDX-License-Identifier: Apache-2.0
//
// A separate program, because a chained tool must be set before the first NVTX call:
// static_injection.cpp sets RANGEFINDER_TEST_CHAIN, the path of chained_tool.so.
#include <dlfcn.h>
#include <nvtx3/nvToolsExt.h>
#include <nvtx3/nvToolsExtPayload.h>

#include <string>

#include "profiler/nvtx/nvtx.h"
#include "tests/catch.h"
#include "tests/unit/nvtx/chained_tool.h"
#include "tests/unit/nvtx/recorded_events.h"

using namespace rangefinder;

namespace {

// Log of the calls that the chained tool received while `action` ran.
template <typename Action>
std::string received(const Action& action) {
  nvtxInitialize(nullptr);
  void* const tool = dlopen(RANGEFINDER_TEST_CHAIN, RTLD_NOLOAD | RTLD_LAZY);
  REQUIRE(tool != nullptr);
  const auto log = reinterpret_cast<const char* (*)()>(dlsym(tool, kChainedToolLog));
  REQUIRE(log != nullptr);
  const std::size_t before = std::string(log()).size();
  action();
  return std::string(log()).substr(before);
}

nvtxEventAttributes_t registered(nvtxStringHandle_t text) {
  nvtxEventAttributes_t event{};
  event.version = NVTX_VERSION;
  event.size = NVTX_EVENT_ATTRIB_STRUCT_SIZE;
  event.messageType = NVTX_MESSAGE_TYPE_REGISTERED;
  event.message.registered = text;
  return event;
}

}  // namespace

TEST_CASE("the chained tool receives the calls that we receive") {
  CHECK(received([] {
          CHECK(nvtxRangePushA("both") == 0);
          CHECK(open_name() == "both");
          CHECK(nvtxRangePop() == 0);
        }) == "push both;pop;");

  CHECK(nvtx_chain_problem() == nullptr);
  CHECK(take_events().size() == 1);
}

TEST_CASE("the chained tool gets its own domain and string handles, and we know them too") {
  const std::string seen = received([] {
    const nvtxDomainHandle_t domain = nvtxDomainCreateA("chained domain");
    const nvtxEventAttributes_t event = registered(nvtxDomainRegisterStringA(domain, "chained string"));
    nvtxDomainRangePushEx(domain, &event);
    CHECK(open_name() == "chained string");
    CHECK(nvtxDomainRangePop(domain) == 0);
  });

  CHECK(seen == "push chained domain @chained string;");
  const auto events = take_events();
  REQUIRE(events.size() == 1);
  CHECK(name_text(recorder().domain_name(events[0].event.nvtx.domain)) == "chained domain");
}

TEST_CASE("a handle that the chained tool did not create is not passed to it") {
  // The tool does not handle the wide forms, so the handles are ours.
  CHECK(received([] {
          const nvtxDomainHandle_t domain = nvtxDomainCreateW(L"ours");
          const nvtxEventAttributes_t event = registered(nvtxDomainRegisterStringA(domain, "its own"));
          nvtxDomainRangePushEx(domain, &event);
          CHECK(nvtxDomainRangePop(domain) == 0);
        }) == "push - @its own;");
  CHECK(take_events().size() == 1);
}

TEST_CASE("the application gets the tool's range ids, which end the right range on both sides") {
  CHECK(received([] {
          const nvtxRangeId_t id = nvtxRangeStartA("long");
          CHECK(id >= 0x7001000000000000);
          nvtxRangeEnd(id);
        }) == "start long;end last;");

  const auto events = take_events();
  REQUIRE(events.size() == 1);
  CHECK(name_text(events[0].event.nvtx.name) == "long");
  CHECK(events[0].event.range < 0x7001000000000000);
}

TEST_CASE("calls without a handler of ours reach the chained tool directly, with its own handles") {
  CHECK(received([] { nvtxDomainResourceCreate(nvtxDomainCreateA("d"), nullptr); }) == "resource d;");
}

TEST_CASE("the chained tool receives calls of the payload extension, and schemas have its ids") {
  CHECK(received([] {
          const nvtxDomainHandle_t domain = nvtxDomainCreateA("p");
          nvtxPayloadSchemaAttr_t schema{};
          CHECK(nvtxPayloadSchemaRegister(domain, &schema) == NVTX_PAYLOAD_SCHEMA_ID_DYNAMIC_START + 4711);
          nvtxEventSubmit(domain, nullptr, 0);
          CHECK(nvtxDomainIsEnabled(domain) == 1);
        }) == "schema p;submit p;");
  const auto events = take_events();
  REQUIRE(events.size() == 1);
  CHECK(events[0].event.schema.id == NVTX_PAYLOAD_SCHEMA_ID_DYNAMIC_START + 4711);
}

TEST_CASE("a chain that is set after the first call has no effect") {
  nvtx_set_chain("/nonexistent/tool.so");

  CHECK(received([] {
          nvtxRangePushA("still");
          nvtxRangePop();
        }) == "push still;pop;");
  take_events();
}
