// SPDX-License-Identifier: Apache-2.0
//
// rangefinder-replay RECORDING --out DIR: turns a recorded run into its trace again.
//
// For tests and the demo on machines without a GPU. RECORDING may be compressed with zstd (*.zst).
// RANGEFINDER_RECORD makes recordings.

#include <zstd.h>

#include <cstdio>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>

#include "tools/command_line/command_line.h"
#include "tools/replay/recording_player.h"

namespace rangefinder {
namespace {

using File = std::unique_ptr<std::FILE, int (*)(std::FILE*)>;

File open_plain(const std::string& path) {
  File file(std::fopen(path.c_str(), "rbe"), &std::fclose);
  if (file == nullptr) throw std::runtime_error("cannot open " + path);
  return file;
}

/// Decompresses the recording to an unnamed temporary file.
File decompress(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  if (!in) throw std::runtime_error("cannot open " + path);
  const std::string packed((std::istreambuf_iterator<char>(in)), {});
  File out(std::tmpfile(), &std::fclose);
  const std::unique_ptr<ZSTD_DStream, size_t (*)(ZSTD_DStream*)> stream(ZSTD_createDStream(),
                                                                        &ZSTD_freeDStream);
  if (out == nullptr || stream == nullptr) throw std::runtime_error("cannot decompress " + path);
  std::string part(ZSTD_DStreamOutSize(), '\0');
  ZSTD_inBuffer input{packed.data(), packed.size(), 0};
  while (input.pos < input.size) {
    ZSTD_outBuffer output{part.data(), part.size(), 0};
    const size_t status = ZSTD_decompressStream(stream.get(), &output, &input);
    if (ZSTD_isError(status) != 0) throw std::runtime_error(path + ": " + ZSTD_getErrorName(status));
    std::fwrite(part.data(), 1, output.pos, out.get());
  }
  std::rewind(out.get());
  return out;
}

bool holds_trace(const std::string& folder) {
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(folder, error)) {
    if (entry.path().filename().native().starts_with("trace-")) return true;
  }
  return false;
}

void replay(const std::string& recording, const Options& options, const std::string& folder) {
  if (!options.force && holds_trace(folder))
    throw std::runtime_error(folder +
                             " holds a trace already: choose another --out, or replace it with --force");
  CuptiLibrary library;
  CuptiFailure failure;
  if (!load_cupti({options.cupti}, library, failure)) throw std::runtime_error(failure.reason);
  File file = recording.ends_with(".zst") ? decompress(recording) : open_plain(recording);
  RecordingReader reader(std::move(file), recording);
  RecordingPlayer player(library.functions, options);
  player.play(reader, folder);
}

}  // namespace
}  // namespace rangefinder

int main(int argc, char** argv) {
  rangefinder::CommandLine line("rangefinder-replay", "Turns a recorded run into its trace again.");
  rangefinder::Verb verb = line.without_verb();
  std::string recording, folder;
  rangefinder::Options options;
  verb.option("RECORDING", recording, "File made with RANGEFINDER_RECORD, plain or .zst").required();
  verb.option("--out", folder, "Folder of the trace").type_name("DIR").required();
  verb.flag("--force", options.force, "Replace an existing trace");
  if (const char* const named = std::getenv("RANGEFINDER_CUPTI")) options.cupti = named;
  verb.option("--cupti", options.cupti, "The libcupti.so whose record iterator to use [RANGEFINDER_CUPTI]")
      .type_name("FILE");
  try {
    if (const std::optional<int> exit_code = line.parse({argv + 1, argv + argc})) return *exit_code;
  } catch (const rangefinder::NotUnderstood& error) {
    std::fprintf(stderr, "%s\nRun with --help for more information.\n", error.what());
    return 2;
  }
  try {
    rangefinder::replay(recording, options, folder);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "rangefinder-replay: %s\n", error.what());
    return 3;
  }
  return 0;
}
