# SPDX-License-Identifier: Apache-2.0
"""Shared by contract_test.py: docs/reference/json.md, made of the JSON Schemas."""
import re

BEGIN, END = "<!-- made by tools.contract -->\n", "<!-- end -->\n"
# A description ends in its unit, in parentheses.
UNIT = re.compile(r"(.*?)(?: \(([^()]*)\))?")
TYPES = {"string": "text", "boolean": "true or false"}


def anchor(title):
    """Of a heading, as GitHub makes it."""
    return re.sub(r"[^\w -]", "", title.strip().lower()).replace(" ", "-")


class SchemaTables:
    def __init__(self, schema):
        self.document = schema.document
        self.definitions = schema.definitions

    def text(self):
        out = f"## {self.document['title']}\n\n{self.document['description']}\n"
        if "properties" in self.document:
            out += "\n" + self._table(self.document)
        for part in self.definitions.values():
            if "title" in part:
                out += f"\n### {part['title'][0].upper()}{part['title'][1:]}\n\n{part['description']}.\n"
                out += self._shared(part)
                if part.get("properties"):
                    out += "\n" + self._table(part)
        return out

    def _shared(self, part):
        names = [one["$ref"] for one in part.get("allOf", ()) if "$ref" in one]
        return "".join(f"\nIt has the keys of {self._link(name)}.\n" for name in names)

    def _table(self, part):
        out = "| key | type | unit | meaning |\n|---|---|---|---|\n"
        for key, value in part.get("properties", {}).items():
            name = f"**`{key}`**" if key in part.get("required", ()) else f"`{key}`"
            out += self._row(name, value)
        for pattern, value in part.get("patternProperties", {}).items():
            readable = pattern.strip("^$").replace(".*", "NAME").replace("|", ", ")
            readable += "" if pattern.endswith("$") else "NAME"
            out += self._row(f"`{readable}`", value)
        return out

    def _row(self, name, value):
        meaning, unit = UNIT.fullmatch(value["description"]).groups()
        return f"| {name} | {self._type(value)} | {unit or ''} | {meaning}{self._choices(value)} |\n"

    def _link(self, reference):
        part = self.definitions[reference.rsplit("/", 1)[1]]
        if "title" not in part:
            return self._type(part)
        return f"[{part['title']}](#{anchor(part['title'])})"

    def _type(self, value):
        if "$ref" in value:
            return self._link(value["$ref"])
        if "const" in value or "enum" in value:
            return "true" if value.get("const") is True else "text"
        kind = value.get("type", "")
        if kind == "array":
            return "list" + (f" of {self._type(value['items'])}" if "items" in value else "")
        if kind == "object":
            return f"{{name: {self._type(value['additionalProperties'])}}}"
        kinds = kind if isinstance(kind, list) else [kind]
        return " or ".join(TYPES.get(one, one) for one in kinds)

    @staticmethod
    def _choices(value):
        if value.get("const", True) is not True:
            return f". Always `{value['const']}`"
        choices = value.get("enum", ())
        words = ". One of " if len(choices) > 1 else ". Always " if choices else ""
        return words + ", ".join(f"`{choice}`" for choice in choices)


def with_tables(page, schemas):
    """The page with new tables between its two marks."""
    before, rest = page.split(BEGIN)
    _, after = rest.split(END)
    return before + BEGIN + "\n" + "\n".join(SchemaTables(schema).text() for schema in schemas) + "\n" + END + after
