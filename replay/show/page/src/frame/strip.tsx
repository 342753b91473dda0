// Time strip: waiting over the whole run, with the visible part as a window.

import { useMemo } from "preact/hooks";

import { isAnalysed } from "../data/report.js";
import type { Data } from "../data/load.js";
import { usePage } from "../state/context.js";
import { palette } from "../ui/colours.js";
import { seconds, share } from "../ui/format.js";
import { Picture } from "../ui/picture.js";
import { show, visible, zoom } from "../views/time/window.js";

const HEIGHT = 34;

/** The share of waiting in each bin of the coarsest level, of all locations. */
export function waitingOverTime(data: Data): { shares: Float64Array; bin: number } | null {
  const cells = data.grid?.cells[data.report.levels.length - 1];
  if (!cells?.ticks) return null;
  const { bins, groups, bin_ticks } = cells.level;
  const shares = new Float64Array(bins);
  for (const [number, ticks] of cells.ticks) {
    if (!data.report.classes[number]?.is_waiting) continue;
    for (let group = 0; group < groups; group++) {
      for (let bin = 0; bin < bins; bin++) shares[bin] = shares[bin]! + ticks[group * bins + bin]!;
    }
  }
  for (let bin = 0; bin < bins; bin++) shares[bin] = shares[bin]! / (bin_ticks * Math.max(1, data.places.count));
  return { shares, bin: bin_ticks };
}

export function Strip() {
  const page = usePage();
  const { data } = page;
  const over = useMemo(() => waitingOverTime(data), [data.grid]);
  if (!over) return null;
  const { report } = data;
  const view = visible(page);
  const per = report.ticks_per_second;
  let width = 1;
  const ticks = (x: number) => (Math.max(0, Math.min(width, x)) / width) * report.end;
  const at = (time: number) => Math.max(0, Math.min(over.shares.length - 1, Math.floor(time / over.bin)));
  return (
    <footer class="strip">
      <Picture
        name="Waiting over the whole run: A and D move the visible part, W and S zoom" height={HEIGHT}
        draw={({ context, width: wide }) => {
          width = wide;
          const colours = palette();
          context.fillStyle = colours.of("messages");
          const bins = Math.max(1, Math.round(report.end / over.bin));
          for (let x = 0; x < wide; x++) {
            const [from, to] = [Math.floor((x / wide) * bins), Math.max(Math.floor((x / wide) * bins) + 1, Math.floor(((x + 1) / wide) * bins))];
            let sum = 0;
            for (let bin = from; bin < to; bin++) sum += over.shares[bin] ?? 0;
            const high = Math.min(1, Math.max(0, sum / (to - from))) * (HEIGHT - 6);
            context.fillRect(x, HEIGHT - 3 - high, 1, high);
          }
          context.strokeStyle = colours.line;
          context.strokeRect(0.5, 0.5, wide - 1, HEIGHT - 1);
          const [from, to] = [(view.begin / report.end) * wide, (view.end / report.end) * wide];
          context.fillStyle = `${colours.accent}26`;
          context.fillRect(from, 0, Math.max(2, to - from), HEIGHT);
          context.strokeStyle = colours.accent;
          context.lineWidth = 2;
          context.strokeRect(from + 1, 1, Math.max(2, to - from) - 2, HEIGHT - 2);
          context.lineWidth = 1;
          return { from: from.toFixed(1), to: to.toFixed(1), words: `visible: ${seconds(view.begin / per)} to ${seconds(view.end / per)} of ${seconds(report.end / per)}` };
        }}
        wordsAt={(x) => `${seconds(ticks(x) / per)}: ${isAnalysed(report) ? share(over.shares[at(ticks(x))]!) : "unknown"} waiting`}
        onDrag={(from, to, isDone) => show(page, ticks(Math.min(from[0], to[0])), ticks(Math.max(from[0], to[0])), !isDone)}
        onClick={(x) => { const half = (view.end - view.begin) / 2; show(page, ticks(x) - half, ticks(x) + half, false); }}
        onDouble={() => page.change({ time: null })}
        onKey={(key) => {
          const size = view.end - view.begin;
          switch (key) {
            case "a": case "ArrowLeft": show(page, view.begin - size / 4, view.end - size / 4, true); return true;
            case "d": case "ArrowRight": show(page, view.begin + size / 4, view.end + size / 4, true); return true;
            case "w": case "+": zoom(page, 0.5, 0.5, true); return true;
            case "s": case "-": zoom(page, 2, 0.5, true); return true;
            default: return false;
          }
        }}
      />
    </footer>
  );
}
