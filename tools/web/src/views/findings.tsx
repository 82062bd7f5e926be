// SPDX-License-Identifier: Apache-2.0
//
// Findings: what could be faster, largest potential saving first, with evidence.
//
// The page knows no rule. It shows evidence of any shape, and turns module paths and kernel names in it into
// links.
import type { JSX } from "preact";
import { bytesText, durationText, percentText, plainNumber, rateText } from "../data/numbers";
import type { Finding } from "../data/rows";
import { kernelKey, type Trace } from "../data/trace";
import { update } from "../state";

const kKnown = new Set(["id", "title", "severity", "where", "prize_ns", "evidence", "next_step"]);

function numberText(key: string, value: number): string {
  if (key.endsWith("_ns")) return durationText(value);
  if (key.endsWith("bytes_per_s")) return rateText(value);
  if (key.endsWith("_bytes") || key === "bytes") return bytesText(value);
  if (key.endsWith("_share")) return percentText(value);
  return plainNumber(value);
}

/** The module that `where` names. A `*` stands for a number; if several match, the first. */
function moduleAt(trace: Trace, where: string): string | undefined {
  if (trace.byPath.has(where) || !where.includes("*")) return trace.module(where)?.path;
  const escaped = where.split("*").map((part) => part.replace(/[.+?^${}()|[\]\\]/g, "\\$&"));
  const pattern = new RegExp(`^${escaped.join("[^/]*")}$`);
  return trace.modules.find((row) => pattern.test(row.path))?.path;
}

/** Rules name kernels without return type and arguments. If several match, the heaviest is meant. */
function kernelAt(trace: Trace, where: string): string | undefined {
  const all = trace.tables.kernels;
  const row =
    all.find((one) => one.name === where || one.mangled === where) ??
    (where.length > 3 ? all.find((one) => one.name.includes(where)) : undefined);
  return row && kernelKey(row);
}

function Place({ trace, text }: { trace: Trace; text: string }): JSX.Element {
  const module = moduleAt(trace, text);
  const kernel = module === undefined ? kernelAt(trace, text) : undefined;
  if (module === undefined && kernel === undefined) return <bdi>{text}</bdi>;
  const go = (): void => update(module !== undefined ? { view: "modules", module } : { view: "kernels", kernel });
  return (
    <button type="button" class="link" onClick={go}>
      <bdi>{text}</bdi>
    </button>
  );
}

function Value({ trace, name, value }: { trace: Trace; name: string; value: unknown }): JSX.Element {
  if (Array.isArray(value))
    return (
      <ul>
        {value.slice(0, 50).map((one, i) => (
          <li key={i}>
            <Value trace={trace} name={name} value={one} />
          </li>
        ))}
      </ul>
    );
  if (typeof value === "object" && value !== null) {
    return (
      <dl class="facts">
        {Object.entries(value).map(([key, one]) => (
          <div key={key}>
            <dt>{key.replaceAll("_", " ")}</dt>
            <dd>
              <Value trace={trace} name={key} value={one} />
            </dd>
          </div>
        ))}
      </dl>
    );
  }
  if (typeof value === "number") return <span title={String(value)}>{numberText(name, value)}</span>;
  return <Place trace={trace} text={String(value)} />;
}

function One({ trace, finding }: { trace: Trace; finding: Finding }): JSX.Element {
  const more = Object.entries(finding).filter(([key]) => !kKnown.has(key));
  const { severity, prize_ns: saving, where, next_step: next } = finding;
  return (
    <article class={`card finding ${String(severity ?? "")}`}>
      <h2>
        {severity !== undefined && <span class="severity">{String(severity)}</span>}
        <bdi>{String(finding.title ?? finding.id ?? "Finding")}</bdi>
        {typeof saving === "number" && (
          <span class="saving" title={`${saving} ns`}>
            up to {durationText(saving)}
          </span>
        )}
      </h2>
      {where !== undefined && (
        <p>
          <span class="dim">Where: </span>
          <Place trace={trace} text={where} />
        </p>
      )}
      {next !== undefined && (
        <p>
          <span class="dim">Next: </span>
          <bdi>{next}</bdi>
        </p>
      )}
      <details>
        <summary>Evidence</summary>
        <Value trace={trace} name="evidence" value={finding.evidence ?? "none given"} />
        {more.length > 0 && <Value trace={trace} name="more" value={Object.fromEntries(more)} />}
        <p class="dim">rule {finding.id}</p>
      </details>
    </article>
  );
}

export function FindingsView({ trace }: { trace: Trace }): JSX.Element {
  const all = trace.tables.findings;
  return (
    <div class="view findings">
      {all.length === 0 && <p class="empty">No rule found anything in this trace.</p>}
      {all.length > 0 && <p class="dim">Maximum potential savings. Findings overlap, so savings do not add up.</p>}
      {all.map((finding, i) => (
        <One key={i} trace={trace} finding={finding} />
      ))}
    </div>
  );
}
