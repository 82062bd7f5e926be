# SPDX-License-Identifier: Apache-2.0
#
# cmake -D FILE=… -D OUT=… -P compress.cmake: OUT is FILE as zstd. CMake can do it, so no build needs the program zstd.
cmake_path(GET OUT PARENT_PATH folder)
file(MAKE_DIRECTORY ${folder})
file(ARCHIVE_CREATE OUTPUT ${OUT} PATHS ${FILE} FORMAT raw COMPRESSION Zstd COMPRESSION_LEVEL 9)
