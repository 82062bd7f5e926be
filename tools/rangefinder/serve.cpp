// SPDX-License-Identifier: Apache-2.0
//
// rangefinder serve [DIR…] [--port N]: serves traces and running programs to browsers, Grafana, Prometheus.
#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>

#include <atomic>
#include <filesystem>
#include <iostream>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "tools/analysis/model/missing.h"
#include "tools/command_line/command_line.h"
#include "tools/rangefinder/installation.h"
#include "tools/rangefinder/verb.h"
#include "tools/serve/site.h"

namespace rangefinder {
namespace {

constexpr int kPort = 7117;

struct ServeOptions {
  std::vector<std::string> places;
  int port = -1;  ///< -1: kPort, or any free port if that is taken
  std::size_t modules = PrometheusLimits{}.modules;
  std::size_t kernels = 200;
  bool kernel_labels = false;
};

#ifdef RANGEFINDER_HTTP_INSIDE
MakeHttpListener* load_http() {
  return &rangefinder_http_listener;
}
#else
/// Never unloads the module, because it holds the code of the listener.
MakeHttpListener* load_http() {
  std::string reason;
  for (std::filesystem::path place : library_places(program_folder())) {
    place.replace_filename(kHttpModule);
    std::error_code ignored;
    if (!std::filesystem::exists(place, ignored)) continue;
    void* const module = dlopen(place.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (module == nullptr) {
      reason = dlerror();
      continue;
    }
    if (void* const function = dlsym(module, kHttpModuleFunction))
      return reinterpret_cast<MakeHttpListener*>(function);
  }
  if (!reason.empty())
    throw Missing("serve cannot be loaded: " + reason +
                  "\n  It needs cpp-httplib: apt-get install libcpp-httplib-dev");
  throw Missing(
      "this Rangefinder was built without serve, because cpp-httplib was missing\n"
      "  apt-get install libcpp-httplib-dev, then configure and build again.");
}
#endif

int bound_port(HttpListener& listener, int wanted) {
  const int port = listener.bind(wanted < 0 ? kPort : wanted);
  if (port != 0) return port;
  if (wanted >= 0)
    throw Missing("port " + std::to_string(wanted) +
                  " of 127.0.0.1 is taken or not permitted: choose another, or 0 for any free port");
  return listener.bind(0);
}

int serve(const ServeOptions& options) {
  MakeHttpListener* const make = load_http();
  PrometheusLimits limits;
  limits.modules = options.modules;
  limits.kernels = options.kernel_labels ? options.kernels : 0;
  std::atomic<bool> stopping{false};
  Site site(options.places.empty() ? std::vector<std::string>{"."} : options.places, limits, stopping);
  // Before the first thread: all threads inherit the mask, and only sigwait() below takes the signals.
  sigset_t signals;
  sigemptyset(&signals);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) sigaddset(&signals, signal);
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);
  const std::unique_ptr<HttpListener> listener(
      make({}, [&site](const HttpRequest& request) { return site.answer(request); }));
  site.set_listener(listener.get());
  const int port = bound_port(*listener, options.port);
  if (port == 0) throw Missing("no port of 127.0.0.1 can be bound");
  std::cout << "http://127.0.0.1:" << port << "/" << std::endl;
  std::cerr << "rangefinder: serving to this machine only, Ctrl-C ends it\n";
  std::thread listening([&listener] { listener->run(); });
  int signal = 0;
  (void)sigwait(&signals, &signal);
  stopping = true;
  listener->stop();
  listening.join();
  return kExitOk;
}

}  // namespace

void add_serve(CommandLine& line, Action& action) {
  const auto options = std::make_shared<ServeOptions>();
  Verb verb = line.verb("serve", "Serve traces and running programs to browsers, Grafana and Prometheus");
  verb.option("DIR", options->places, "Folders with traces, at any depth [current folder]");
  verb.option("--port", options->port, "Port of 127.0.0.1; 0: any free port [7117, or any if that is taken]")
      .type_name("N")
      .in_range(0, 65'535);
  verb.option("--modules", options->modules,
              "/metrics: maximum number of modules with their own rows; the rest is summed as (other) [200]")
      .type_name("N")
      .positive();
  verb.flag("--kernel-labels", options->kernel_labels, "/metrics: also rows by kernel name");
  verb.option("--kernels", options->kernels, "With --kernel-labels: maximum number of kernel names [200]")
      .type_name("N")
      .positive();
  verb.footer(
      "Prints its address. Every user of this machine can reach it, other machines cannot. It only reads.\n"
      "docs/reference/serve.md lists the answers, for Grafana (Infinity) and Prometheus.\n"
      "tools/dashboards has a dashboard and rules.\n");
  verb.callback([options, &action] { action = [options] { return serve(*options); }; });
}

}  // namespace rangefinder
