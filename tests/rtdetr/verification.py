# SPDX-License-Identifier: Apache-2.0
"""Shared by the cases of verify.py: models, images and reference dumps, made once and kept while used."""
import os

import torch

import make_weights
from calibrated_weights import smooth_images
from hf_model import load_model, precision
from program import Program, write_images
from reference_dumps import record

WEIGHT_SEED, IMAGE_SEED = 1, 77  # not the same: the batch norms were fitted to other images


class Bench:
    """Caches one weights file per model, and one set of references for one input. A request for another input discards
    the old set."""

    def __init__(self, program, weights_folder, folder):
        self.program = Program(program, folder)
        self.folder = folder
        self._weights_folder = weights_folder
        self._models = {}
        self._reference_key = None
        self._references = {}

    def weights(self, name):
        """Path of the file with new names."""
        if self._weights_folder:
            return os.path.join(self._weights_folder, name + ".safetensors")
        path = os.path.join(self.folder, name + ".safetensors")
        if not os.path.exists(path):
            make_weights.make(name, WEIGHT_SEED, self.folder)
        return path

    def model(self, name, dtype, attention="sdpa"):
        key = (name, "fp32" if dtype == "tf32" else dtype, attention)
        if key not in self._models:
            if any(other != name for other, _, _ in self._models):
                self._models.clear()
            self._models[key] = load_model(name, self.weights(name), key[1], attention=attention)
        return self._models[key]

    def images(self, count, size):
        return smooth_images(count, *size, IMAGE_SEED)

    def pixels(self, count, size):
        return self.images(count, size).cuda().float() / 255

    def image_files(self, count, size):
        return write_images(self.images(count, size), self.folder)

    def hugging_face(self, name, dtype, count, size, forced=None, attention="sdpa"):
        """Dumps of the library in one type."""
        model = self.model(name, dtype, attention)
        with precision(dtype):
            return record(model, self.pixels(count, size), forced)

    def references(self, name, count, size):
        """(fp32, fp64): the second after the selection of the first."""
        key = (name, count, size)
        if key != self._reference_key:
            self._references.clear()
            torch.cuda.empty_cache()
            reference = self.hugging_face(name, "fp32", count, size, attention="eager")
            truth = self.hugging_face(name, "fp64", count, size, reference["topk_ind"], attention="eager")
            self._reference_key, self._references = key, {"fp32": reference, "fp64": truth}
        return self._references["fp32"], self._references["fp64"]
