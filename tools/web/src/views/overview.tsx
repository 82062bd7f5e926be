// SPDX-License-Identifier: Apache-2.0
//
// The landing view: the opening lines and findings of `report`, each with links to its evidence; a bar an
// iteration; one iteration byte by byte. Texts, links and numbers are those of the data.
import type { JSX } from "preact";
import type { Link } from "../data/overview";
import { kernelKey, type Trace } from "../data/trace";
import { update, type State } from "../state";
import { Prose } from "../ui/prose";
import { IterationStrip } from "./iteration_strip";
import { PictureView } from "./picture";

/** Some room, so that the edges are visible. */
const kRoom = 0.03;

export function follow(trace: Trace, link: Link): void {
  const change: Partial<State> = { view: link.view, finding: link.finding };
  if (link.module !== undefined) change.module = trace.modules[link.module]?.path;
  const kernel = link.kernel === undefined ? undefined : trace.tables.kernels[link.kernel];
  if (kernel !== undefined) change.kernel = kernelKey(kernel);
  if (link.metric !== undefined) change.metric = link.metric;
  if (link.from !== undefined && link.to !== undefined) {
    const room = (link.to - link.from) * kRoom;
    Object.assign(change, { from: Math.floor(link.from - room), to: Math.ceil(link.to + room) });
  }
  update(change);
}

function Links({ trace, links }: { trace: Trace; links: readonly Link[] }): JSX.Element {
  return (
    <span class="evidence">
      {links.map((link) => (
        <button key={link.text} type="button" class="link" title={link.text} onClick={() => follow(trace, link)}>
          <bdi>{link.text}</bdi>
        </button>
      ))}
    </span>
  );
}

function Opening({ trace }: { trace: Trace }): JSX.Element {
  const { title, warnings, lines } = trace.tables.overview;
  return (
    <section class="opening" aria-label="Summary">
      <h2>
        <bdi>{title[0]}</bdi>
      </h2>
      <p class="dim">
        <bdi>{title[1]}</bdi>
      </p>
      {warnings.map((text) => (
        <p key={text} class="warning">
          <Prose text={text} />
        </p>
      ))}
      <dl>
        {lines.map((line) => (
          <div key={line.label}>
            <dt>{line.label}</dt>
            <dd class="value">{line.value}</dd>
            <dd class="about">
              <Prose text={line.about} /> <Links trace={trace} links={line.links} />
            </dd>
          </div>
        ))}
      </dl>
    </section>
  );
}

function Findings({ trace }: { trace: Trace }): JSX.Element {
  const { findings, evidence, next } = trace.tables.overview;
  const all = trace.tables.findings;
  return (
    <section class="headlines" aria-label="Findings">
      <h2>{findings}</h2>
      {all.length > 0 && (
        <ol>
          {all.map((finding, i) => (
            <li key={i} class={finding.severity}>
              <span class="severity">{finding.severity}</span>
              <Prose text={finding.title} /> <Links trace={trace} links={evidence[i] ?? []} />
            </li>
          ))}
        </ol>
      )}
      {next.what !== undefined && (
        <p class="next">
          <span class="dim">Next: </span>
          <Prose text={next.what} />
          {(next.code || next.command) && <code>{next.code || next.command}</code>}
        </p>
      )}
    </section>
  );
}

export function OverviewView({ trace }: { trace: Trace }): JSX.Element {
  const { overview } = trace.tables;
  return (
    <div class="view overview">
      <div class="first">
        <Opening trace={trace} />
        <Findings trace={trace} />
      </div>
      <p class="conditions dim">{overview.conditions}</p>
      {overview.picture !== undefined && <PictureView trace={trace} picture={overview.picture} />}
      {overview.strip !== undefined && <IterationStrip trace={trace} strip={overview.strip} />}
    </div>
  );
}
