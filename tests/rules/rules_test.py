# SPDX-License-Identifier: Apache-2.0
"""Tests of the rules: each reports what it forbids, and accepts what it allows."""
import os
import shutil
import tempfile
import unittest

import definitions
import formatting
import function_lengths
import headers
import includes
import layout
import library
import links
import pages
import python_types
import repository
import spelling
import tables
import words


class InAFolder(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.files = repository.Repository(folder.name)

    def write(self, path, text):
        path = os.path.join(self.files.root, path)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)

    @staticmethod
    def files_of_repository():
        return repository.Repository(os.path.join(os.path.dirname(os.path.abspath(__file__)), "../.."))

    def found(self, rule):
        return [path for path, _ in rule(self.files)]


class Repository(InAFolder):
    def test_a_file_of_451_lines_is_too_long_and_one_of_450_is_not(self):
        self.write("profiler/long.cpp", "\n" * 451)
        self.write("profiler/short.cpp", "\n" * 450)

        self.assertEqual(self.found(layout.file_length), ["profiler/long.cpp"])

    def test_recordings_build_folders_and_carried_modules_are_not_looked_at(self):
        for folder in ("tests/replay/run", "build", "build-asan", "tools/web/node_modules"):
            self.write(f"{folder}/long.ts", "\n" * 451)

        self.assertEqual(list(self.files.files()), [])

    def test_a_function_of_61_lines_is_too_long_and_a_kernel_of_61_is_not(self):
        body = "() {\n" + "  ;\n" * 59 + "}\n"
        self.write("profiler/long.cpp", "void f" + body)
        self.write("kernels/long.cu", "__global__ void f" + body)

        self.assertEqual(self.found(layout.function_length), ["profiler/long.cpp"])

    def test_a_script_without_ending_is_known_by_its_first_line(self):
        self.write("tools/demo", "#!/usr/bin/env bash\n\nf() {\n" + ":\n" * 60 + "}\n")

        self.assertEqual(self.found(layout.function_length), ["tools/demo"])
        self.assertEqual(self.found(layout.first_line), ["tools/demo"])

    def test_a_name_that_says_nothing_is_found_also_as_a_part(self):
        for name in ("util.h", "path_helper.cpp", "utilisation.h"):
            self.write(f"profiler/{name}", "")

        self.assertEqual(self.found(layout.file_names), ["profiler/path_helper.cpp", "profiler/util.h"])

    def test_a_folder_of_one_machine_is_found_in_any_file(self):
        self.write("docs/page.md", "see /" + "home/" + "me/notes\n")
        self.write("docs/other.md", "$build/" + "work/ and https://example.org/" + "home/\n")

        self.assertEqual(self.found(layout.own_folders), ["docs/page.md"])

    def test_two_headers_with_a_type_of_one_name_are_found_unless_its_namespace_differs(self):
        self.write("tools/a.h", "namespace rangefinder {\nstruct Sum {\n};\n}\n")
        self.write("tools/b.h", "namespace rangefinder {\nstruct Sum;\nclass Other final : public Base {\n};\n}\n")
        self.write("tools/c.h", "namespace rangefinder {\nclass Sum {\n};\n}\n")
        self.write("kernels/d.h", "namespace rangefinder::kernels {\nstruct Sum {\n};\n}\n")

        self.assertEqual(self.found(definitions.unique_types), ["tools/c.h"])

    def test_the_schema_may_not_know_the_profiler(self):
        self.write("schema/record.h", '#include "profiler/session/session.h"\n#include "schema/loss.h"\n')

        self.assertEqual(self.found(includes.include_direction), ["schema/record.h"])

    def test_a_tool_may_know_options_but_not_the_session(self):
        self.write("tools/rangefinder/run.cpp",
                   '#include "profiler/options/options.h"\n  #  include "profiler/session/session.h"\n')

        self.assertEqual(list(includes.include_direction(self.files)),
                         [("tools/rangefinder/run.cpp", "must not include profiler/session/session.h")])

    def test_a_slow_header_is_found_also_through_another_and_a_cpp_may_include_it(self):
        self.write("profiler/options/text.h", "#include <string>\n#include <regex>\n")
        self.write("profiler/events/direct.h", "#include <nlohmann/json_fwd.hpp>\n")
        self.write("profiler/launch/through.h", '#include "profiler/options/text.h"\n')
        self.write("profiler/launch/a.cpp", "#include <functional>\n")

        self.assertEqual(list(includes.hot_path_headers(self.files)),
                         [("profiler/events/direct.h", "must not include <nlohmann/json_fwd.hpp>"),
                          ("profiler/launch/through.h", "must not include <regex>, as profiler/options/text.h does")])

    def test_headers_of_the_tools_have_no_regex_and_only_one_file_has_it(self):
        self.write("tools/serve/text.h", "#include <regex>\n")
        self.write("tools/serve/through.h", '#include "tools/serve/text.h"\n')
        self.write("tools/serve/a.cpp", "#include <regex>\n#include <iostream>\n")
        self.write(includes.REGEX, "#include <regex>\n")

        self.assertEqual(list(includes.tool_headers(self.files)),
                         [("tools/serve/a.cpp", f"must not include <regex>: use {includes.REGEX}"),
                          ("tools/serve/text.h", "must not include <regex>"),
                          ("tools/serve/through.h", "must not include <regex>, as tools/serve/text.h does")])

    def test_a_test_that_includes_catch_itself_is_found(self):
        self.write("tests/catch.h", "#include <catch2/catch.hpp>\n")
        self.write("tests/unit/a_test.cpp", "#include <catch2/catch.hpp>\n")
        self.write("tests/unit/b_test.cpp", '#include "tests/catch.h"\n')

        self.assertEqual(self.found(includes.one_catch), ["tests/unit/a_test.cpp"])

    def test_a_folder_without_a_line_in_the_table_is_found(self):
        self.write("profiler/new.cpp", "")

        self.assertEqual(self.found(includes.include_direction), ["profiler/new.cpp"])

    def test_no_line_of_the_table_allows_a_folder_that_stands_below_it(self):
        order = list(includes.ALLOWED)
        for place, folder in enumerate(order):
            self.assertLessEqual(set(includes.ALLOWED[folder].split()), set(order[:place]), folder)

    def test_a_class_in_two_files_is_found_and_one_that_another_file_calls_is_not(self):
        self.write("tools/a.cpp", "void Reader::open() {\n  Other::call();\n}\n")
        self.write("tools/b.cpp", "int Reader::close() {\n}\n")
        self.write("tools/c.cpp", "Other::Other() {\n}\n")

        self.assertEqual(self.found(definitions.one_file_a_class), ["tools/b.cpp"])

    def test_a_phrase_of_ours_is_found_in_documents_and_strings_but_not_in_code(self):
        phrase = words.phrases(self.files_of_repository())[0]
        self.write("docs/page.md", f"It says: {phrase}.\n")
        self.write("tools/a.cpp", f'const char* text = "{phrase}";\n')
        self.write("tools/b.cpp", f"int a;  // {phrase}\n")

        self.assertEqual(self.found(words.plain_words), ["docs/page.md", "tools/a.cpp"])

    def test_a_header_that_lacks_an_include_does_not_compile_alone(self):
        self.write("schema/whole.h", "#pragma once\n#include <string>\ninline std::string a() { return {}; }\n")
        self.write("schema/lacking.h", "#pragma once\ninline std::string b() { return {}; }\n")

        self.assertIsNone(headers.compile_alone(self.files.root, "g++", [], "schema/whole.h"))
        self.assertIn("error", headers.compile_alone(self.files.root, "g++", [], "schema/lacking.h"))


class Formatting(InAFolder):
    @unittest.skipIf(formatting.clang_format_14() is None, "there is no clang-format 14")
    def test_a_file_that_clang_format_would_write_otherwise_is_found_with_its_first_line(self):
        self.write("profiler/other.cpp", "int f();\nint  g( );\n")
        self.write("profiler/same.cpp", "int f();\n")

        self.assertEqual(self.found(formatting.formatting), ["profiler/other.cpp"])
        self.assertIn("at line 2", next(formatting.formatting(self.files))[1])

    def test_a_program_that_fails_and_names_no_file_is_no_success(self):
        self.write("profiler/same.cpp", "int f();\n")

        with self.assertRaises(RuntimeError):
            list(formatting.formatting(self.files, "false"))

    @unittest.skipIf(shutil.which("mypy") is None, "there is no mypy")
    def test_a_public_function_without_types_is_an_error_and_a_hook_without_them_is_not(self):
        self.write("tools/python/mypy.ini", self.files_of_repository().text("tools/python/mypy.ini"))
        for path in ("__init__", "public", "torch/__init__", "torch/steps", "torch/schedule"):
            self.write(f"tools/python/rangefinder/{path}.py", "" if path.endswith("__") else "def f(x):\n    return x\n")

        self.assertEqual(self.found(python_types.python_types),
                         ["tools/python/rangefinder/public.py", "tools/python/rangefinder/torch/schedule.py"])

    @unittest.skipIf(shutil.which(spelling.PROGRAM) is None, "there is no codespell")
    def test_a_misspelling_is_found_with_its_line_and_not_in_an_output(self):
        self.write("docs/page.md", "One.\n\n```\n…tages\n```\n\nWe recieve it.\n")

        self.assertEqual(list(spelling.spelling(self.files)), [("docs/page.md", "line 7: recieve ==> receive")])


class FunctionLengths(unittest.TestCase):
    def lengths(self, text):
        return [length for _, length, _ in function_lengths.cpp_functions(text)]

    def test_braces_in_texts_and_comments_do_not_count(self):
        self.assertEqual(self.lengths('void f() {\n  g("}{", \'{\'); // }\n  /* { */ h(R"({)");\n}\n'), [4])

    def test_scopes_and_initialisers_are_no_functions(self):
        self.assertEqual(self.lengths("namespace n {\nstruct S {\n  int x{3};\n};\nenum class E { a };\n}\n"), [])

    def test_methods_templates_and_lambdas_inside_are_one_function_each(self):
        text = ("class C {\n  template <class T, class U = A<T>>\n  void f(T t) {\n    auto l = [&] {\n    };\n  }\n"
                "  int g() const { return 1'000; }\n};\n")
        self.assertEqual(self.lengths(text), [5, 1])

    def test_a_constructor_is_measured_whatever_its_initialisers_look_like(self):
        self.assertEqual(max(self.lengths("C::C(int a)\n    : a_{a},\n      b_(a) {\n  f();\n}\n")), 4)


class Judgement(unittest.TestCase):
    def test_an_excused_problem_passes_and_an_excuse_without_problem_does_not(self):
        self.assertEqual(repository.judge([("a.h", "bad")], {"a.h": "reason"}), [])
        self.assertEqual(len(repository.judge([], {"a.h": "reason"})), 1)
        self.assertEqual(repository.judge([("b.h", "bad")], {}), ["b.h: bad"])


class Links(InAFolder):
    def test_links_lead_to_a_file_and_a_heading(self):
        self.write("docs/a.md", "# A title, `with` code\n[b](b.md) [own](#a-title-with-code) [far](https://x.y/z.md)\n")
        self.write("docs/b.md", "[a](a.md#a-title-with-code)\n")
        self.assertEqual(self.found(links.links), [])
        self.write("docs/b.md", "[a](a.md#another)\n")
        self.assertEqual(self.found(links.links), ["docs/b.md"])
        self.write("docs/b.md", "[a](internals/a.md)\n")
        self.assertEqual(self.found(links.links), ["docs/b.md"])

    def test_a_document_that_code_names_exists(self):
        self.write("tools/a.h", "// See docs/b.md.\n")
        self.assertEqual(self.found(links.links), ["tools/a.h"])


class Pages(InAFolder):
    def setUp(self):
        super().setUp()
        self.write("docs/findings.md", "# Findings\n")

    def test_a_page_with_too_many_words_is_found_and_its_blocks_do_not_count(self):
        most = pages.PAGES["docs/install.md"]
        self.write("docs/install.md", "word " * most + "\n\n```\ncommand\n```\n")
        self.assertEqual(self.found(pages.page_words), [])
        self.write("docs/install.md", "word " * (most + 1) + "\n")
        self.write("docs/new.md", "A page without a length.\n")
        self.assertEqual(self.found(pages.page_words), ["docs/new.md", "docs/install.md"])

    def test_a_rule_with_too_many_words_is_found(self):
        self.write("docs/findings.md", "| `a_rule` | " + "word " * pages.MOST_WORDS_OF_A_RULE + "|\n")
        self.assertEqual(self.found(pages.page_words), ["docs/findings.md"])

    def test_a_sentence_of_36_words_is_found_in_text_and_in_cells(self):
        short = "A short sentence. " * 3
        for text in ("word " * 34 + "end. " + short, "`a b c` " + "word " * 34 + "\n\n" + short):
            self.write("docs/install.md", text)
            self.assertEqual(self.found(pages.sentence_length), [], text)
        long = "word " * 36
        for text in (f"{long}. {short}", f"{short}\n| {long}|\n", f"* {long}\n\n{short}"):
            self.write("docs/install.md", text)
            self.assertEqual(self.found(pages.sentence_length), ["docs/install.md"], text)

    def test_the_median_is_that_of_sentences_not_of_cells(self):
        self.write("docs/install.md", "word " * 17 + "\n\n| a | b | c |\n")
        self.assertIn("median", next(pages.sentence_length(self.files))[1])

    def test_a_document_that_the_index_lacks_or_repeats_is_found(self):
        for name in ("a", "b", "internals/c"):
            self.write(f"docs/{name}.md", "")
        self.write("docs/README.md", "[a](a.md) [a](a.md#x) [c](internals/c.md)\n")
        self.assertEqual(self.found(pages.page_index), ["docs/a.md", "docs/b.md", "docs/findings.md"])

    def test_a_quoted_message_that_nothing_prints_is_found(self):
        self.write("tools/a.cpp", 'const char* text = "cannot "\n    "write a";\n')
        self.write("docs/troubleshooting.md", '**"cannot write … a"**. **"cannot\nwrite"**.\n')
        self.assertEqual(self.found(pages.page_messages), [])
        self.write("docs/troubleshooting.md", '**"cannot read"**.\n')
        self.assertEqual(self.found(pages.page_messages), ["docs/troubleshooting.md"])


class Texts(unittest.TestCase):
    def test_only_defined_symbols_are_exports(self):
        symbols = ("   Num:    Value          Size Type    Bind   Vis      Ndx Name\n"
                   "     1: 0000000000000000     0 FUNC    GLOBAL DEFAULT  UND malloc@GLIBC_2.2.5 (2)\n"
                   "     2: 0000000000012340    64 FUNC    GLOBAL DEFAULT   12 InitializeInjection\n")
        self.assertEqual(list(library.exported(symbols)), ["InitializeInjection"])

    def test_a_symbol_of_a_newer_c_library_is_noticed(self):
        symbols = "  5: 0  0 FUNC GLOBAL DEFAULT UND hypot@GLIBC_2.35 (3)\n  6: 0 0 FUNC GLOBAL DEFAULT UND free@GLIBC_2.2.5\n"
        self.assertEqual(list(library.too_new(symbols)), ["hypot@GLIBC_2.35"])

    def test_a_library_that_a_host_may_lack_is_noticed(self):
        dynamic = " 0x1 (NEEDED)  Shared library: [libc.so.6]\n 0x1 (NEEDED)  Shared library: [libfmt.so.9]\n"
        self.assertEqual([name for name in library.needed(dynamic) if not library.LIBRARIES.match(name)],
                         ["libfmt.so.9"])

    def test_a_table_is_replaced_between_its_marks_only(self):
        text = "a\n<!-- loss -->\nold\n<!-- /loss -->\nb\n"
        self.assertEqual(tables.replaced(text, "loss", "new\n"), "a\n<!-- loss -->\nnew\n<!-- /loss -->\nb\n")
        self.assertIsNone(tables.replaced("nothing", "loss", "new\n"))

    def test_flags_of_one_target_are_not_given_to_headers(self):
        commands = [{"file": "a.cpp", "command": 'ccache g++-12 -DRANGEFINDER_VERSION=1 -DA=1 -isystem /x -I/y -O2 -c a.cpp'}]
        self.assertEqual(headers.search_flags(commands), ("g++-12", ["-DA=1", "-isystem", "/x", "-I/y"]))


if __name__ == "__main__":
    unittest.main()
