# SPDX-License-Identifier: Apache-2.0
#
# What `cmake --install` copies: the tree that the tarball, the wheel and the deb contain.
#
#   bin/rangefinder             launcher: says what an older system lacks, else starts the program
#   lib/rangefinder/            the program, librangefinder.so
#   share/rangefinder/          python (the package, --torch-modules), example (recorded traces), dashboards, sql, schema
#   share/doc/rangefinder/      licences, changelog
#   share/man, completions
#
# The component `viewer` is the same tree of the edition without CUDA.

find_package(Python3 3.9 REQUIRED COMPONENTS Interpreter)
set(_package ${PROJECT_SOURCE_DIR}/tools/package)
set(_unpack ${PROJECT_SOURCE_DIR}/tests/replay/unpack_golden.py)
# The traces of `report --example` and `demo`, kExamples in tools/rangefinder/installation.h: NAME=RECORDING.
set(_examples)
foreach(_example rtdetr=hf_rtdetr_sampled decoder=decoder_sampled)
  string(REGEX MATCH "^(.*)=(.*)$" _ ${_example})
  set(_recording ${PROJECT_SOURCE_DIR}/tests/replay/${CMAKE_MATCH_2})
  set(_lines ${CMAKE_BINARY_DIR}/examples/${CMAKE_MATCH_1})
  set(_trace ${CMAKE_BINARY_DIR}/share/rangefinder/example/${CMAKE_MATCH_1}/trace-00000.ndjson.zst)
  add_custom_command(OUTPUT ${_trace} VERBATIM
    COMMAND ${Python3_EXECUTABLE} -B ${_unpack} ${_recording} ${_lines}
    COMMAND ${CMAKE_COMMAND} -D FILE=${_lines}/trace-00000.ndjson -D OUT=${_trace} -P ${_package}/compress.cmake
    DEPENDS ${_unpack} ${_package}/compress.cmake ${_recording}/golden.ndjson.gz)
  list(APPEND _examples ${_trace})
endforeach()

set(_notices ${CMAKE_BINARY_DIR}/share/doc/rangefinder/THIRD-PARTY-NOTICES)
file(GLOB _licences CONFIGURE_DEPENDS ${_package}/licences/*)
add_custom_command(OUTPUT ${_notices} VERBATIM
  COMMAND ${Python3_EXECUTABLE} -B ${_package}/notices.py ${_notices}
  DEPENDS ${_package}/notices.py ${_package}/third_party.json ${_package}/sources.json
    ${PROJECT_SOURCE_DIR}/tools/web/package-lock.json ${_licences})
add_custom_target(rangefinder_share ALL DEPENDS ${_examples} ${_notices})

# rangefinder_install(TARGET OPTIONS…): what both editions have.
function(rangefinder_install target)
  install(PROGRAMS $<TARGET_FILE:${target}> DESTINATION ${RANGEFINDER_INSTALL_LIBRARIES} RENAME rangefinder ${ARGN})
  install(PROGRAMS ${_package}/launcher DESTINATION ${CMAKE_INSTALL_BINDIR} RENAME rangefinder ${ARGN})
  install(DIRECTORY ${CMAKE_BINARY_DIR}/share/rangefinder/example DESTINATION ${CMAKE_INSTALL_DATADIR}/rangefinder ${ARGN}
    FILES_MATCHING PATTERN "*.zst")
  install(FILES ${PROJECT_SOURCE_DIR}/LICENSE ${PROJECT_SOURCE_DIR}/CHANGELOG.md ${_notices}
    DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/rangefinder ${ARGN})
  install(DIRECTORY ${PROJECT_SOURCE_DIR}/schema DESTINATION ${CMAKE_INSTALL_DATADIR}/rangefinder ${ARGN}
    FILES_MATCHING PATTERN "*.schema.json" PATTERN examples EXCLUDE)
  install(FILES ${PROJECT_SOURCE_DIR}/tools/completion/rangefinder.bash
    DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions RENAME rangefinder ${ARGN})
  install(FILES ${PROJECT_SOURCE_DIR}/tools/completion/_rangefinder
    DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/site-functions ${ARGN})
  install(FILES ${PROJECT_SOURCE_DIR}/tools/completion/rangefinder.fish
    DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d ${ARGN})
endfunction()

rangefinder_install(rangefinder_viewer ${RANGEFINDER_VIEWER})
if(RANGEFINDER_COLLECTOR)
  rangefinder_install(rangefinder)
  install(DIRECTORY ${RANGEFINDER_PYTHON_FOLDER} DESTINATION ${CMAKE_INSTALL_DATADIR}/rangefinder
    PATTERN __pycache__ EXCLUDE)
  install(PROGRAMS ${_package}/container-entry DESTINATION ${CMAKE_INSTALL_DATADIR}/rangefinder)
  install(DIRECTORY ${PROJECT_SOURCE_DIR}/tools/dashboards ${PROJECT_SOURCE_DIR}/tools/sql
    DESTINATION ${CMAKE_INSTALL_DATADIR}/rangefinder PATTERN __pycache__ EXCLUDE)
endif()
