// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Symbol of what chained_tool.cpp was told so far: `const char* chained_tool_log()`.
inline constexpr const char* kChainedToolLog = "chained_tool_log";
