// SPDX-License-Identifier: Apache-2.0
//
// Where CPython 3.9 to 3.12 keeps what a stack sampler reads. Later versions publish these numbers
// themselves, in _Py_DebugOffsets at the start of _PyRuntime.
//
//   _PyRuntime --interpreters_head--> interpreter --threads_head--> thread --+--frame--> frame (3.9, 3.10)
//                                       | next                        | next |
//                                       v                             v      +--cframe--> frame (3.11, 3.12)
//
//   frame --code--> code object --filename, name, line_table--> str and bytes objects
//     | previous
//     v
//
// Written by tools/python_offsets from CPython's own headers: change that script, not this file. The numbers
// hold for x86-64 Linux and CPython's default configuration. Nothing here reads memory or detects a version.
#pragma once

#include <array>
#include <cstdint>

namespace rangefinder {

/// Byte offsets in CPython's structs, unless a member says otherwise. kNone: that version does not have it.
struct PythonOffsets {
  static constexpr std::uint16_t kNone = 0xffff;

  std::uint8_t minor;  ///< 9 is Python 3.9

  struct Runtime {                    ///< _PyRuntimeState, the type of the symbol _PyRuntime
    std::uint16_t interpreters_head;  ///< pointer to the newest interpreter
  } runtime;

  struct Interpreter {            ///< PyInterpreterState
    std::uint16_t next;           ///< pointer
    std::uint16_t id;             ///< std::int64_t; 0 is the main interpreter
    std::uint16_t threads_head;   ///< pointer to the newest thread
    std::uint16_t gc_collecting;  ///< int; 1 while the garbage collector runs
  } interpreter;

  struct Thread {                        ///< PyThreadState
    std::uint16_t next;                  ///< pointer
    std::uint16_t interp;                ///< pointer back to the interpreter
    std::uint16_t frame;                 ///< 3.9, 3.10: pointer to the PyFrameObject that runs, or null
    std::uint16_t cframe;                ///< 3.11, 3.12: pointer to a _PyCFrame, which lies on a C stack
    std::uint16_t cframe_current_frame;  ///< in _PyCFrame: pointer to the frame that runs, or null
    std::uint16_t thread_id;             ///< unsigned long, the pthread_t
    std::uint16_t native_thread_id;      ///< unsigned long, what gettid() returns
  } thread;

  struct Frame {                     ///< 3.9, 3.10: PyFrameObject; 3.11, 3.12: _PyInterpreterFrame
    std::uint16_t previous;          ///< pointer to the caller's frame, or null
    std::uint16_t code;              ///< pointer to the code object
    std::uint16_t lasti;             ///< int, current instruction, or -1; 3.9: bytes; 3.10: units of 2 bytes
    std::uint16_t instruction;       ///< pointer to the 2-byte unit before the next instruction
    std::uint16_t owner;             ///< char, an enum _frameowner
    std::uint16_t owned_by_c_stack;  ///< value of `owner`, not an offset: the frame is no Python function
    std::uint16_t frame_bytes;       ///< size of the struct up to its locals
  } frame;

  struct Code {                      ///< PyCodeObject
    std::uint16_t filename;          ///< pointer to a str
    std::uint16_t name;              ///< pointer to a str
    std::uint16_t qualname;          ///< pointer to a str
    std::uint16_t first_line;        ///< int
    std::uint16_t line_table;        ///< pointer to a bytes object, in a format of each version
    std::uint16_t code_object;       ///< 3.9, 3.10: pointer to a bytes object, the instructions
    std::uint16_t code_bytes_begin;  ///< 3.11, 3.12: the instructions, inside the code object
    std::uint16_t code_size;         ///< 3.11, 3.12: Py_ssize_t, instructions in units of 2 bytes
  } code;

  struct Object {        ///< PyObject
    std::uint16_t type;  ///< pointer to a PyTypeObject
  } object;

  struct Bytes {         ///< PyBytesObject
    std::uint16_t size;  ///< Py_ssize_t
    std::uint16_t data;  ///< the first byte
  } bytes;

  /// PyASCIIObject, whose text is at `ascii_data`, and PyCompactUnicodeObject, whose text is at
  /// `compact_data`. Bits of `state`: 0x1c kind (bytes of a character: 1, 2 or 4), 0x20 compact, 0x40 ASCII.
  struct Unicode {
    std::uint16_t length;        ///< Py_ssize_t, characters
    std::uint16_t state;         ///< std::uint32_t of bits
    std::uint16_t ascii_data;    ///< sizeof(PyASCIIObject)
    std::uint16_t compact_data;  ///< sizeof(PyCompactUnicodeObject)
  } unicode;
};

inline constexpr std::array kPythonOffsets{
    PythonOffsets{.minor = 9,
                  .runtime = {.interpreters_head = 32},
                  .interpreter = {.next = 0, .id = 24, .threads_head = 8, .gc_collecting = 816},
                  .thread = {.next = 8,
                             .interp = 16,
                             .frame = 24,
                             .cframe = PythonOffsets::kNone,
                             .cframe_current_frame = PythonOffsets::kNone,
                             .thread_id = 176,
                             .native_thread_id = PythonOffsets::kNone},
                  .frame = {.previous = 24,
                            .code = 32,
                            .lasti = 104,
                            .instruction = PythonOffsets::kNone,
                            .owner = PythonOffsets::kNone,
                            .owned_by_c_stack = PythonOffsets::kNone,
                            .frame_bytes = 360},
                  .code = {.filename = 104,
                           .name = 112,
                           .qualname = PythonOffsets::kNone,
                           .first_line = 40,
                           .line_table = 120,
                           .code_object = 48,
                           .code_bytes_begin = PythonOffsets::kNone,
                           .code_size = PythonOffsets::kNone},
                  .object = {.type = 8},
                  .bytes = {.size = 16, .data = 32},
                  .unicode = {.length = 16, .state = 32, .ascii_data = 48, .compact_data = 72}},
    PythonOffsets{.minor = 10,
                  .runtime = {.interpreters_head = 32},
                  .interpreter = {.next = 0, .id = 24, .threads_head = 8, .gc_collecting = 816},
                  .thread = {.next = 8,
                             .interp = 16,
                             .frame = 24,
                             .cframe = PythonOffsets::kNone,
                             .cframe_current_frame = PythonOffsets::kNone,
                             .thread_id = 176,
                             .native_thread_id = PythonOffsets::kNone},
                  .frame = {.previous = 24,
                            .code = 32,
                            .lasti = 96,
                            .instruction = PythonOffsets::kNone,
                            .owner = PythonOffsets::kNone,
                            .owned_by_c_stack = PythonOffsets::kNone,
                            .frame_bytes = 352},
                  .code = {.filename = 104,
                           .name = 112,
                           .qualname = PythonOffsets::kNone,
                           .first_line = 40,
                           .line_table = 120,
                           .code_object = 48,
                           .code_bytes_begin = PythonOffsets::kNone,
                           .code_size = PythonOffsets::kNone},
                  .object = {.type = 8},
                  .bytes = {.size = 16, .data = 32},
                  .unicode = {.length = 16, .state = 32, .ascii_data = 48, .compact_data = 72}},
    PythonOffsets{.minor = 11,
                  .runtime = {.interpreters_head = 40},
                  .interpreter = {.next = 0, .id = 48, .threads_head = 16, .gc_collecting = 848},
                  .thread = {.next = 8,
                             .interp = 16,
                             .frame = PythonOffsets::kNone,
                             .cframe = 56,
                             .cframe_current_frame = 8,
                             .thread_id = 152,
                             .native_thread_id = 160},
                  .frame = {.previous = 48,
                            .code = 32,
                            .lasti = PythonOffsets::kNone,
                            .instruction = 56,
                            .owner = 69,
                            .owned_by_c_stack = PythonOffsets::kNone,
                            .frame_bytes = 72},
                  .code = {.filename = 112,
                           .name = 120,
                           .qualname = 128,
                           .first_line = 72,
                           .line_table = 136,
                           .code_object = PythonOffsets::kNone,
                           .code_bytes_begin = 184,
                           .code_size = 16},
                  .object = {.type = 8},
                  .bytes = {.size = 16, .data = 32},
                  .unicode = {.length = 16, .state = 32, .ascii_data = 48, .compact_data = 72}},
    PythonOffsets{.minor = 12,
                  .runtime = {.interpreters_head = 40},
                  .interpreter = {.next = 0, .id = 8, .threads_head = 72, .gc_collecting = 312},
                  .thread = {.next = 8,
                             .interp = 16,
                             .frame = PythonOffsets::kNone,
                             .cframe = 56,
                             .cframe_current_frame = 0,
                             .thread_id = 136,
                             .native_thread_id = 144},
                  .frame = {.previous = 8,
                            .code = 0,
                            .lasti = PythonOffsets::kNone,
                            .instruction = 56,
                            .owner = 70,
                            .owned_by_c_stack = 3,
                            .frame_bytes = 72},
                  .code = {.filename = 112,
                           .name = 120,
                           .qualname = 128,
                           .first_line = 68,
                           .line_table = 136,
                           .code_object = PythonOffsets::kNone,
                           .code_bytes_begin = 192,
                           .code_size = 16},
                  .object = {.type = 8},
                  .bytes = {.size = 16, .data = 32},
                  .unicode = {.length = 16, .state = 32, .ascii_data = 40, .compact_data = 56}}};

}  // namespace rangefinder
