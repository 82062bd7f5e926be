// SPDX-License-Identifier: Apache-2.0
//
// schema/loss.h as the Markdown table of schema/README.md (tables.py compares).
#include <cstdio>

#include "schema/loss.h"

int main() {
  std::puts("| cause | what one count means |\n|---|---|");
  for (const rangefinder::LossCause& cause : rangefinder::kLossCauses) {
    std::printf("| `%s` | %s |\n", cause.name, cause.meaning);
  }
  return 0;
}
