# SPDX-License-Identifier: Apache-2.0
#
# What `cmake --install` copies: the tree that the tarball, the wheel and the deb contain.
#
#   bin/rangefinder             launcher: says what an older system lacks, else starts the program
#   lib/rangefinder/            the program, librangefinder.so
#   share/rangefinder/          python (--torch-modules), example (a recorded trace), sql, dashboards, schema
#   share/doc/rangefinder/      licences, changelog
#   share/man, completions
#
# The component `viewer` is the same tree of the edition without CUDA.

set(_example ${CMAKE_BINARY_DIR}/share/rangefinder/example)
set(_recording ${PROJECT_SOURCE_DIR}/tests/replay/rtdetr_exact)
set(_unpack ${PROJECT_SOURCE_DIR}/tests/replay/unpack_golden.py)
find_package(Python3 3.9 REQUIRED COMPONENTS Interpreter)
add_custom_command(OUTPUT ${_example}/trace-00000.ndjson VERBATIM
  COMMAND ${Python3_EXECUTABLE} -B ${_unpack} ${_recording} ${_example}
  DEPENDS ${_unpack} ${_recording}/golden.ndjson.gz)

set(_package ${PROJECT_SOURCE_DIR}/tools/package)
set(_notices ${CMAKE_BINARY_DIR}/share/doc/rangefinder/THIRD-PARTY-NOTICES)
file(GLOB _licences CONFIGURE_DEPENDS ${_package}/licences/*)
add_custom_command(OUTPUT ${_notices} VERBATIM
  COMMAND ${Python3_EXECUTABLE} -B ${_package}/notices.py ${_notices}
  DEPENDS ${_package}/notices.py ${_package}/third_party.json ${_package}/sources.json
    ${PROJECT_SOURCE_DIR}/tools/web/package-lock.json ${_licences})
add_custom_target(rangefinder_share ALL DEPENDS ${_example}/trace-00000.ndjson ${_notices})

# rangefinder_install(TARGET OPTIONS…): what both editions have.
function(rangefinder_install target)
  install(PROGRAMS $<TARGET_FILE:${target}> DESTINATION ${RANGEFINDER_INSTALL_LIBRARIES} RENAME rangefinder ${ARGN})
  install(PROGRAMS ${_package}/launcher DESTINATION ${CMAKE_INSTALL_BINDIR} RENAME rangefinder ${ARGN})
  install(FILES ${_example}/trace-00000.ndjson DESTINATION ${CMAKE_INSTALL_DATADIR}/rangefinder/example ${ARGN})
  install(FILES ${PROJECT_SOURCE_DIR}/LICENSE ${PROJECT_SOURCE_DIR}/CHANGELOG.md ${_notices}
    DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/rangefinder ${ARGN})
  install(DIRECTORY ${PROJECT_SOURCE_DIR}/tools/sql DESTINATION ${CMAKE_INSTALL_DATADIR}/rangefinder ${ARGN}
    FILES_MATCHING PATTERN "*.sql")
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
  install(FILES ${_python_files} DESTINATION ${CMAKE_INSTALL_DATADIR}/rangefinder/python)
  install(PROGRAMS ${_package}/container-entry DESTINATION ${CMAKE_INSTALL_DATADIR}/rangefinder)
  install(DIRECTORY ${PROJECT_SOURCE_DIR}/tools/dashboards DESTINATION ${CMAKE_INSTALL_DATADIR}/rangefinder)
endif()
