// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Symbol of the log of chained_tool.cpp: `const char* chained_tool_log()`.
inline constexpr const char* kChainedToolLog = "chained_tool_log";
