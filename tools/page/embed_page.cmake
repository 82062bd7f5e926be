# SPDX-License-Identifier: Apache-2.0
#
# cmake -D PAGE=page.html -D OUT=page_template.cpp -P embed_page.cmake: a file as an array of bytes.
file(READ ${PAGE} bytes HEX)
string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," bytes "${bytes}")
string(REGEX REPLACE "(................................................................................)" "\\1\n" bytes "${bytes}")
file(WRITE ${OUT} "// Made from ${PAGE}: do not edit.
#include \"tools/page/page_template.h\"

namespace rangefinder {
namespace {
constexpr unsigned char kPage[] = {
${bytes}};
}  // namespace

std::string_view page_template() noexcept { return {reinterpret_cast<const char*>(kPage), sizeof kPage}; }

}  // namespace rangefinder
")
