// SPDX-License-Identifier: Apache-2.0
//
// Property: whatever stands in a .safetensors file, reading it gives its tensors or an std::runtime_error
// that names the file, and touches nothing outside of it (red under AddressSanitizer).
//
// Files are valid ones of a few tensors, spoiled: bytes changed, the header's length and numbers replaced by
// extremes, parts cut and doubled.
#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <string>

#include "tests/property/cases.h"
#include "tests/property/spoiled_text.h"
#include "workloads/rtdetr/safetensors.h"

using namespace rangefinder;
using namespace rangefinder::rtdetr;

namespace {

std::string content(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

std::string valid_file(const std::string& path) {
  SafetensorsWriter writer;
  writer.add("model.weight", {2, 3}, std::vector<float>{1, 2, 3, 4, 5, 6});
  writer.add("model.bias", {3}, std::vector<float>{1, 2, 3});
  writer.add("positions", {2, 2}, std::vector<std::int64_t>{1, 2, 3, 4});
  writer.add("scalar", {}, std::vector<float>{7});
  writer.write(path);
  return content(path);
}

/// False: something that is neither a tensor nor a refusal.
bool reads_well(const std::string& path) {
  try {
    const SafetensorsFile file(path);
    for (const std::string& name : file.names()) {
      try {
        const auto count = static_cast<std::size_t>(element_count(file.shape(name)));
        if (file.floats(name).size() != count) return false;
      } catch (const std::runtime_error&) {
        (void)file.integers(name);
      }
    }
  } catch (const std::runtime_error& error) {
    return std::string(error.what()).find(path) != std::string::npos;
  }
  return true;
}

}  // namespace

int main(int argc, char** argv) {
  const property::Cases cases(argc, argv);
  const std::string path =
      std::filesystem::temp_directory_path() / ("rangefinder-safetensors-" + std::to_string(getpid()));
  const std::string valid = valid_file(path);
  int result = reads_well(path) ? 0 : 1;
  for (std::uint64_t number = 0; number < cases.count && result == 0; ++number) {
    property::Random random(cases.seed, number);
    std::string text = valid;
    property::corrupt(text, random);
    if (random.one_in(4)) {  // the length of the header
      const std::uint64_t length = random.one_in(2) ? random.any() : random.below(text.size() + 20);
      if (text.size() >= sizeof(length)) std::memcpy(text.data(), &length, sizeof(length));
    }
    std::ofstream(path, std::ios::binary) << text;
    if (reads_well(path)) continue;
    std::printf("case %llu fails\n", static_cast<unsigned long long>(number));
    result = 1;
  }
  std::filesystem::remove(path);
  return result;
}
