// SPDX-License-Identifier: Apache-2.0
//
// Findings: what could be faster, largest potential saving first, with evidence.
//
// The page knows no rule. It shows evidence of any shape, and turns module paths and kernel names in it into
// links.
import type { JSX } from "preact";
import type { Finding } from "../data/rows";
import { kernelKey, type Trace } from "../data/trace";
import { update } from "../state";

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

function One({ trace, finding }: { trace: Trace; finding: Finding }): JSX.Element {
  const { severity, saving, where, why, code } = finding;
  return (
    <article class={`card finding ${severity}`}>
      <h2>
        <span class="severity">{severity}</span>
        <bdi>{finding.title}</bdi>
        {saving !== undefined && <span class="saving">up to {saving}</span>}
      </h2>
      {where !== undefined && (
        <p>
          <span class="dim">Where: </span>
          <Place trace={trace} text={where} />
        </p>
      )}
      {why !== undefined && (
        <p>
          <bdi>{why}</bdi>
        </p>
      )}
      <p>
        <span class="dim">Next: </span>
        <bdi>{finding.next_step}</bdi>
      </p>
      {code !== undefined && <pre>{code}</pre>}
      <details>
        <summary>Evidence</summary>
        <dl class="facts">
          {finding.facts.map(([name, text]) => (
            <div key={name}>
              <dt>{name}</dt>
              <dd>
                <Place trace={trace} text={text} />
              </dd>
            </div>
          ))}
        </dl>
        <p class="dim">
          rule {finding.id}
          {finding.experimental ? ", experimental: no recorded run has shown it" : ""}
        </p>
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
      {trace.tables.not_checked.split("\n").map((text) => (
        <p key={text} class="dim">
          {text}
        </p>
      ))}
    </div>
  );
}
