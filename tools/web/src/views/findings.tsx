// SPDX-License-Identifier: Apache-2.0
//
// Findings: what could be faster, largest potential saving first, with evidence and the line to change.
//
// The page knows no rule: titles, evidence and the rows that names lead to are those of the data.
import type { JSX } from "preact";
import { useEffect, useRef } from "preact/hooks";
import { percentText } from "../data/numbers";
import type { Finding } from "../data/rows";
import { kernelKey, type Trace } from "../data/trace";
import { update, useStore } from "../state";
import { Prose } from "../ui/prose";

/** Modules of a finding that show without a click. */
const kModules = 5;

/** A name in a finding, as a link if the page has its row. */
function Named(props: { trace: Trace; finding: Finding; text: string }): JSX.Element {
  const { module, kernel } = props.finding.links[props.text] ?? {};
  const path = module === undefined ? undefined : props.trace.modules[module]?.path;
  const row = kernel === undefined ? undefined : props.trace.tables.kernels[kernel];
  if (path === undefined && row === undefined) return <bdi>{props.text}</bdi>;
  return (
    <button
      type="button"
      class="link"
      title={path ?? row!.name}
      onClick={() => update(row ? { view: "kernel", kernel: kernelKey(row) } : { view: "modules", module: path! })}
    >
      <bdi>{props.text}</bdi>
    </button>
  );
}

/** Lines of the program: of the class, and of its call. */
function Lines(props: { class_source?: string; call_source?: string }): JSX.Element | null {
  const { class_source: of, call_source: call } = props;
  const lines = [...(of === undefined ? [] : [`class ${of}`]), ...(call === undefined ? [] : [`call ${call}`])];
  return lines.length === 0 ? null : <code class="lines">{lines.join("\n")}</code>;
}

function Modules({ trace, finding }: { trace: Trace; finding: Finding }): JSX.Element | null {
  const all = finding.modules ?? [];
  if (all.length === 0) return null;
  const shown = (modules: typeof all): JSX.Element => (
    <ul>
      {modules.map((one, i) => (
        <li key={i}>
          {one.where === "" ? "(outside of any range)" : <Named trace={trace} finding={finding} text={one.where} />}{" "}
          {percentText(one.share)} of it
          <Lines {...one} />
        </li>
      ))}
    </ul>
  );
  return (
    <>
      {shown(all.slice(0, kModules))}
      {all.length > kModules && (
        <details class="more">
          <summary>{all.length - kModules} more modules</summary>
          {shown(all.slice(kModules))}
        </details>
      )}
    </>
  );
}

/** `brief`: beside its kernel, with the evidence after a click. `current`: a link led to it. */
export function FindingCard(props: {
  trace: Trace;
  finding: Finding;
  brief?: boolean;
  current?: boolean;
}): JSX.Element {
  const { trace, finding, brief } = props;
  const { severity, saving, where, kernel, why, code } = finding;
  const evidence = (
    <>
      {why !== undefined && (
        <p>
          <Prose text={why} />
        </p>
      )}
      <dl class="evidence">
        {finding.facts.map(([name, text], i) => (
          <div key={i}>
            <dt>{name}</dt>
            <dd>
              <Named trace={trace} finding={finding} text={text} />
            </dd>
          </div>
        ))}
      </dl>
    </>
  );
  return (
    <article class={`card finding ${severity}`} aria-current={props.current || undefined}>
      <h2>
        <span class="severity">{severity}</span>
        <Prose text={finding.title} />
        {saving !== undefined && !brief && <span class="saving">up to {saving}</span>}
      </h2>
      <p class="places">
        {where !== undefined && <Named trace={trace} finding={finding} text={where} />}
        {kernel !== undefined && !brief && <Named trace={trace} finding={finding} text={kernel} />}
      </p>
      <Lines {...finding} />
      <Modules trace={trace} finding={finding} />
      {!brief && evidence}
      <p>
        <b>Next: </b>
        <Prose text={finding.next_step} />
      </p>
      {code !== undefined && <pre>{code}</pre>}
      {brief && (
        <details class="more">
          <summary>Evidence</summary>
          {evidence}
        </details>
      )}
      <p class="dim">
        rule {finding.id}
        {finding.experimental ? ", experimental: no recorded run has shown it" : ""}
      </p>
    </article>
  );
}

export function FindingsView({ trace }: { trace: Trace }): JSX.Element {
  const { finding: current } = useStore();
  const all = trace.tables.findings;
  const list = useRef<HTMLDivElement>(null);
  useEffect(() => list.current?.querySelector("[aria-current]")?.scrollIntoView(), [current]);
  return (
    <div class="view findings" ref={list}>
      {all.length === 0 && <p class="empty">No rule found anything in this trace.</p>}
      {all.length > 0 && <p class="dim">Maximum potential savings. Findings overlap, so savings do not add up.</p>}
      {all.map((finding, i) => (
        <FindingCard key={i} trace={trace} finding={finding} current={i === current} />
      ))}
      {trace.tables.not_checked.split("\n").map((text) => (
        <p key={text} class="dim">
          <Prose text={text} />
        </p>
      ))}
    </div>
  );
}
