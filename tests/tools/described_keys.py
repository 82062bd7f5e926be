# SPDX-License-Identifier: Apache-2.0
"""Shared by contract_test.py: a JSON Schema, and which of its keys the documents have."""
import json
import re

from jsonschema import Draft202012Validator


class Schema:
    """One file of schema/. Schemas allow unknown keys; here a key without a description is a problem."""

    def __init__(self, path):
        self.name = path.name.removesuffix(".schema.json")
        self.document = json.loads(path.read_text(encoding="utf-8"))
        Draft202012Validator.check_schema(self.document)
        self.definitions = self.document["$defs"]
        self.seen = set()  # (name of the definition, key)
        self._places = {id(part): name for name, part in [("", self.document), *self.definitions.items()]}

    def check(self, instance, definition=""):
        """Problems of a document: what the schema, or one of its $defs, refuses, and keys that it does not describe."""
        errors = self._validator(definition).iter_errors(instance)
        out = [f"{error.json_path}: {error.message[:200]}" for error in errors]
        first = self.definitions[definition] if definition else self.document
        self._walk(instance, self._parts([first], instance), "$", out)
        return sorted(set(out))

    def accepts(self, instance, definition=""):
        """As any reader that validates: unknown keys are allowed."""
        return self._validator(definition).is_valid(instance)

    def described(self):
        """All (definition, key)."""
        return {(name, key) for name, part in [("", self.document), *self.definitions.items()]
                for key in (*part.get("properties", ()), *part.get("patternProperties", ()))}

    def _validator(self, definition):
        if not definition:
            return Draft202012Validator(self.document)
        return Draft202012Validator({"$ref": f"#/$defs/{definition}", "$defs": self.definitions})

    def _parts(self, schemas, instance):
        """The schemas, with those that they refer to or require."""
        out = []
        for part in schemas:
            out.append(part)
            more = list(part.get("allOf", ()))
            if "$ref" in part:
                more.append(self.definitions[part["$ref"].rsplit("/", 1)[1]])
            if "then" in part and Draft202012Validator(part["if"]).is_valid(instance):
                more.append(part["then"])
            out += self._parts(more, instance)
        return out

    def _walk(self, instance, parts, path, out):
        if isinstance(instance, list):
            items = [part["items"] for part in parts if isinstance(part.get("items"), dict)]
            for number, item in enumerate(instance):
                self._walk(item, self._parts(items, item), f"{path}[{number}]", out)
        elif isinstance(instance, dict):
            for key, value in instance.items():
                found = list(self._of_key(key, parts))
                if not found:
                    out.append(f"{re.sub('[0-9]+', '*', path)}.{key}: the schema does not describe this key")
                self._walk(value, self._parts(found, value), f"{path}.{key}", out)

    def _of_key(self, key, parts):
        """The schemas of a key; notes that it was seen."""
        for part in parts:
            place = self._places.get(id(part))
            if key in part.get("properties", ()):
                self.seen.add((place, key))
                yield part["properties"][key]
            for pattern, value in part.get("patternProperties", {}).items():
                if re.search(pattern, key):
                    self.seen.add((place, pattern))
                    yield value
            if isinstance(part.get("additionalProperties"), dict) and key not in part.get("properties", ()):
                yield part["additionalProperties"]
