// SPDX-License-Identifier: Apache-2.0
#include "workloads/rtdetr/config.h"

#include <stdexcept>

#include "tests/catch.h"

using namespace rangefinder::rtdetr;

TEST_CASE("an unknown model's error names the known ones") {
  CHECK_THROWS_AS(config_of("r51"), std::invalid_argument);
  try {
    config_of("r51");
  } catch (const std::invalid_argument& error) {
    const std::string message = error.what();
    CHECK(message.find("r51") != std::string::npos);
    CHECK(message.find("r18 r34 r50 r101 tiny") != std::string::npos);
  }
}

TEST_CASE("every model's channels are whole 16-byte loads of half, and its heads 32 or 48 wide") {
  for (const std::string& name : model_names()) {
    const Config config = config_of(name);
    INFO(name);
    CHECK(config.name == name);
    for (const int channels : config.stage_channels) CHECK(channels % 8 == 0);
    CHECK(config.embedding_channels / 2 % 8 == 0);
    CHECK(config.csp_channels() % 8 == 0);
    CHECK(config.model_channels == 32 * config.decoder_heads);
    const int encoder_head = config.encoder_channels / config.encoder_heads;
    CHECK((encoder_head == 32 || encoder_head == 48));
    CHECK(2 * config.encoder_channels % 64 == 0);
  }
}

TEST_CASE("only the small models have a third convolution in their CSP layers") {
  CHECK(config_of("r18").csp_has_third_convolution());
  CHECK(config_of("tiny").csp_has_third_convolution());
  CHECK_FALSE(config_of("r50").csp_has_third_convolution());
  CHECK_FALSE(config_of("r101").csp_has_third_convolution());
}
