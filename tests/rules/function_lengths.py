# SPDX-License-Identifier: Apache-2.0
"""First and last lines of functions. Counts braces after comments and string literals are blanked, so it needs no
compiler. It may misjudge unusual macros; exceptions.txt can excuse those."""
import ast
import re

TOKEN = re.compile(
    r'(?P<line>//[^\n]*)|(?P<block>/\*.*?\*/)|(?P<raw>R"(?P<tag>[^\s()\\]{0,16})\(.*?\)(?P=tag)")'
    r"|(?P<text>\"(?:\\.|[^\"\\\n])*\")|(?P<number>\b\d[\w.']*)|(?P<char>'(?:\\.|[^'\\\n])+')",
    re.DOTALL)
DIRECTIVE = re.compile(r"^[ \t]*#(?:[^\n]*\\\n)*[^\n]*", re.MULTILINE)
SCOPE = re.compile(r'^(?:(?:typedef|inline|static|const|constexpr|export)\s+)*(?:namespace|class|struct|union|enum)\b'
                   r'|^extern\s*"[^"]*"\s*$|^extern\s*$')


def blank(text):
    """`text` without comments, string literals and preprocessor lines; every newline stays."""
    def spaces(match):
        if match.group("number"):
            return match.group(0).replace("'", "")
        return re.sub(r"[^\n]", " ", match.group(0))
    return DIRECTIVE.sub(lambda match: re.sub(r"[^\n]", " ", match.group(0)), TOKEN.sub(spaces, text))


def without_template(head):
    """`head` without its leading template<…>, which may nest."""
    while re.match(r"template\s*<", head):
        depth = 0
        for at in range(head.index("<"), len(head)):
            depth += {"<": 1, ">": -1}.get(head[at], 0)
            if depth == 0:
                head = head[at + 1:].lstrip()
                break
        else:
            return head
    return head


def kind_of(head):
    head = without_template(re.sub(r"\[\[.*?\]\]", " ", head).strip())
    head = re.sub(r"^(?:public|private|protected)\s*:\s*", "", head)
    if SCOPE.match(head):
        return "scope"
    return "function" if ")" in head else "value"


def cpp_functions(text):
    """(line, length, is a CUDA kernel) of each outermost function; lambdas count as part of it."""
    text = blank(text)
    stack, head_start = [], 0
    for match in re.finditer(r"[{};]", text):
        at, mark = match.start(), match.group(0)
        inside = bool(stack) and stack[-1][0] != "scope"
        if mark == "{":
            head = text[head_start:at]
            stack.append(("inner" if inside else kind_of(head), head_start + len(head) - len(head.lstrip()), head))
        elif mark == "}" and stack:
            kind, start, head = stack.pop()
            if kind == "function":
                line = text.count("\n", 0, start) + 1
                yield line, text.count("\n", start, at) + 1, "__global__" in head
        # No `;` between parentheses occurs at this level: for(;;) is inside functions.
        head_start = at + 1


def python_functions(text):
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            yield node.lineno, node.end_lineno - node.lineno + 1, False


def shell_functions(text):
    start = None
    for number, line in enumerate(text.splitlines(), 1):
        if re.match(r"(function\s+)?[\w-]+\s*\(\)\s*\{\s*(#.*)?$", line):
            start = number
        elif line.startswith("}") and start is not None:
            yield start, number - start + 1, False
            start = None


def functions(language, text):
    if language in ("cpp", "cuda"):
        return cpp_functions(text)
    if language == "python":
        return python_functions(text)
    return shell_functions(text) if language == "shell" else ()
