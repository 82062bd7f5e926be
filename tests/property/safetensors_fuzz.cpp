// SPDX-License-Identifier: Apache-2.0
//
// Property: whatever a .safetensors file holds, reading it gives its tensors or an std::runtime_error that
// names the file, and nothing outside of it is touched (AddressSanitizer reports it).
#include <cstring>
#include <stdexcept>
#include <string>
#include <vector>

#include "tests/property/corruption.h"
#include "tests/property/fuzz.h"
#include "tests/unit/analysis/model/trace_on_disk.h"
#include "workloads/rtdetr/safetensors.h"

namespace rangefinder::fuzz {
namespace {

class SafetensorsFuzzer final : public Fuzzer {
 public:
  SafetensorsFuzzer() {
    rtdetr::SafetensorsWriter writer;
    writer.add("model.weight", {2, 3}, std::vector<float>{1, 2, 3, 4, 5, 6});
    writer.add("model.bias", {3}, std::vector<float>{1, 2, 3});
    writer.add("positions", {2, 2}, std::vector<std::int64_t>{1, 2, 3, 4});
    writer.add("scalar", {}, std::vector<float>{7});
    writer.write(path_);
    valid_ = test::content(path_);
    if (!reads_well()) throw std::runtime_error("the valid file is not read");
  }

  std::string check(Random& random) override {
    std::string text = valid_;
    corrupt(text, random);
    if (random.one_in(4)) {  // the length of the header
      const std::uint64_t length = random.one_in(2) ? random.any() : random.below(text.size() + 20);
      if (text.size() >= sizeof(length)) std::memcpy(text.data(), &length, sizeof(length));
    }
    write_file(path_, text);
    return reads_well() ? "" : "neither the tensors nor an error that names the file";
  }

 private:
  [[nodiscard]] bool reads_well() const {
    try {
      const rtdetr::SafetensorsFile file(path_);
      for (const std::string& name : file.names()) {
        try {
          const auto count = static_cast<std::size_t>(rtdetr::element_count(file.shape(name)));
          if (file.floats(name).size() != count) return false;
        } catch (const std::runtime_error&) {
          (void)file.integers(name);
        }
      }
    } catch (const std::runtime_error& error) {
      return std::string(error.what()).find(path_) != std::string::npos;
    }
    return true;
  }

  test::TemporaryFolder folder_;
  const std::string path_ = folder_.path() / "model.safetensors";
  std::string valid_;
};

}  // namespace

MakeFuzzer* const make_safetensors = &made<SafetensorsFuzzer>;

}  // namespace rangefinder::fuzz
