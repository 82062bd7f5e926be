# SPDX-License-Identifier: Apache-2.0

# rangefinder_target(TARGET [APART REGEX]): our flags for one of our targets; nothing is set globally.
#
# With RANGEFINDER_UNITY sixteen files of a target are compiled as one, because headers take most of the time. So two
# files of a target must not define the same local name. CUDA files, which CMake joins as well from 3.31 on, are
# compiled alone. APART: C++ files that have to be; the reason stands beside the call.
function(rangefinder_target target)
  cmake_parse_arguments(ARG "" "APART" "" ${ARGN})
  set(cxx_warnings -Wall -Wextra -Wconversion -Wshadow -Wnon-virtual-dtor -Werror)
  if(RANGEFINDER_SANITIZE)
    # gcc 12 sees uninitialised reads inside libstdc++'s <regex> under the sanitizers.
    list(APPEND cxx_warnings -Wno-maybe-uninitialized)
    target_compile_options(${target} PRIVATE
      $<$<COMPILE_LANGUAGE:CXX>:-fsanitize=${RANGEFINDER_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer>)
    target_link_options(${target} PRIVATE -fsanitize=${RANGEFINDER_SANITIZE})
  endif()
  target_compile_options(${target} PRIVATE $<$<COMPILE_LANGUAGE:CXX>:${cxx_warnings}>
    $<$<COMPILE_LANGUAGE:CUDA>:--Werror=all-warnings -Xcompiler=-Wall,-Wextra>)
  target_include_directories(${target} PRIVATE ${PROJECT_SOURCE_DIR})
  set_target_properties(${target} PROPERTIES CXX_VISIBILITY_PRESET hidden
    VISIBILITY_INLINES_HIDDEN ON CUDA_VISIBILITY_PRESET hidden)
  if(RANGEFINDER_UNITY)
    set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE 16)
    set(apart [[\.cu$]])
    if(ARG_APART)
      string(APPEND apart "|${ARG_APART}")
    endif()
    # At the end of the folder, when all of the target's files are known.
    cmake_language(EVAL CODE "cmake_language(DEFER CALL rangefinder_compile_apart ${target} [[${apart}]])")
  endif()
endfunction()

# rangefinder_compile_apart(TARGET REGEX): files of TARGET that are not joined with others.
function(rangefinder_compile_apart target regex)
  get_target_property(files ${target} SOURCES)
  list(FILTER files INCLUDE REGEX "${regex}")
  if(files)
    set_source_files_properties(${files} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
  endif()
endfunction()

# rangefinder_link_map(TARGET): writes maps/TARGET.map, which says what third-party archives are in TARGET
# (tests/package/third_party_test.py).
function(rangefinder_link_map target)
  file(MAKE_DIRECTORY ${CMAKE_BINARY_DIR}/maps)
  target_link_options(${target} PRIVATE LINKER:-Map=${CMAKE_BINARY_DIR}/maps/${target}.map)
endfunction()
