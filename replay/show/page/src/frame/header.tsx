// Header: title, trust, search, unit, theme and help.

import type { RefObject } from "preact";
import { useState } from "preact/hooks";

import { usePage } from "../state/context.js";

/** Results of a search that are shown. */
const FOUND = 12;

export function Header(props: { search: RefObject<HTMLInputElement | null>; help: () => void }) {
  const page = usePage();
  const { report } = page.data;
  const [words, setWords] = useState("");
  const found = words.length > 0 ? find(words.toLowerCase(), page) : [];
  const isDark = page.state.theme === "dark" || (page.state.theme === null && matchMedia("(prefers-color-scheme: dark)").matches);
  const go = (at: number) => {
    found[at]?.go();
    setWords("");
  };
  return (
    <header class="head">
      <h1 class="title">{report.title}</h1>
      <p class={`trust${report.is_trusted ? "" : " doubtful"}`}>{report.trust.join(" · ")}{report.is_trusted ? "" : " (see Overview)"}</p>
      <div class="search">
        <input
          ref={props.search} type="search" placeholder="Search ( / )" aria-label="Search functions, metrics and ranks" value={words}
          onInput={(event) => setWords(event.currentTarget.value)}
          onKeyDown={(event) => { if (event.key === "Enter") go(0); }}
        />
        {found.length > 0 && (
          <ul class="found" role="list">
            {found.map((it, at) => (
              <li key={at}><button type="button" class="choose" onClick={() => go(at)}>{it.title} <span class="limit">{it.kind}</span></button></li>
            ))}
          </ul>
        )}
      </div>
      <label>
        Unit{" "}
        <select value={page.state.unit} onChange={(event) => page.change({ unit: event.currentTarget.value as "s" | "%" | "l" })}>
          <option value="s">seconds</option>
          <option value="%">share</option>
          <option value="l">mean of threads</option>
        </select>
      </label>
      <button type="button" aria-pressed={isDark} onClick={() => page.change({ theme: isDark ? "light" : "dark" })}>dark</button>
      {page.state.isClosed && <button type="button" onClick={() => page.change({ isClosed: false })}>selection</button>}
      <button type="button" onClick={props.help} aria-label="Help: all keys">?</button>
    </header>
  );
}

interface Found { title: string; kind: string; go: () => void }

function find(words: string, page: ReturnType<typeof usePage>): Found[] {
  const { calls, report, places } = page.data;
  const found: Found[] = [];
  // Of several metrics with one title that is meant which time is a class of.
  const classes = new Set(report.classes.flatMap((it) => it.metrics));
  const metrics = report.metrics.flatMap((metric, at) => {
    const [title, name] = metric ? [metric.title.toLowerCase(), metric.name.toLowerCase()] : ["", ""];
    const rank = title === words || name === words ? 0 : title.startsWith(words) ? 1 : `${title} ${name}`.includes(words) ? 2 : 3;
    return metric && rank < 3 ? [{ metric, rank: rank + (classes.has(at) ? 0 : 0.5) }] : [];
  });
  for (const { metric } of metrics.sort((a, b) => a.rank - b.rank).slice(0, FOUND / 2)) {
    found.push({ title: metric.title, kind: metric.name, go: () => page.change({ metric: metric.name, isOwn: false }) });
  }
  for (let at = 0; at < calls.count && found.length < FOUND; at++) {
    if (calls.name(at).toLowerCase().includes(words)) {
      found.push({
        title: calls.name(at), kind: calls.path(at),
        go: () => page.change({ view: page.state.view === "overview" ? "calls" : page.state.view, path: calls.hash(at), isAlone: false }),
      });
    }
  }
  const rank = /^(?:rank )?(\d+)$/.exec(words);
  if (rank) {
    for (let at = 0; at < places.count; at++) {
      if (places.rank(at) !== Number(rank[1])) continue;
      found.unshift({ title: places.name(at), kind: "location", go: () => page.change({ location: at }) });
      break;
    }
  }
  return found.slice(0, FOUND);
}
