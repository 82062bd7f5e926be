# SPDX-License-Identifier: Apache-2.0
#
# Every third-party package, in one place. CUPTI and NVTX are used by header
# only: libcupti is loaded at run time, never linked (docs/internals/architecture.md).

find_package(Threads REQUIRED)
find_package(nlohmann_json 3.11 REQUIRED)
find_package(CLI11 2.1 REQUIRED)
find_package(SQLite3 REQUIRED)

if(RANGEFINDER_COLLECTOR)
  # CMake 3.25.1 (Debian 12) sets a property of this target, although CUDA 13 has no libnvToolsExt. Nothing links to it.
  if(CMAKE_VERSION VERSION_LESS 3.26 AND NOT TARGET CUDA::nvToolsExt)
    add_library(CUDA::nvToolsExt INTERFACE IMPORTED)
  endif()
  find_package(CUDAToolkit 13 REQUIRED)
  add_library(rangefinder_cuda_headers INTERFACE)
  target_include_directories(rangefinder_cuda_headers SYSTEM INTERFACE ${CUDAToolkit_INCLUDE_DIRS})
  find_path(RANGEFINDER_CUPTI_INCLUDE cupti.h
    HINTS ${CUDAToolkit_INCLUDE_DIRS} ${CUDAToolkit_LIBRARY_ROOT}/extras/CUPTI/include REQUIRED)
  target_include_directories(rangefinder_cuda_headers SYSTEM INTERFACE ${RANGEFINDER_CUPTI_INCLUDE})
  if(RANGEFINDER_STATIC_SOURCES)  # the toolkit's folder is not part of the result either
    target_compile_options(rangefinder_cuda_headers INTERFACE -ffile-prefix-map=${RANGEFINDER_CUPTI_INCLUDE}=cuda)
  endif()

  # Debian's spdlog and fmt targets are shared libraries. Inside somebody else's
  # process they must be ours alone: headers only, hidden visibility.
  find_package(spdlog REQUIRED)
  get_target_property(_spdlog_include spdlog::spdlog INTERFACE_INCLUDE_DIRECTORIES)
  add_library(rangefinder_spdlog INTERFACE)
  target_include_directories(rangefinder_spdlog SYSTEM INTERFACE ${_spdlog_include})
  target_compile_definitions(rangefinder_spdlog INTERFACE SPDLOG_FMT_EXTERNAL FMT_HEADER_ONLY)
endif()

if(RANGEFINDER_STATIC_SOURCES)
  # Debian's shared simdjson needs a shared libstdc++: from source, one file.
  add_library(rangefinder_simdjson STATIC ${RANGEFINDER_STATIC_SOURCES}/simdjson/src/simdjson.cpp)
  target_include_directories(rangefinder_simdjson SYSTEM PUBLIC ${RANGEFINDER_STATIC_SOURCES}/simdjson/include)
  target_include_directories(rangefinder_simdjson PRIVATE ${RANGEFINDER_STATIC_SOURCES}/simdjson/src)
  add_library(simdjson::simdjson ALIAS rangefinder_simdjson)
else()
  find_package(simdjson REQUIRED)
endif()

# fmt, header-only for the tools as well: binaries made on one machine run on another.
add_library(rangefinder_fmt INTERFACE)
target_compile_definitions(rangefinder_fmt INTERFACE FMT_HEADER_ONLY)

# zstd, inside the program where its static library is there.
find_library(RANGEFINDER_ZSTD NAMES libzstd.a zstd REQUIRED)
find_path(RANGEFINDER_ZSTD_INCLUDE zstd.h REQUIRED)
add_library(rangefinder_zstd INTERFACE)
target_include_directories(rangefinder_zstd SYSTEM INTERFACE ${RANGEFINDER_ZSTD_INCLUDE})
target_link_libraries(rangefinder_zstd INTERFACE ${RANGEFINDER_ZSTD})

# SQLite for `rangefinder export --to sqlite`, inside the program where its static library is there.
find_library(RANGEFINDER_SQLITE NAMES libsqlite3.a sqlite3 REQUIRED)
add_library(rangefinder_sqlite INTERFACE)
target_include_directories(rangefinder_sqlite SYSTEM INTERFACE ${SQLite3_INCLUDE_DIRS})
target_link_libraries(rangefinder_sqlite INTERFACE ${RANGEFINDER_SQLITE} Threads::Threads ${CMAKE_DL_LIBS} m)

# stb, headers only: Debian's libstb-dev. Its own warnings are not ours.
if(RANGEFINDER_COLLECTOR)
  find_path(RANGEFINDER_STB_INCLUDE stb_image.h PATH_SUFFIXES stb REQUIRED)
  add_library(rangefinder_stb INTERFACE)
  target_include_directories(rangefinder_stb SYSTEM INTERFACE ${RANGEFINDER_STB_INCLUDE})
endif()

# cpp-httplib, for `rangefinder serve`: optional. Debian's library has TLS and compression, which need shared
# libraries and change its classes; its header, from source, has neither. Of other versions the classes that we derive
# from look otherwise: asked by compiling.
add_library(rangefinder_httplib INTERFACE IMPORTED GLOBAL)
if(RANGEFINDER_STATIC_SOURCES)
  target_include_directories(rangefinder_httplib SYSTEM INTERFACE ${RANGEFINDER_STATIC_SOURCES}/cpp-httplib)
  set(RANGEFINDER_CPP_HTTPLIB_FOUND ON)
else()
  find_package(PkgConfig QUIET)
  if(PkgConfig_FOUND)
    pkg_check_modules(RANGEFINDER_CPP_HTTPLIB QUIET IMPORTED_TARGET cpp-httplib)
  endif()
  if(RANGEFINDER_CPP_HTTPLIB_FOUND)
    target_link_libraries(rangefinder_httplib INTERFACE PkgConfig::RANGEFINDER_CPP_HTTPLIB)
  endif()
endif()
if(RANGEFINDER_CPP_HTTPLIB_FOUND)
  include(CheckCXXSourceCompiles)
  set(CMAKE_REQUIRED_LIBRARIES rangefinder_httplib Threads::Threads)
  check_cxx_source_compiles("
    #include <httplib.h>
    struct Memory final : httplib::Stream {
      bool is_readable() const override { return true; }
      bool is_writable() const override { return true; }
      ssize_t read(char*, size_t) override { return 0; }
      ssize_t write(const char*, size_t) override { return 0; }
      void get_remote_ip_and_port(std::string&, int&) const override {}
      void get_local_ip_and_port(std::string&, int&) const override {}
      socket_t socket() const override { return -1; }
    };
    struct Server final : httplib::Server {
      bool process_and_close_socket(socket_t) override {
        Memory stream;
        bool closed = false;
        return process_request(stream, true, closed, nullptr);
      }
    };
    struct Tasks final : httplib::TaskQueue {
      void enqueue(std::function<void()>) override {}
      void shutdown() override {}
    };
    int main() { Tasks tasks; return Server().is_running() ? 1 : 0; }" RANGEFINDER_HTTPLIB_FITS)
  unset(CMAKE_REQUIRED_LIBRARIES)
endif()
if(RANGEFINDER_HTTPLIB_FITS)
  set(RANGEFINDER_HTTPLIB ON)
else()
  set(RANGEFINDER_HTTPLIB OFF)
  message(STATUS "`rangefinder serve` is left out: no cpp-httplib like 0.11 (libcpp-httplib-dev)")
endif()

if(RANGEFINDER_TESTS)
  find_package(Catch2 REQUIRED)  # 2.13 (Debian 12) or 3.x: tests/catch.h hides the difference
endif()

if(RANGEFINDER_CUDA AND RANGEFINDER_COLLECTOR)
  include(CheckLanguage)
  check_language(CUDA)
  if(CMAKE_CUDA_COMPILER)
    if(NOT DEFINED CMAKE_CUDA_ARCHITECTURES)
      set(CMAKE_CUDA_ARCHITECTURES 80-real 90-real 90-virtual)
    endif()
    set(CMAKE_CUDA_STANDARD 17)  # CMake 3.25.1 (Debian 12) does not know nvcc's flag for C++20
    set(CMAKE_CUDA_STANDARD_REQUIRED ON)
    enable_language(CUDA)
  else()
    message(STATUS "nvcc not found: probes, kernels and workloads are left out")
    set(RANGEFINDER_CUDA OFF)
  endif()
endif()
