// SPDX-License-Identifier: Apache-2.0
#include "workloads/rtdetr/safetensors.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <stdexcept>
#include <string_view>

#include "kernels/conversion.h"

static_assert(std::endian::native == std::endian::little, "the format is little-endian");

namespace rangefinder::rtdetr {
namespace {

constexpr std::size_t kLengthBytes = 8;
constexpr std::uint64_t kMaxHeaderBytes = 100'000'000;  // the same limit as the format's own library

struct Dtype {
  std::string_view name;
  std::size_t bytes;
};
constexpr std::array kDtypes{Dtype{"F32", 4}, Dtype{"F16", 2}, Dtype{"BF16", 2},
                             Dtype{"F64", 8}, Dtype{"I32", 4}, Dtype{"I64", 8}};

struct Entry {
  std::string_view dtype;  // of kDtypes
  Shape shape;
  std::uint64_t begin = 0;  // bytes after the header
  std::uint64_t end = 0;
};

[[noreturn]] void refuse(const std::string& path, const std::string& reason) {
  throw std::runtime_error(path + ": " + reason);
}

/// Elements of `shape`; nullopt if a dimension is negative or the product overflows.
std::optional<std::uint64_t> checked_count(const Shape& shape) {
  std::uint64_t count = 1;
  for (const std::int64_t dimension : shape) {
    if (dimension < 0) return std::nullopt;
    const auto factor = static_cast<std::uint64_t>(dimension);
    if (factor != 0 && count > std::numeric_limits<std::uint64_t>::max() / 8 / factor) return std::nullopt;
    count *= factor;
  }
  return count;
}

/// A file mapped for reading while the object lives.
class Mapping {
 public:
  explicit Mapping(const std::string& path) {
    const int file = open(path.c_str(), O_RDONLY | O_CLOEXEC);
    if (file < 0) refuse(path, std::strerror(errno));
    struct stat facts {};
    const bool known = fstat(file, &facts) == 0 && S_ISREG(facts.st_mode);
    size_ = known ? static_cast<std::size_t>(facts.st_size) : 0;
    void* const data = size_ != 0 ? mmap(nullptr, size_, PROT_READ, MAP_PRIVATE, file, 0) : nullptr;
    close(file);
    if (!known) refuse(path, "is not a regular file");
    if (data == MAP_FAILED) refuse(path, std::string("cannot be mapped: ") + std::strerror(errno));
    data_ = static_cast<const std::byte*>(data);
  }
  ~Mapping() {
    if (data_ != nullptr) munmap(const_cast<std::byte*>(data_), size_);
  }
  Mapping(const Mapping&) = delete;
  Mapping& operator=(const Mapping&) = delete;

  std::span<const std::byte> bytes() const { return {data_, size_}; }

 private:
  const std::byte* data_ = nullptr;
  std::size_t size_ = 0;
};

Entry read_entry(const std::string& path, const std::string& name, const nlohmann::json& value,
                 std::uint64_t data_bytes) {
  Entry entry;
  try {
    const std::string dtype = value.at("dtype").get<std::string>();
    const auto* const known =
        std::find_if(kDtypes.begin(), kDtypes.end(), [&](const Dtype& one) { return one.name == dtype; });
    if (known == kDtypes.end()) refuse(path, "tensor " + name + " has elements of type " + dtype);
    entry.dtype = known->name;
    entry.shape = value.at("shape").get<Shape>();
    const auto offsets = value.at("data_offsets").get<std::vector<std::uint64_t>>();
    const auto count = checked_count(entry.shape);
    if (!count) refuse(path, "tensor " + name + " has the impossible shape " + shape_text(entry.shape));
    if (offsets.size() != 2 || offsets[0] > offsets[1] || offsets[1] > data_bytes)
      refuse(path, "tensor " + name + " is outside the file");
    entry.begin = offsets[0];
    entry.end = offsets[1];
    if (entry.end - entry.begin != *count * known->bytes)
      refuse(path, "tensor " + name + " has " + std::to_string(entry.end - entry.begin) +
                       " bytes, its shape " + shape_text(entry.shape) + " needs " +
                       std::to_string(*count * known->bytes));
  } catch (const nlohmann::json::exception& error) {
    refuse(path, "tensor " + name + " has a wrong description: " + error.what());
  }
  return entry;
}

void refuse_overlaps(const std::string& path, const std::map<std::string, Entry>& entries) {
  std::vector<std::pair<const std::string*, const Entry*>> in_order;
  for (const auto& [name, entry] : entries)
    if (entry.begin != entry.end) in_order.emplace_back(&name, &entry);
  std::sort(in_order.begin(), in_order.end(),
            [](const auto& a, const auto& b) { return a.second->begin < b.second->begin; });
  for (std::size_t i = 1; i < in_order.size(); ++i)
    if (in_order[i].second->begin < in_order[i - 1].second->end)
      refuse(path, "tensors " + *in_order[i - 1].first + " and " + *in_order[i].first + " overlap");
}

template <typename From, typename To>
std::vector<To> converted(std::span<const std::byte> bytes) {
  std::vector<To> values(bytes.size() / sizeof(From));
  for (std::size_t i = 0; i < values.size(); ++i) {
    From value;
    std::memcpy(&value, bytes.data() + i * sizeof(From), sizeof(From));
    values[i] = static_cast<To>(value);
  }
  return values;
}

std::vector<float> halves(kernels::ElementType element, std::span<const std::byte> bytes) {
  const std::vector<std::uint16_t> aligned = converted<std::uint16_t, std::uint16_t>(bytes);
  std::vector<float> values(aligned.size());
  kernels::convert_to_fp32(element, aligned.data(), values.data(), values.size());
  return values;
}

}  // namespace

std::string shape_text(const Shape& shape) {
  std::string text = "[";
  for (const std::int64_t dimension : shape) {
    if (text.size() > 1) text += ", ";
    text += std::to_string(dimension);
  }
  return text + "]";
}

std::int64_t element_count(const Shape& shape) {
  std::int64_t count = 1;
  for (const std::int64_t dimension : shape) count *= dimension;
  return count;
}

struct SafetensorsFile::Content {
  explicit Content(const std::string& file_path) : path(file_path), mapping(file_path) {}

  const Entry& entry(const std::string& name) const {
    const auto found = entries.find(name);
    if (found == entries.end()) refuse(path, "has no tensor " + name);
    return found->second;
  }
  std::span<const std::byte> bytes_of(const Entry& entry) const {
    return data.subspan(entry.begin, entry.end - entry.begin);
  }

  std::string path;
  Mapping mapping;
  std::span<const std::byte> data;  // after the header
  std::map<std::string, Entry> entries;
};

SafetensorsFile::SafetensorsFile(const std::string& path) : content_(std::make_unique<Content>(path)) {
  const std::span<const std::byte> bytes = content_->mapping.bytes();
  if (bytes.size() < kLengthBytes) refuse(path, "is too short for a .safetensors file");
  std::uint64_t header_bytes = 0;
  std::memcpy(&header_bytes, bytes.data(), kLengthBytes);
  if (header_bytes > kMaxHeaderBytes || header_bytes > bytes.size() - kLengthBytes)
    refuse(path, "the header length is " + std::to_string(header_bytes) + " bytes, but the file has " +
                     std::to_string(bytes.size()));
  const auto* const text = reinterpret_cast<const char*>(bytes.data()) + kLengthBytes;
  const auto header =
      nlohmann::json::parse(text, text + header_bytes, nullptr, /* allow_exceptions = */ false);
  if (!header.is_object()) refuse(path, "the header is not a JSON object");
  content_->data = bytes.subspan(kLengthBytes + header_bytes);
  for (const auto& [name, value] : header.items())
    if (name != "__metadata__")
      content_->entries.emplace(name, read_entry(path, name, value, content_->data.size()));
  refuse_overlaps(path, content_->entries);
}

SafetensorsFile::~SafetensorsFile() = default;

const std::string& SafetensorsFile::path() const {
  return content_->path;
}

std::vector<std::string> SafetensorsFile::names() const {
  std::vector<std::string> names;
  for (const auto& [name, entry] : content_->entries) names.push_back(name);
  return names;
}

bool SafetensorsFile::has(const std::string& name) const {
  return content_->entries.contains(name);
}

const Shape& SafetensorsFile::shape(const std::string& name) const {
  return content_->entry(name).shape;
}

std::vector<float> SafetensorsFile::floats(const std::string& name) const {
  const Entry& entry = content_->entry(name);
  const std::span<const std::byte> bytes = content_->bytes_of(entry);
  if (entry.dtype == "F32") return converted<float, float>(bytes);
  if (entry.dtype == "F64") return converted<double, float>(bytes);
  if (entry.dtype == "F16") return halves(kernels::ElementType::fp16, bytes);
  if (entry.dtype == "BF16") return halves(kernels::ElementType::bf16, bytes);
  refuse(content_->path, "tensor " + name + " holds integers");
}

std::vector<std::int64_t> SafetensorsFile::integers(const std::string& name) const {
  const Entry& entry = content_->entry(name);
  const std::span<const std::byte> bytes = content_->bytes_of(entry);
  if (entry.dtype == "I32") return converted<std::int32_t, std::int64_t>(bytes);
  if (entry.dtype == "I64") return converted<std::int64_t, std::int64_t>(bytes);
  refuse(content_->path, "tensor " + name + " does not hold integers");
}

}  // namespace rangefinder::rtdetr
