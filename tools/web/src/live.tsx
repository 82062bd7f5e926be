// SPDX-License-Identifier: Apache-2.0
//
// The page of `rangefinder serve`. The URL's hash selects the lists or one running program.
//
//   #            lists of programs and traces         live/home.tsx
//   #pid=4711    that program, live                   live/program.tsx
//
// It requests data from its own server only. A click on "Open in Perfetto" is the one exception.
import { render, type JSX } from "preact";
import { useEffect, useState } from "preact/hooks";
import { Home } from "./live/home";
import { Program } from "./live/program";
import { startTheme } from "./theme";
import { ThemeSelect } from "./ui/theme_select";
import "uplot/dist/uPlot.min.css";
import "./style.css";

function pidOf(hash: string): number | undefined {
  const pid = Number(new URLSearchParams(hash.replace(/^#/, "")).get("pid"));
  return Number.isInteger(pid) && pid > 0 ? pid : undefined;
}

function Page(): JSX.Element {
  const [pid, setPid] = useState(pidOf(location.hash));
  useEffect(() => {
    const read = (): void => setPid(pidOf(location.hash));
    window.addEventListener("hashchange", read);
    return () => window.removeEventListener("hashchange", read);
  }, []);
  document.title = pid === undefined ? "Rangefinder" : `process ${pid} · Rangefinder`;
  return (
    <>
      <header class="top plain">
        <div class="line">
          <h1>Rangefinder</h1>
          {pid !== undefined && (
            <>
              <b class="name">process {pid}</b>
              <a class="button" href="#">
                All programs and traces
              </a>
            </>
          )}
          <span class="fill" />
          <ThemeSelect />
        </div>
      </header>
      <main>
        {pid === undefined ? <Home watch={(which) => (location.hash = `#pid=${which}`)} /> : <Program pid={pid} />}
      </main>
    </>
  );
}

startTheme();
render(<Page />, document.getElementById("page")!);
