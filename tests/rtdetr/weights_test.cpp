// SPDX-License-Identifier: Apache-2.0
#include "workloads/rtdetr/weights.h"

#include <stdexcept>

#include "tests/catch.h"
#include "tests/unit/analysis/model/trace_on_disk.h"

using namespace rangefinder::rtdetr;
using rangefinder::test::TemporaryFolder;

namespace {

std::int64_t elements_of(const std::string& model) {
  std::int64_t elements = 0;
  for (const WeightSpec& spec : weight_specs(config_of(model))) elements += element_count(spec.shape);
  return elements;
}

/// A file of `tiny` with all values zero, changed by `change` before it is written.
template <typename Change>
std::string write_model(const TemporaryFolder& folder, Change&& change) {
  std::map<std::string, Shape> tensors;
  for (const WeightSpec& spec : weight_specs(config_of("tiny"))) tensors[spec.name] = spec.shape;
  change(tensors);
  SafetensorsWriter writer;
  for (const auto& [name, shape] : tensors)
    writer.add(name, shape, std::vector<float>(static_cast<std::size_t>(element_count(shape))));
  const std::string path = folder.path() / "model.safetensors";
  writer.write(path);
  return path;
}

/// Whether a file with this change is refused by a message that contains `reason`.
template <typename Change>
bool is_refused(const char* reason, Change&& change) {
  const TemporaryFolder folder;
  std::string message = "nothing was thrown";
  try {
    load_weights(SafetensorsFile(write_model(folder, change)), config_of("tiny"));
  } catch (const std::runtime_error& error) {
    message = error.what();
  }
  UNSCOPED_INFO(message);
  return message.find(reason) != std::string::npos;
}

void rename_tensor(std::map<std::string, Shape>& tensors, const std::string& from, const std::string& to) {
  auto node = tensors.extract(from);
  REQUIRE(!node.empty());
  node.key() = to;
  tensors.insert(std::move(node));
}

}  // namespace

TEST_CASE("R50 has the tensors and the parameters of Hugging Face's model") {
  const std::vector<WeightSpec> specs = weight_specs(config_of("r50"));
  std::map<std::string, Shape> shapes;
  for (const WeightSpec& spec : specs) shapes[spec.name] = spec.shape;

  CHECK(specs.size() == 764 - 42);  // without the num_batches_tracked
  CHECK(shapes.size() == specs.size());
  CHECK(shapes.at("model.backbone.model.encoder.stages.0.layers.0.shortcut.convolution.weight") ==
        Shape{256, 64, 1, 1});
  CHECK(shapes.at("model.backbone.model.encoder.stages.3.layers.0.shortcut.1.convolution.weight") ==
        Shape{2048, 1024, 1, 1});
  CHECK(shapes.at("model.encoder.pan_blocks.1.bottlenecks.2.conv1.conv.weight") == Shape{256, 256, 3, 3});
  CHECK(shapes.at("model.decoder.layers.5.encoder_attn.sampling_offsets.weight") == Shape{192, 256});
  CHECK(shapes.at("model.decoder.query_pos_head.layers.0.weight") == Shape{512, 4});
}

TEST_CASE("the models have the published number of parameters") {
  CHECK(elements_of("r18") == Approx(20.2e6).epsilon(0.01));
  CHECK(elements_of("r34") == Approx(31.4e6).epsilon(0.01));
  CHECK(elements_of("r50") == Approx(43.02e6).epsilon(0.001));
  CHECK(elements_of("r101") == Approx(76.7e6).epsilon(0.01));
}

TEST_CASE("old names are aliases of the new ones, and unused tensors have none") {
  const std::pair<const char*, const char*> names[]{
      {"model.decoder.layers.3.self_attn.out_proj.weight", "model.decoder.layers.3.self_attn.o_proj.weight"},
      {"model.decoder.layers.3.fc1.bias", "model.decoder.layers.3.mlp.fc1.bias"},
      {"model.encoder.encoder.0.layers.0.fc2.weight", "model.encoder.aifi.0.layers.0.mlp.fc2.weight"},
      {"model.encoder_input_proj.0.1.num_batches_tracked", ""},
      {"class_embed.0.weight", ""},
      {"bbox_embed.2.layers.1.bias", ""}};
  for (const auto& [old_name, name] : names) CHECK(canonical_name(old_name) == name);
  for (const char* const unchanged :
       {"model.decoder.layers.3.mlp.fc1.bias", "model.decoder.layers.0.encoder_attn.output_proj.weight",
        "model.backbone.model.encoder.stages.0.layers.0.layer.0.convolution.weight"})
    CHECK(canonical_name(unchanged) == unchanged);
}

TEST_CASE("a file with old names loads like one with new names") {
  const TemporaryFolder folder;
  const auto to_old_names = [](std::map<std::string, Shape>& tensors) {
    rename_tensor(tensors, "model.encoder.aifi.0.layers.0.mlp.fc1.weight",
                  "model.encoder.encoder.0.layers.0.fc1.weight");
    rename_tensor(tensors, "model.decoder.layers.1.self_attn.o_proj.bias",
                  "model.decoder.layers.1.self_attn.out_proj.bias");
    tensors["class_embed.0.weight"] = {16, 64};
    tensors["model.encoder_input_proj.0.1.num_batches_tracked"] = {};
  };
  const std::string path = write_model(folder, to_old_names);

  const Weights weights = load_weights(SafetensorsFile(path), config_of("tiny"));

  CHECK(weights.all().size() == weight_specs(config_of("tiny")).size());
  CHECK(weights.at("model.encoder.aifi.0.layers.0.mlp.fc1.weight").shape == Shape{128, 64});
  CHECK_THROWS_AS(weights.at("model.nothing"), std::out_of_range);
}

TEST_CASE("the first missing, surplus or misshapen tensor is named, in this order") {
  CHECK(is_refused("model.enc_output.0.bias [64] is missing (and 1 more)", [](auto& tensors) {
    tensors.erase("model.enc_output.0.bias");
    tensors.erase("model.enc_output.1.bias");
    tensors["model.more"] = {1};
  }));
  CHECK(is_refused("model.more is unknown", [](auto& tensors) {
    tensors["model.more"] = {1};
    tensors["model.enc_output.0.bias"] = {63};
  }));
  CHECK(is_refused("model.enc_output.0.bias has the shape [63], expected [64]",
                   [](auto& tensors) { tensors["model.enc_output.0.bias"] = {63}; }));
}

TEST_CASE("a tensor in its old and its new name at once is refused") {
  CHECK(is_refused("twice", [](auto& tensors) { tensors["model.decoder.layers.0.fc1.bias"] = {96}; }));
}
