# SPDX-License-Identifier: Apache-2.0
"""NVTX through ctypes, where the extension was not built.

NVTX is a header: there is no library to call. So this module does what the header does:

    NVTX_INJECTION64_PATH ──▶ InitializeInjectionNvtx2(our export table) ──▶ the tool writes its functions into _slots

Layout and numbers: nvtxDetail/nvtxTypes.h, version 3. Without a tool all functions stay None.
"""
from __future__ import annotations

import ctypes
import os

TYPE_CHECKING = False  # importing typing takes milliseconds
if TYPE_CHECKING:
    from typing import Any, Dict, Optional, Set

_CALLBACKS, _CORE2, _SIZE = 1, 5, 16  # ids of the table of callbacks and of the module of domains; functions + 1
_MARK, _PUSH, _POP, _NAME_CATEGORY, _REGISTER, _CREATE = 1, 4, 5, 8, 10, 12
_ARGB, _UINT64, _ASCII, _REGISTERED = 1, 1, 1, 3
BYTES_CATEGORY = 0x5246
_MAX_NAMES = 16_384  # more are texts that a program makes: they would only fill the memory


class Event(ctypes.Structure):
    """nvtxEventAttributes_t"""

    _fields_ = [("version", ctypes.c_uint16), ("size", ctypes.c_uint16), ("category", ctypes.c_uint32),
                ("color_type", ctypes.c_int32), ("color", ctypes.c_uint32), ("payload_type", ctypes.c_int32),
                ("reserved", ctypes.c_int32), ("payload", ctypes.c_uint64), ("message_type", ctypes.c_int32),
                ("message", ctypes.c_void_p)]


_slots = (ctypes.c_void_p * _SIZE)()
_table = (ctypes.c_void_p * (_SIZE + 1))(*(ctypes.addressof(_slots) + 8 * index for index in range(_SIZE)))


def _give_functions(module: int, table: Any, size: Any) -> int:
    if module != _CORE2:
        return 0
    table[0] = ctypes.addressof(_table)
    if size:
        size[0] = _SIZE
    return 1


_function_table = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_int, ctypes.POINTER(ctypes.c_void_p),
                                   ctypes.POINTER(ctypes.c_uint))(_give_functions)


class _ExportTable(ctypes.Structure):
    _fields_ = [("struct_size", ctypes.c_size_t), ("get", type(_function_table))]


_export = _ExportTable(ctypes.sizeof(_ExportTable), _function_table)


def _give_export(which: int) -> Optional[int]:
    return ctypes.addressof(_export) if which == _CALLBACKS else None


_export_table = ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.c_uint32)(_give_export)


class Nvtx:
    """The functions of the tool that is loaded. push(domain, event), pop(domain): None without a tool."""

    def __init__(self) -> None:
        self._domains: Dict[Optional[str], Any] = {None: None}
        self._strings: Dict[Any, Any] = {}
        self._with_bytes: Set[Optional[str]] = set()
        path = os.environ.get("NVTX_INJECTION64_PATH")
        try:
            self._tool = ctypes.CDLL(path) if path else None
            loaded = self._tool is not None and self._tool.InitializeInjectionNvtx2(_export_table)
        except (OSError, AttributeError):
            loaded = False
        self.push = self._function(_PUSH, ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p) if loaded else None
        self.pop = self._function(_POP, ctypes.c_int, ctypes.c_void_p) if loaded else None
        self._mark = self._function(_MARK, None, ctypes.c_void_p, ctypes.c_void_p)
        self._register = self._function(_REGISTER, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_char_p)
        self._create = self._function(_CREATE, ctypes.c_void_p, ctypes.c_char_p)
        self._name_category = self._function(_NAME_CATEGORY, None, ctypes.c_void_p, ctypes.c_uint32, ctypes.c_char_p)

    @staticmethod
    def _function(number: int, result: Any, *arguments: Any) -> Any:
        address = _slots[number]
        return ctypes.PYFUNCTYPE(result, *arguments)(address) if address else None

    def domain(self, name: Optional[str]) -> Any:
        """The handle of a domain; None: the default one."""
        if name not in self._domains:
            self._domains[name] = self._create(name.encode()) if self._create and name is not None else None
        return self._domains[name]

    def mark(self, domain: str, text: str) -> None:
        """Does nothing without a tool, or if the tool has no domains."""
        handle = self.domain(domain)
        if self._mark is None or handle is None:
            return
        message = ctypes.c_char_p(text.encode())
        event = Event(version=3, size=ctypes.sizeof(Event), message_type=_ASCII,
                      message=ctypes.cast(message, ctypes.c_void_p).value)
        self._mark(handle, ctypes.addressof(event))

    def event(self, domain: Any, name: str, bytes_: Optional[int], color: Optional[int]) -> Event:
        """An event with the message `name`, registered in `domain` once."""
        event = Event(version=3, size=ctypes.sizeof(Event), message_type=_REGISTERED)
        key = domain, name
        if self._register and key not in self._strings and len(self._strings) < _MAX_NAMES:
            self._strings[key] = self._register(domain, name.encode())
        event.message = self._strings.get(key)
        if not event.message:
            event.text = ctypes.c_char_p(name.encode())  # kept with the event
            event.message_type, event.message = _ASCII, ctypes.cast(event.text, ctypes.c_void_p).value
        if bytes_ is not None:
            if domain not in self._with_bytes and self._name_category:
                self._with_bytes.add(domain)
                self._name_category(domain, BYTES_CATEGORY, b"rangefinder.bytes")
            event.category, event.payload_type, event.payload = BYTES_CATEGORY, _UINT64, bytes_
        if color is not None:
            event.color_type, event.color = _ARGB, 0xFF000000 | color
        event.address = ctypes.addressof(event)
        return event
