# SPDX-License-Identifier: Apache-2.0
#
# cmake -D PAGE=page.html -D HEADER=tools/page/page.h -D FUNCTION=page_template -D OUT=page_template.cpp
#   -P embed_page.cmake: writes a source file with the bytes of a page and the function that returns them.
file(READ ${PAGE} bytes HEX)
string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," bytes "${bytes}")
string(REGEX REPLACE "(................................................................................)" "\\1\n" bytes "${bytes}")
file(WRITE ${OUT} "// Made from ${PAGE}: do not edit.
#include \"${HEADER}\"

namespace rangefinder {
namespace {
constexpr unsigned char kPage[] = {
${bytes}};
}  // namespace

std::string_view ${FUNCTION}() noexcept { return {reinterpret_cast<const char*>(kPage), sizeof kPage}; }

}  // namespace rangefinder
")
