# SPDX-License-Identifier: Apache-2.0
"""transformers' generate(): the ranges `prefill` and `decode`, instead of `step`.

    generate()   forward ─ first token │ forward ─ token │ forward ─ token │ …
                 └────── prefill ─────┘└──── decode ────┘└──── decode ────┘

A range ends where the next forward pass of the model begins. So it has the choice of the token too, and an encoder is
in `prefill`. Chunks of a long prompt behind the first are `decode`.
"""
import importlib.util
import sys

_MODULE = "transformers.generation.utils"


class Generation:
    """Any thread, on the state of the calling thread."""

    def __init__(self, push, pop, local):
        self._push, self._pop = push, pop
        self._local = local
        self.active = True

    def install(self, replace, undo):
        """replace(owner, name, make) and undo.append(function): of Hooks."""
        def act(module):
            replace(getattr(module, "GenerationMixin", None), "generate", self._make_generate)

        if _MODULE in sys.modules:
            act(sys.modules[_MODULE])
            return
        finder = _AfterImport(act)
        sys.meta_path.insert(0, finder)
        undo.append(finder.remove)

    def _make_generate(self, original):
        def generate(model, *args, **kwargs):
            thread = self._local.thread
            if not self.active or thread.generation is not None:
                return original(model, *args, **kwargs)
            thread.generation = _Phases(self, model, len(thread.program))
            try:
                return original(model, *args, **kwargs)
            finally:
                phases, thread.generation = thread.generation, None
                if phases is not None:
                    phases.close(thread)
        return generate

    def close(self, thread):
        self.active = False
        phases, thread.generation = thread.generation, None
        if phases is not None:
            phases.close(thread)


class _Phases:
    """One call of generate()."""

    def __init__(self, ranges, model, depth):
        self._ranges, self._model, self._depth = ranges, model, depth
        self._passes = 0
        self._open = True
        ranges._push("prefill")

    def forward(self, thread, module):
        """An outermost module is called."""
        if module is not self._model:
            return
        self._passes += 1
        if self._passes > 1 and len(thread.program) == self._depth:  # ranges of the program nest with ours
            self._ranges._pop()
            self._ranges._push("decode")

    def close(self, thread):
        if self._open and len(thread.program) == self._depth:
            self._open = False
            self._ranges._pop()


class _AfterImport:
    """A meta-path finder that finds transformers' module through the others and acts after its import."""

    def __init__(self, act):
        self._act = act

    def remove(self):
        if self in sys.meta_path:
            sys.meta_path.remove(self)

    def find_spec(self, name, path=None, target=None):
        if name != _MODULE:
            return None
        self.remove()
        spec = importlib.util.find_spec(name)
        run = getattr(getattr(spec, "loader", None), "exec_module", None)
        if run is None:
            return spec

        def exec_module(module):
            spec.loader.__dict__.pop("exec_module", None)
            run(module)
            self._act(module)

        try:
            spec.loader.exec_module = exec_module
        except AttributeError:
            pass  # a loader without __dict__: generate() has a `step` for each forward pass
        return spec
