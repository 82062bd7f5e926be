// SPDX-License-Identifier: Apache-2.0
//
// rangefinder demo [EXAMPLE] [--out DIR]: writes the page of a recorded program, prints its address, and
// opens it in a browser if there is one.
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <iostream>
#include <memory>
#include <string>
#include <vector>

#include "tools/analysis/model/missing.h"
#include "tools/command_line/command_line.h"
#include "tools/export/value_text.h"
#include "tools/rangefinder/child_process.h"
#include "tools/rangefinder/installation.h"
#include "tools/rangefinder/named_traces.h"
#include "tools/rangefinder/report_html.h"
#include "tools/rangefinder/verb.h"

namespace rangefinder {
namespace {

namespace fs = std::filesystem;

struct DemoOptions {
  std::string example = kExamples.front().name;
  std::string out;  ///< folder of the page; empty: a new one below the system's temporary folder
};

/// Empty and unset are the same.
std::string variable(const char* name) {
  const char* const value = std::getenv(name);
  return value == nullptr ? "" : value;
}

fs::path make_folder(const std::string& wanted) {
  std::error_code error;
  fs::path folder = wanted;
  if (wanted.empty()) {
    folder = fs::temp_directory_path(error);
    std::string name = (folder / "rangefinder-demo-XXXXXX").string();
    if (!error && mkdtemp(name.data()) != nullptr) return name;
    if (!error) error = std::error_code(errno, std::generic_category());
  } else {
    fs::create_directories(folder, error);
    if (!error) return fs::absolute(folder).lexically_normal();
  }
  throw Missing("cannot create a folder: " + folder.string() + ": " + error.message());
}

/// The program that opens addresses: $BROWSER, else the desktop's. Empty: there is no browser.
std::string browser() {
  if (std::string own = variable("BROWSER"); !own.empty()) return own;
  return variable("DISPLAY").empty() && variable("WAYLAND_DISPLAY").empty() ? "" : "xdg-open";
}

std::vector<std::string> own_environment() {
  std::vector<std::string> out;
  for (char** each = environ; *each != nullptr; ++each) out.emplace_back(*each);
  return out;
}

void open_in_browser(const std::string& address) {
  const std::string program = browser();
  if (program.empty()) {
    std::cerr
        << "No browser here: $BROWSER and $DISPLAY are not set. Open the address in one, or copy the file.\n";
    return;
  }
  const ChildEnd end = run_child({program, address}, own_environment());
  if (end.start_error != 0) {
    std::cerr << program << ": " << std::strerror(end.start_error) << ". Open the address in a browser.\n";
  } else if (end.shell_code() != 0) {
    std::cerr << program << " ended with code " << end.shell_code() << ". Open the address in a browser.\n";
  }
}

int demo(const DemoOptions& options) {
  const std::vector<TraceFolder> traces = named_traces({find_example(options.example).string()});
  const fs::path file = make_folder(options.out) / (options.example + ".html");
  write_html(traces, file.string(), {});
  const std::string address = "file://" + percent_text(file.string(), "/-._~");
  std::cout << address << std::endl;  // before a browser that keeps the terminal
  open_in_browser(address);
  return kExitOk;
}

}  // namespace

void add_demo(CommandLine& line, Action& action) {
  const auto options = std::make_shared<DemoOptions>();
  Verb verb = line.verb("demo", "Open the page of a recorded program in a browser; needs no GPU");
  verb.usage("[OPTIONS] [EXAMPLE]");
  std::vector<Choice> examples;
  for (const Example& one : kExamples) examples.push_back({one.name, one.about});
  verb.option("EXAMPLE", options->example, std::string("The program [") + kExamples.front().name + "]:")
      .choices(examples)
      .only_choices();
  verb.option("--out", options->out, "Folder to write the page to [a new one for temporary files]")
      .type_name("DIR");
  verb.footer(
      "The browser is $BROWSER, or where there is a display xdg-open. Without one only the address is\n"
      "printed.\n");
  verb.callback([options, &action] { action = [options] { return demo(*options); }; });
}

}  // namespace rangefinder
