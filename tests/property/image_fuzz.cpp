// SPDX-License-Identifier: Apache-2.0
//
// Property: whatever stands in an image file, reading it gives an image of the size it says, or an
// std::runtime_error, and touches nothing outside of the file (red under AddressSanitizer).
//
// Files are small PNGs and PPMs and a photograph of the repository as JPEG, spoiled.
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <string>
#include <vector>

#include "tests/property/cases.h"
#include "tests/property/spoiled_text.h"
#include "workloads/rtdetr/image_file.h"

using namespace rangefinder;
using namespace rangefinder::rtdetr;

namespace {

std::string content(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

std::vector<std::string> valid_files(const std::string& path) {
  std::vector<std::string> files;
  for (const int side : {1, 7, 33}) {
    Image image{side, side + 2, {}};
    for (int i = 0; i < image.height * image.width * 3; ++i)
      image.pixels.push_back(static_cast<std::uint8_t>(i * 7));
    write_png(path, image);
    files.push_back(content(path));
    files.push_back("P6\n" + std::to_string(image.width) + " " + std::to_string(image.height) + "\n255\n" +
                    std::string(image.pixels.begin(), image.pixels.end()));
  }
  files.push_back(content(RANGEFINDER_TEST_JPEG).substr(0, 20'000));
  return files;
}

bool reads_well(const std::string& path) {
  try {
    const Image image = read_image(path);
    return image.height > 0 && image.width > 0 &&
           image.pixels.size() ==
               static_cast<std::size_t>(image.height) * static_cast<std::size_t>(image.width) * 3;
  } catch (const std::runtime_error&) {
    return true;
  }
}

}  // namespace

int main(int argc, char** argv) {
  const property::Cases cases(argc, argv);
  const std::string path =
      std::filesystem::temp_directory_path() / ("rangefinder-image-" + std::to_string(getpid()));
  const std::vector<std::string> valid = valid_files(path);
  int result = 0;
  for (std::uint64_t number = 0; number < cases.count && result == 0; ++number) {
    property::Random random(cases.seed, number);
    // The photograph takes longest.
    std::string text = valid[random.one_in(50) ? valid.size() - 1 : random.below(valid.size() - 1)];
    property::corrupt(text, random);
    std::ofstream(path, std::ios::binary) << text;
    if (reads_well(path)) continue;
    std::printf("case %llu fails\n", static_cast<unsigned long long>(number));
    result = 1;
  }
  std::filesystem::remove(path);
  return result;
}
