# SPDX-License-Identifier: Apache-2.0
"""The range `step`: one iteration of a program that does not name its iterations.

    training     dataloader  H2D  forward  backward  optimizer │ dataloader  H2D  forward …
                 └──────────────── step ──────────────────────┘ └──────── step ─────────
    no optimizer   the forward pass of an outermost module that has submodules, or the call of a compiled function
                   that calls modules; `prefill` and `decode` in transformers' generate() (generation.py)

A step begins with the first work after an optimizer step. Work is: a batch, a copy of a tensor to the
GPU, a forward or backward pass, an optimizer step. What follows the optimizer, as zero_grad(), is still
of its step. Of several optimizers one counts. Where there is no optimizer, or PyTorch calls no hook for its
step, a step ends with a backward pass. Without gradients no step begins: that is evaluation.

Our ranges nest with the program's on one stack. So a step begins and ends only while the program has
no range open. A program that puts its iterations in ranges has no `step`.
"""
import weakref

_AFTER_BACKWARD, _AFTER_OPTIMIZER, _NEVER = 1, 2, 3  # why a step is due. 0: it is not
_PASSES = 64  # backward passes without an optimizer step: gradients of so many batches are hardly accumulated


class Steps:
    """Any thread, on the state of the calling thread."""

    def __init__(self, push, pop, grad_enabled):
        self._push, self._pop = push, pop
        self._grad_enabled = grad_enabled
        self._trains = False   # an optimizer exists, or a backward pass was seen
        self._passes_left = 0  # backward passes until the optimizer that exists is taken for one without hooks
        self._leader = None    # weak reference to the optimizer whose steps count
        self._others = set()   # ids of those that stepped since
        self._count = 0        # steps, of all threads
        self._allowed = True   # the program has no ranges that we cannot see

    def begin(self, thread, due=_AFTER_BACKWARD):
        """Work begins, in none of our ranges. Begins a step if one is due."""
        self.end(thread, due)
        if not thread.step and self._trains and thread.trains and self._grad_enabled():
            self._open(thread)

    def end(self, thread, due=_AFTER_BACKWARD):
        """Ends a step if it is due. No work follows yet."""
        if thread.step and thread.step_is_due >= due and not thread.program:
            self._close(thread)

    def end_without_work(self, thread, before):
        """No batch came. Ends the step that began with it: its number is not `before`."""
        if thread.step not in (0, before) and not thread.program:
            self._close(thread)

    def begin_backward(self, thread):
        """A backward pass begins, in none of our ranges. Several may be of one step."""
        self.begin(thread, _AFTER_OPTIMIZER)

    def begin_optimizer(self, thread, optimizer):
        """An optimizer step begins, in none of our ranges. Those of other optimizers may follow in one step."""
        counts = self._leader is not None and self._leader() is optimizer
        self.begin(thread, _AFTER_OPTIMIZER if counts else _NEVER)

    def begin_forward(self, thread, module):
        """The outermost `module` is called."""
        if thread.generation is not None:
            thread.generation.forward(thread, module)
            return
        if thread.tasks or thread.optimizers:
            return  # in a backward pass that computes its input again, or in an optimizer's closure
        if self._trains:
            self.begin(thread)
        elif not thread.step and getattr(module, "_modules", None) and not vars(module).get("_is_replica"):
            self._open(thread)
            thread.step_is_forward = thread.step != 0

    def end_forward(self, thread):
        if thread.step_is_forward and not thread.program:
            self._close(thread)

    def begin_function(self, thread):
        """A compiled function is called, in none of our ranges. Returns True if a step begins, which ends with it."""
        if thread.tasks or thread.optimizers or thread.generation is not None:
            return False
        if self._trains:
            self.begin(thread)
            return False
        if not thread.step:
            self._open(thread)
            return thread.step != 0
        return False

    def end_function(self, thread):
        if thread.step and not thread.program:
            self._close(thread)

    def optimizer_made(self):
        self._trains = True
        self._passes_left = _PASSES

    def backward_called(self, thread):
        self._trains = True
        if self._leader is not None:
            return
        if self._passes_left > 0:
            self._passes_left -= 1
        else:
            thread.step_is_due = _AFTER_BACKWARD

    def optimizer_stepped(self, thread, optimizer):
        leader = self._leader() if self._leader is not None else None
        if leader is not optimizer:
            if leader is not None and id(optimizer) not in self._others:
                self._others.add(id(optimizer))
                return
            self._leader = weakref.ref(optimizer)  # the first one, or one that steps more often
        self._others.clear()
        thread.step_is_due = _AFTER_OPTIMIZER

    def program_pushed(self, thread, name):
        thread.program.append(name)

    def program_popped(self, thread):
        if thread.program:
            thread.program.pop()
        elif thread.step:  # a range that we did not see begin: its pop has closed the step
            thread.step, thread.step_is_forward, self._allowed = 0, False, False

    def close(self, thread):
        self._allowed = False
        if thread.step and not thread.program:
            self._close(thread)

    def _open(self, thread):
        if thread.program or not self._allowed:
            return
        level = self._push("step")
        if level is not None and level > 0:
            self._pop()
            self._allowed = False
            return
        self._count += 1
        thread.step, thread.step_is_due = self._count, 0

    def _close(self, thread):
        thread.step = thread.step_is_due = 0
        thread.step_is_forward = False
        self._pop()
