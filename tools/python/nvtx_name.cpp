// SPDX-License-Identifier: Apache-2.0
#include "tools/python/nvtx_name.h"

#include <utility>

namespace rangefinder {
namespace {

/// More names than this in a domain are texts that a program makes: they would only fill the memory.
constexpr Py_ssize_t kMaxNames = 16'384;

PyObject* g_domains = nullptr;  // str or None -> address of a Domain. Never destroyed

/// False, with an exception: not a text.
bool utf8_of(PyObject* text, std::string& out) {
  PyObject* const encoded = PyUnicode_AsUTF8String(text);
  if (encoded == nullptr) return false;
  char* data = nullptr;
  Py_ssize_t size = 0;
  const bool ok = PyBytes_AsStringAndSize(encoded, &data, &size) == 0;
  if (ok) out.assign(data, static_cast<std::size_t>(size));
  Py_DECREF(encoded);
  return ok;
}

/// Stores the address of `value` as `key`, and gives it up. Null, with an exception: out of memory.
template <typename T>
T* store(PyObject* dictionary, PyObject* key, std::unique_ptr<T> value) {
  PyObject* const address = PyLong_FromVoidPtr(value.get());
  if (address == nullptr) return nullptr;
  const bool ok = PyDict_SetItem(dictionary, key, address) == 0;
  Py_DECREF(address);
  return ok ? value.release() : nullptr;
}

}  // namespace

Domain* domain_of(PyObject* name) {
  if (g_domains == nullptr) g_domains = PyDict_New();
  if (g_domains == nullptr) return nullptr;
  if (PyObject* const known = PyDict_GetItemWithError(g_domains, name); known != nullptr)
    return static_cast<Domain*>(PyLong_AsVoidPtr(known));
  if (PyErr_Occurred() != nullptr) return nullptr;
  auto domain = std::make_unique<Domain>();
  if (name != Py_None) {
    std::string text;
    if (!utf8_of(name, text)) return nullptr;
    domain->handle = nvtxDomainCreateA(text.c_str());
  }
  domain->names = PyDict_New();
  return domain->names == nullptr ? nullptr : store(g_domains, name, std::move(domain));
}

const Name* name_of(Domain& domain, PyObject* text, std::unique_ptr<Name>& own) {
  if (PyObject* const known = PyDict_GetItemWithError(domain.names, text); known != nullptr)
    return static_cast<const Name*>(PyLong_AsVoidPtr(known));
  if (PyErr_Occurred() != nullptr) return nullptr;
  auto name = std::make_unique<Name>();
  if (!utf8_of(text, name->text)) return nullptr;
  if (PyDict_Size(domain.names) >= kMaxNames) {
    own = std::move(name);
    return own.get();
  }
  name->handle = nvtxDomainRegisterStringA(domain.handle, name->text.c_str());
  return store(domain.names, text, std::move(name));
}

void name_bytes_category(Domain& domain) {
  if (domain.has_bytes_category) return;
  domain.has_bytes_category = true;
  nvtxDomainNameCategoryA(domain.handle, kBytesCategory, "rangefinder.bytes");
}

nvtxEventAttributes_t event_of(const Name& name) {
  nvtxEventAttributes_t event{};
  event.version = NVTX_VERSION;
  event.size = NVTX_EVENT_ATTRIB_STRUCT_SIZE;
  if (name.handle != nullptr) {
    event.messageType = NVTX_MESSAGE_TYPE_REGISTERED;
    event.message.registered = name.handle;
  } else {
    event.messageType = NVTX_MESSAGE_TYPE_ASCII;
    event.message.ascii = name.text.c_str();
  }
  return event;
}

bool push_range(PyObject* text, int* level) {
  Domain* const domain = domain_of(Py_None);
  if (domain == nullptr) return false;
  std::unique_ptr<Name> own;
  const Name* const name = name_of(*domain, text, own);
  if (name == nullptr) return false;
  const nvtxEventAttributes_t event = event_of(*name);
  const int at = nvtxRangePushEx(&event);
  if (level != nullptr) *level = at;
  return true;
}

bool nvtx_was_used() {
  return g_domains != nullptr;  // each range has a domain
}

}  // namespace rangefinder
