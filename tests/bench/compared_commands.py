# SPDX-License-Identifier: Apache-2.0
"""Commands for compare_builds.py.

A command is a list of steps, which are lists of words. Words before a verb set variables. OUT is a folder for written
files. Two steps are not those of the program: `copy FROM TO`, and `serve` ends with the addresses to request.
"""
import functools
import shlex

from compared_traces import JOB, SERVED, Trace, write_damaged, write_traces

FORMS = ("--wide", "--md", "--csv", "100", "--json")  # 100: text for 100 columns
EXPORTS = ("perfetto", "kineto", "speedscope", "csv", "sqlite", "prometheus")
# Sections that fit hardware samples, which takes seconds for the recordings of SLOW; "": no --section. JSON of any
# section does so too.
SAMPLED = ("", "modules", "layers", "kernels", "kernel", "metrics", "roofline", "findings")
SECTIONS = (*SAMPLED, "overview", "memcpy", "memory", "launches", "sync", "streams", "gpu", "communication", "idle",
            "iterations", "graphs", "monitor", "overhead", "loss")
MAIN = ("", "modules", "kernels", "findings", "memory", "iterations", "graphs", "loss")
SLOW = ("decoder_sampled", "hf_rtdetr_sampled", "rtdetr_sampled")
SLOWEST = SLOW[0]
# Recordings that get all selections with all sections; options of rows; sort keys.
SELECTED = ("case_bert_amp", "case_overlap", "decoder_exact", "eval_rtdetr_exact", "rtdetr_unfused")
VIEWED = ("graph_replay", "rtdetr_unfused")
SORTED = ("case_gemm_small", "rtdetr_unfused")
VIEWS = (("--depth", "1"), ("--depth", "2"), ("--top", "3"), ("--flat",), ("--raw",))
PAIRS = (JOB, ("case_starved_one", "case_starved_pinned"), ("case_bert_fp32", "case_bert_amp"),
         ("rtdetr_exact", "rtdetr_exact"), ("case_overlap", "case_overlap"),
         ("case_transpose", "case_transpose_metrics"), ("case_gemm_fp32", "case_gemm_tensor"),
         ("case_gemm_metrics", "case_gemm_small"), ("multi_stream", "multi_stream_ranges"),
         ("hf_rtdetr_trace", "hf_rtdetr_sampled"), ("rtdetr_exact", "rtdetr_sampled"),
         ("rtdetr_exact", "rtdetr_rotated"), ("decoder_exact", "decoder_sampled"), ("ranks/rank=0", "ranks/rank=1"),
         ("eval_rtdetr_exact", "hf_rtdetr_trace"), ("graph_replay", "graph_replay"), ("example", "example"),
         ("rtdetr_unfused", "rtdetr_unfused.cut"), ("nvtx_shapes", "copy_storm"))
DIFF_OPTIONS = ("--top 3", "--fail-over 5%", "--fail-over iteration=3%,module=10%,dram=5%", "--iterations 1:3",
                "--iterations 1:3 --json", "--least 0.5% --all --json", "--iteration-range it*", "--all --csv")
WRONG = ("--range none", "--kernel none", "--kernel (", "--iterations 900:", "--iterations x", "--window 900s:",
         "--iteration-range none", "--iterations 3:1", "--top 0", "--section ?", "--split-by none", "none",
         "--section kernel", "--table modules", "--json --csv", "--fit --section gpu", "--check", "--total --fit")
ROUTES = ("/", "/none", "/metrics", "/api/traces", "/api/columns", "/api/live", "/api/modules", "/api/modules?trace=none",
          "/api/timeline?stretches=0")
ROUTES_OF_TRACE = ("/trace?", "/api/modules?", "/api/kernels?", "/api/findings?", "/api/timeline?stretches=20&",
                   "/api/timeline?", "/api/perfetto?")


def report(place, *options, form="--wide"):
    words = ["report", *place.split(), *options]
    return [["COLUMNS=100", *words]] if form == "100" else [[*words, form]]


def of_section(trace, section):
    if section == "kernel":
        return "--section", section, "--kernel", trace.kernels[0]
    return ("--section", section) if section else ()


def whole_reports(trace, quick):
    """Each section: as text and JSON, of some recordings in each form, of the others in a third one in turn."""
    for at, section in enumerate(SECTIONS):
        turn = at + len(trace.name)
        forms = FORMS if trace.name in SELECTED and not quick else (FORMS[0], FORMS[1 + turn % 3], FORMS[4])
        if trace.name in SLOW:
            count = 4 if section not in SAMPLED else 1 if trace.name == SLOWEST else 2
            forms = [FORMS[(turn + more) % 4] for more in range(count)] + ["--json"] * (section in ("", "kernels"))
        for form in forms if not quick else ("--wide", "--json") if section in MAIN else ("--wide",):
            if (trace.name, form) != ("job", "--csv"):  # which is for one trace
                yield report(trace.name, *of_section(trace, section), form=form)


def selected_reports(trace, quick):
    """Parts of a trace."""
    sections = SECTIONS if trace.name in SELECTED and not quick else ("modules", "launches", "idle", "graphs")
    if trace.name in SLOW:
        sections = ("launches", "memory")
        yield report(trace.name, "--range", trace.path, "--iterations", "1:3")
    for option in trace.selections():
        for section in sections[:1] if quick else sections:
            form = "--json" if section in ("", "kernels", "iterations") else "--wide"
            if section != "kernel" or "--kernel" not in option:
                yield report(trace.name, *of_section(trace, section), *option, form=form)
        if sections is SECTIONS:  # so it is one trace
            yield report(trace.name, *option, form="--csv")
            yield report(trace.name, *option, "--section", "modules", form="--json")


def optional_reports(trace, quick):
    """Options that select nothing."""
    if trace.name in VIEWED and not quick:
        for option in VIEWS:
            for section in SECTIONS:
                yield report(trace.name, *of_section(trace, section), *option)
    if trace.name in SLOW:
        return
    for form in ("--wide", "--json")[:1 if quick else 2]:
        yield report(trace.name, "--section", "modules", "--fit", form=form)
        yield report(trace.name, "--section", "graphs", "--check", form=form)
        for option in ((), ("--range", trace.path), ("--range", trace.deep), ("--range", trace.path + "/**")):
            yield report(trace.name, "--section", "modules", "--total", *option, form=form)
    yield report(trace.name, "--section", "graphs", "--check", "--all")
    yield report(trace.name, "--section", "findings", "--all")
    yield report(trace.name, "--color", "always")


def names_in_error(before, top, steps, text):
    """The program names all tables or keys when it refuses a wrong one."""
    error = before.run(top, *steps[0])["stderr"].decode()
    return error.rpartition(text)[2].split() if text in error else []


def table_reports(before, top, about):
    """Each table of sections with several."""
    for section in SECTIONS:
        wrong = report("example", "--section", section or "modules", "--kernel", "gemm", "--table", "?", form="--csv")
        tables = names_in_error(before, top, wrong, " has ")
        yield wrong
        for trace in about:
            if trace.name != "job" and (trace.name not in SLOW or section not in SAMPLED):
                for table in tables[1:]:
                    yield report(trace.name, *of_section(trace, section), "--table", table, form="--csv")


def sorted_reports(before, top, about):
    """Each sort key."""
    for trace in about:
        for section in SECTIONS if trace.name in SORTED else ():
            words = of_section(trace, section)
            wrong = report(trace.name, *words, "--sort", "?")
            yield wrong
            for key in sorted(set(names_in_error(before, top, wrong, " sorted by "))):
                yield report(trace.name, *words, "--sort", key)


def of_several(quick):
    """Several traces, or a part of one."""
    places = ("job", " ".join(JOB), "job_rtdetr", "ranks", "rtdetr_unfused rtdetr_unfused.cut")
    for place in places[:2] if quick else places:
        for option in ("", "--as-ranks", "--as-ranks --each", "--depth 1 --as-ranks", "--iterations 1:3",
                       "--section communication --as-ranks", "--kernel gemm", "--section modules --total",
                       "--section kernels --as-ranks --each"):
            for form in ("--wide", "--json"):
                yield report(place, *option.split(), form=form)
        yield report(place, form="--md")
    for file in ("rtdetr_unfused.segments/trace-00001.ndjson", "rtdetr_unfused.zstd/trace-00001.ndjson.zst",
                 "rtdetr_unfused/trace-00000.ndjson", "./example/", "only_summary", "nothing", "served"):
        yield report(file)
        yield report(file, "--section", "loss", form="--json")
        yield [["validate", file]]
    yield report("rtdetr_exact", "--split-by", "case_overlap")
    yield report("rtdetr_exact", "--split-by", "rtdetr_unfused")
    for option in WRONG:
        yield [["report", "rtdetr_unfused", *option.split()]]


def split_reports():
    for section, form in (("modules", "--wide"), ("modules", "--json"), ("layers", "--wide")):
        yield report("decoder_exact", "--section", section, "--split-by", SLOWEST, form=form)


def diffs(quick):
    for at, pair in enumerate(PAIRS[:2] if quick else PAIRS):
        options = ("", "--json", "--csv", "--md", "--all --wide", *(DIFF_OPTIONS if at < 4 else ()))
        count = 1 if SLOWEST in pair else 2 if set(pair) & set(SLOW) else len(options)
        for option in options[:count]:
            yield [["diff", *pair, *option.split()]]
        if at < 4:
            yield [["diff", "--save", "OUT/a.json", pair[0]], ["diff", "OUT/a.json", pair[1], "--all"]]
            yield [["diff", "--save", "OUT/a.json", pair[0], "--iterations", "2:"],
                   ["diff", pair[1], "OUT/a.json", "--json"]]
    yield [["diff", "nvtx_shapes"]]
    yield [["diff", "ranks", "nvtx_shapes"]]


def files(trace, quick):
    """What is written about a trace: exports, the HTML page."""
    for to in EXPORTS:
        if trace.name != SLOWEST or to != "speedscope":
            yield [["export", trace.name, "--to", to, "--out", f"OUT/x.{to}"]]
    yield [["report", trace.name, "--html", "OUT/page.html"]]
    for form in ("--json", "--csv", "--md", "--wide")[:1 if quick else 4]:
        yield [["diff", trace.name, form, "--kernel", *trace.kernels]]
    if trace.name != "rtdetr_unfused":
        return
    for to in EXPORTS:
        yield [["copy", trace.name, "OUT/a"], ["export", "OUT/a", "--to", to], ["export", "OUT/a", "--to", to],
               ["export", "OUT/a", "rtdetr_exact", "--to", to, "--out", "OUT/b", "--force"],
               ["export", "job", "--to", to, "--out", "-"], ["export", trace.name, "--to", to, "--out", "-"]]
    yield [["export", trace.name, "--to", "kineto", "--out", "OUT/x", "--step-range", "iteration"]]
    yield [["export", trace.name, "--to", "prometheus", "--out", "-", "--modules", "3"]]
    yield [["export", trace.name, "--to", "?"]]
    for pair in PAIRS[:1] if quick else PAIRS[:3]:
        yield [["report", *pair, "--html", "OUT/page.html"]]


def checks(name):
    for option in ((), ("--strict",), ("--json",)):
        yield [["validate", name, *option]]
    if "." in name or name == "rtdetr_unfused":
        yield [["validate", name, "--fix", "--out", "OUT/fixed"], ["report", "OUT/fixed", "--json"]]
        yield [["copy", name, "OUT/a"], ["validate", "OUT/a", "--fix", "--force", "--json"], ["validate", "OUT/a"]]
        yield [["copy", name, "OUT/a"], ["finalize", "OUT/a"], ["report", "OUT/a"]]


def of_variant(name, quick):
    whole = not quick and name.endswith((".cut", ".segments", ".reordered", ".broken", ".zstd"))
    for section in SECTIONS if whole else MAIN:
        if section != "kernel":
            yield report(name, *of_section(None, section))
    for section in MAIN[:2] if quick else ("modules", "kernels", "iterations", "findings"):
        yield report(name, "--section", section, form="--json")
    for option in ("--iterations 1:3", "--range **/*", "--window 1ms:"):
        yield report(name, *option.split())
    for to in EXPORTS[:2] if quick else EXPORTS:
        yield [["export", name, "--to", to, "--out", f"OUT/x.{to}"]]
    if not quick:
        yield [["report", name, "--html", "OUT/page.html"]]
        yield [["diff", name, name.partition(".")[0], "--all"]]


def of_damaged(name):
    for section in ("", "modules", "idle", "iterations"):
        yield report(name, *of_section(None, section))
    yield report(name, "--section", "loss", form="--json")
    yield report(name, "--range", "**/*", "--window", "1us:", form="--json")
    yield [["diff", name, name]]
    yield [["validate", name]]
    yield [["validate", name, "--fix", "--out", "OUT/fixed", "--json"]]
    for to in ("csv", "kineto"):
        yield [["export", name, "--to", to, "--out", f"OUT/x.{to}"]]


def commands(before, top, quick, pool):
    """{text: command}, slow ones first, with their traces in the folder `top`. `before` is asked for names."""
    names, variants = write_traces(top, quick, pool)
    about = list(pool.map(functools.partial(Trace, before, top), names))
    out = [*of_several(quick), *diffs(quick),
           *table_reports(before, top, [trace for trace in about if trace.name in VIEWED or not quick])]
    out += () if quick else sorted_reports(before, top, about)
    for trace in about:
        for source in (whole_reports, selected_reports, optional_reports, files):
            out += source(trace, quick)
        out += checks(trace.name)
    for name in variants:
        out += [*of_variant(name, quick), *checks(name)]
    for name in write_damaged(before, top)[::8 if quick else 1]:
        out += of_damaged(name)
    out += () if quick else split_reports()
    routes = [*ROUTES, *(f"{route}trace={name}" for name in SERVED for route in ROUTES_OF_TRACE)]
    out.append([["serve", "served", *routes]])
    out.append([["serve", "served", "ranks", "--kernel-labels", "--modules", "5", "/metrics", "/api/traces"]])
    unique = {" && ".join(map(shlex.join, steps)): steps for steps in out}
    return dict(sorted(unique.items(), key=lambda item: (SLOWEST not in item[0], "_sampled" not in item[0])))
