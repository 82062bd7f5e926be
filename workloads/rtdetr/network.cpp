// SPDX-License-Identifier: Apache-2.0
#include "workloads/rtdetr/network.h"

#include <optional>
#include <stdexcept>
#include <string>

#include "kernels/conversion.h"
#include "workloads/probes/range.h"
#include "workloads/rtdetr/host_backends.h"
#include "workloads/rtdetr/hybrid_encoder.h"

namespace rangefinder::rtdetr {
namespace {

/// For the measuring pass: the arena must include what dumps allocate.
class NoDumps final : public DumpSink {
 public:
  void take(std::string_view, const Tensor&) override {}
  void take(std::string_view, const float*, const std::vector<std::int64_t>&) override {}
  void take(std::string_view, const std::int32_t*, const std::vector<std::int64_t>&) override {}
};

std::size_t bytes_of(kernels::ElementType element, std::int64_t count) {
  return static_cast<std::size_t>(count) * kernels::element_bytes(element);
}

void* zeros(Backend& backend, std::size_t bytes) {
  const std::vector<std::byte> host(bytes);
  void* const data = backend.allocate(bytes);
  backend.upload(host.data(), data, bytes);
  return data;
}

Tensor make_pixels(const NetworkOptions& options, Backend& backend) {
  Tensor pixels;
  pixels.element = options.element;
  pixels.images = options.images;
  pixels.view.height = options.height;
  pixels.view.width = options.width;
  pixels.view.channels = 3;
  pixels.view.pixel_stride = kernels::kPixelStride;
  pixels.view.data = zeros(backend, bytes_of(options.element, pixels.images * pixels.view.image_step()));
  return pixels;
}

/// The queries, preceded by the zeros that the decoder needs.
Tensor make_queries(const Config& config, const NetworkOptions& options, Backend& backend) {
  Tensor queries;
  queries.element = options.element;
  queries.images = options.images;
  queries.view.height = 1;
  queries.view.width = config.queries;
  queries.view.channels = config.model_channels;
  const std::size_t bytes = bytes_of(options.element, queries.rows() * config.model_channels);
  queries.view.data = static_cast<std::byte*>(zeros(backend, 2 * bytes)) + bytes;
  return queries;
}

}  // namespace

struct Network::State {
  State(const Config& config_, const Weights& weights, const NetworkOptions& options_, Backend& backend_);

  Predictions run(Execution& execution);
  void postprocess(Execution& execution, const Predictions& found);
  std::int64_t rows() const { return static_cast<std::int64_t>(options.images) * config.queries; }

  Config config;
  NetworkOptions options;
  Backend& backend;
  Geometry geometry;  // first: refuses a size before the weights are folded
  Parameters parameters;
  ModuleLedger ledger;
  std::size_t arena_bytes = 0;
  std::optional<Arena> arena;  // created when its size is known
  Tensor pixels;
  Tensor queries;
  kernels::ImageSize* image_sizes = nullptr;
  std::int32_t* best = nullptr;  // entries of the logits; not in the arena, which the last boxes use
  kernels::Detection* found = nullptr;
  std::int32_t* forced_buffer = nullptr;       // created on first use
  const std::int32_t* forced_top_k = nullptr;  // forced_buffer, or nullptr
  std::uint8_t* image_buffer = nullptr;        // fits the largest image so far
  std::size_t image_buffer_bytes = 0;
  Predictions predictions{};
};

Network::State::State(const Config& config_, const Weights& weights, const NetworkOptions& options_,
                      Backend& backend_)
    : config(config_),
      options(options_),
      backend(backend_),
      geometry(make_geometry(config, options.height, options.width, options.element, backend)),
      parameters(make_parameters(config, weights, options.element, backend)) {
  if (options.images < 1) throw std::invalid_argument("a batch needs at least one image");
  project_position_embedding(parameters.encoder.attention, options.element, backend, geometry);
  pixels = make_pixels(options, backend);
  queries = make_queries(config, options, backend);
  found = static_cast<kernels::Detection*>(
      backend.allocate(static_cast<std::size_t>(rows()) * sizeof(kernels::Detection)));
  best =
      static_cast<std::int32_t*>(backend.allocate(static_cast<std::size_t>(rows()) * sizeof(std::int32_t)));
  const std::vector<kernels::ImageSize> sizes(
      static_cast<std::size_t>(options.images),
      {static_cast<float>(options.height), static_cast<float>(options.width)});
  image_sizes = static_cast<kernels::ImageSize*>(backend.allocate(sizes.size() * sizeof(kernels::ImageSize)));
  backend.upload(sizes.data(), image_sizes, sizes.size() * sizeof(kernels::ImageSize));

  Arena measuring_arena(nullptr, 0);
  const std::unique_ptr<Backend> measuring = make_measuring_backend(ledger);
  NoDumps dumps;
  Execution execution{*measuring,        measuring_arena,    ledger, options.element,
                      options.attention, options.deformable, &dumps};
  run(execution);
  ledger.stop_measuring();
  arena_bytes = measuring_arena.peak_bytes();
  arena.emplace(backend.allocate(arena_bytes), arena_bytes);
}

Predictions Network::State::run(Execution& execution) {
  const Arena::Scope scope(execution.arena);
  Predictions made{};
  {
    const Module model(execution, "model");
    dump(execution, "pixel_values", pixels);
    const FeatureMaps maps = run_backbone(execution, config, parameters.backbone, pixels);
    const FeatureMaps fused = run_hybrid_encoder(execution, config, parameters.encoder, geometry, maps);
    const Selection selection =
        run_query_selection(execution, config, parameters.selection, geometry, fused, queries, forced_top_k);
    made = run_decoder(execution, config, parameters.decoder, geometry, selection);
  }
  postprocess(execution, made);
  return made;
}

void Network::State::postprocess(Execution& execution, const Predictions& made) {
  const Module module(execution, "postprocess");
  kernels::TopKArgs choice;
  choice.images = options.images;
  choice.rows = config.queries * config.labels;
  choice.k = config.queries;
  choice.scores = made.logits;
  choice.indices = best;
  execution.backend.run(choice);
  execution.backend.join_branches();
  kernels::PostprocessArgs args;
  args.images = options.images;
  args.queries = config.queries;
  args.labels = config.labels;
  args.detections = config.queries;
  args.logits = made.logits;
  args.boxes = made.boxes;
  args.indices = choice.indices;
  args.image_sizes = image_sizes;
  args.output = found;
  execution.backend.run(args);
}

Network::Network(const Config& config, const Weights& weights, const NetworkOptions& options,
                 Backend& backend)
    : state_(std::make_unique<State>(config, weights, options, backend)) {}

Network::~Network() = default;

const Tensor& Network::pixels() const {
  return state_->pixels;
}

void Network::load_image(int slot, std::span<const std::uint8_t> image, int height, int width) {
  State& state = *state_;
  if (slot < 0 || slot >= state.options.images) throw std::out_of_range("the batch has no such image");
  if (height <= 0 || width <= 0 ||
      image.size() != static_cast<std::size_t>(height) * static_cast<std::size_t>(width) * 3)
    throw std::invalid_argument("the bytes of an image do not match its size");
  if (image.size() > state.image_buffer_bytes) {
    state.image_buffer = static_cast<std::uint8_t*>(state.backend.allocate(image.size()));
    state.image_buffer_bytes = image.size();
  }
  {
    const probe::Range range("H2D", image.size());
    state.backend.upload(image.data(), state.image_buffer, image.size());
    const kernels::ImageSize size{static_cast<float>(height), static_cast<float>(width)};
    state.backend.upload(&size, state.image_sizes + slot, sizeof size);
  }
  kernels::PreprocessArgs args;
  args.element = state.options.element;
  args.image = state.image_buffer;
  args.source_height = height;
  args.source_width = width;
  args.target_height = state.options.height;
  args.target_width = state.options.width;
  args.output = static_cast<std::byte*>(state.pixels.view.data) +
                bytes_of(args.element, slot * state.pixels.view.image_step());
  const probe::Range range("preprocess", kernels::min_bytes(args));
  state.backend.run(args);
}

void Network::load_pixels(std::span<const float> values) {
  State& state = *state_;
  const auto pixels = static_cast<std::size_t>(state.pixels.rows());
  if (values.size() != 3 * pixels) throw std::invalid_argument("the values do not match the input's size");
  std::vector<float> spread(kernels::kPixelStride * pixels);
  for (std::size_t i = 0; i < pixels; ++i)
    for (std::size_t c = 0; c < 3; ++c) spread[kernels::kPixelStride * i + c] = values[3 * i + c];
  std::vector<std::byte> elements(spread.size() * kernels::element_bytes(state.options.element));
  kernels::convert_from_fp32(state.options.element, spread.data(), elements.data(), spread.size());
  const probe::Range range("H2D", elements.size());
  state.backend.upload(elements.data(), state.pixels.view.data, elements.size());
}

void Network::force_top_k(std::span<const std::int32_t> indices) {
  State& state = *state_;
  state.forced_top_k = nullptr;
  if (indices.empty()) return;
  if (indices.size() != static_cast<std::size_t>(state.rows()))
    throw std::invalid_argument("forced indices: there are " + std::to_string(indices.size()) + ", needed " +
                                std::to_string(state.rows()));
  for (const std::int32_t index : indices)
    if (index < 0 || index >= state.geometry.positions)
      throw std::invalid_argument("forced indices: " + std::to_string(index) + " is not a position");
  if (state.forced_buffer == nullptr)
    state.forced_buffer = static_cast<std::int32_t*>(state.backend.allocate(indices.size_bytes()));
  state.backend.upload(indices.data(), state.forced_buffer, indices.size_bytes());
  state.forced_top_k = state.forced_buffer;
}

void Network::forward(DumpSink* dumps) {
  State& state = *state_;
  Execution execution{state.backend,
                      *state.arena,
                      state.ledger,
                      state.options.element,
                      state.options.attention,
                      state.options.deformable,
                      dumps};
  state.predictions = state.run(execution);
}

const Predictions& Network::predictions() const {
  return state_->predictions;
}

std::vector<std::vector<kernels::Detection>> Network::detections() {
  State& state = *state_;
  const auto of_image = static_cast<std::size_t>(state.config.queries);
  std::vector<std::vector<kernels::Detection>> all(static_cast<std::size_t>(state.options.images));
  const probe::Range range("D2H", static_cast<std::size_t>(state.rows()) * sizeof(kernels::Detection));
  for (std::size_t i = 0; i < all.size(); ++i) {
    all[i].resize(of_image);
    state.backend.download(state.found + i * of_image, all[i].data(), of_image * sizeof(kernels::Detection));
  }
  return all;
}

std::uint64_t Network::arena_bytes() const {
  return state_->arena_bytes;
}

std::uint64_t Network::declared_bytes() const {
  return state_->ledger.bytes_of("model") + state_->ledger.bytes_of("postprocess");
}

}  // namespace rangefinder::rtdetr
