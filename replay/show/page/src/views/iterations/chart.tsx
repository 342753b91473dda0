// The chart of the view Iterations: elapsed time, or a metric, by iteration.

import { useMemo } from "preact/hooks";

import type { Iterations } from "../../data/iterations.js";
import { usePage } from "../../state/context.js";
import { palette, type Palette } from "../../ui/colours.js";
import { ofUnit } from "../../ui/format.js";
import { Picture } from "../../ui/picture.js";
import { LEFT, RIGHT, change, coloursOf, describe, openTime, type Shown } from "./shown.js";

const HEIGHT = 270;
const TOP = 30;
const AXIS = 24;
const PLOT = HEIGHT - TOP - AXIS;

/** Pixels of an iteration from which on it has a bar; others have points. */
const BAR = 3;

/** What is drawn by row: marks, and the band from the least to the most of a location. */
interface Drawn { mark: Float64Array; least: Float64Array | null; most: Float64Array | null; unit: string }

export function Chart({ iterations, shown }: { iterations: Iterations; shown: Shown }) {
  const page = usePage();
  const { data } = page;
  const drawn = useMemo(() => drawnOf(), [iterations, shown.metric]);
  const largest = useMemo(() => Math.max(1e-30, ...[drawn.mark, drawn.most].map((values) => values?.reduce((a, b) => (b > a ? b : a), 0) ?? 0)), [drawn]);
  const colours = useMemo(() => coloursOf(iterations), [iterations]);
  const unlike = useMemo(() => iterations.unlike().sort((a, b) => iterations.elapsed[b]! - iterations.elapsed[a]!), [iterations]);
  // Those of rare kinds are drawn last, above others.
  const order = useMemo(() => {
    const size = (row: number) => iterations.loop.kinds[iterations.kind[row]!]?.iterations ?? 0;
    return Array.from({ length: iterations.count }, (_, row) => row).sort((a, b) => size(b) - size(a) || a - b);
  }, [iterations]);
  const { count } = iterations;
  let width = 1;
  const wide = () => Math.max(1, width - LEFT - RIGHT);
  const words = (row: number) => describe(data, iterations, row, shown.metric);
  const rowAt = (x: number) => {
    const row = Math.floor(((x - LEFT) / wide()) * count);
    return row >= 0 && row < count ? row : null;
  };

  function drawnOf(): Drawn {
    const per = data.report.ticks_per_second;
    if (shown.metric === null) return { mark: Float64Array.from(iterations.elapsed, (it) => it / per), least: null, most: null, unit: "seconds" };
    const { unit } = data.report.metrics[shown.metric]!;
    const scale = unit === "seconds" ? per : 1;
    const { sum, least, most } = iterations.values(shown.metric);
    const scaled = (values: Float64Array) => values.map((it) => it / scale);
    return {
      mark: sum.map((it, row) => it / scale / Math.max(1, iterations.locations[row]!)), unit,
      // Where neighbours share a row, some metrics have the least and the most of one iteration, and others of all of them.
      ...(iterations.loop.block === 1 ? { least: scaled(least), most: scaled(most) } : { least: null, most: null }),
    };
  }

  return (
    <Picture
      name="By iteration: arrow keys move, Page keys by ten, Enter shows one in Time" height={HEIGHT}
      draw={({ context, width: now }) => {
        width = now;
        const theme = palette();
        const each = wide() / count;
        const y = (value: number) => TOP + PLOT * (1 - Math.max(0, value) / largest);
        axes(context, theme, width, y);
        // Points are told from the page by an edge around all of them.
        if (each < BAR) {
          context.fillStyle = theme.line;
          drawn.mark.forEach((value, row) => { if (!Number.isNaN(value)) context.fillRect(LEFT + row * each - 1, y(value) - 2, 4, 4); });
        }
        for (const row of order) {
          const [x, value] = [LEFT + row * each, drawn.mark[row]!];
          // Nobody knows it.
          if (Number.isNaN(value)) continue;
          const colour = colours[iterations.kind[row]!];
          context.fillStyle = colour && iterations.loop.block === 1 ? theme.of(colour) : theme.of("work");
          const side = each >= 6 ? 1 : 0;
          if (drawn.most && drawn.least) {
            const [top, bottom] = [y(drawn.most[row]!), y(drawn.least[row]!)];
            context.globalAlpha = 0.45;
            context.fillRect(x, top, Math.max(1, each - side), Math.max(1, bottom - top));
            context.globalAlpha = 1;
            context.fillRect(x, y(value) - 2, Math.max(2, each - side), 4);
            edge(context, theme, x, each, y(value) - 2, 4);
          } else if (each >= BAR) {
            const top = Math.min(y(value), TOP + PLOT - 1);
            context.fillRect(x, top, each - side, TOP + PLOT - top);
            edge(context, theme, x, each, top, TOP + PLOT - top);
          } else context.fillRect(x, y(value) - 1, 2, 2);
        }
        const labelled = labels(context, theme, each, (row) => y(Math.max(drawn.mark[row]! || 0, drawn.most?.[row] || 0)));
        if (shown.row !== null) {
          context.strokeStyle = theme.focus;
          context.lineWidth = 2;
          context.strokeRect(LEFT + shown.row * each - 1, TOP, Math.max(3, each) + 1, PLOT);
          context.lineWidth = 1;
        }
        return {
          iterations: count, unlike: unlike.map((row) => iterations.label(row)).join(" "), labelled: labelled.join(" "), most: largest,
          unknown: drawn.mark.filter((it) => Number.isNaN(it)).length, words: shown.row === null ? "" : words(shown.row),
        };
      }}
      wordsAt={(x) => { const row = rowAt(x); return row === null ? "" : words(row); }}
      onClick={(x) => { const row = rowAt(x); if (row !== null) openTime(page, iterations, row, row, null); }}
      onKey={(key) => {
        if (key === "Enter" && shown.row !== null) {
          openTime(page, iterations, shown.row, shown.row, null);
          return true;
        }
        const step = { ArrowRight: 1, ArrowLeft: -1, PageDown: 10, PageUp: -10, Home: -count, End: count }[key];
        if (step === undefined) return false;
        const next = shown.row === null ? (unlike[0] ?? 0) : Math.max(0, Math.min(count - 1, shown.row + step));
        change(page, iterations, { row: next }, true);
        return true;
      }}
    />
  );

  function axes(context: CanvasRenderingContext2D, theme: Palette, width: number, y: (value: number) => number): void {
    context.fillStyle = theme.text;
    context.textAlign = "right";
    for (const part of [0, 0.5, 1]) {
      const value = part * largest;
      context.strokeStyle = theme.faint;
      context.beginPath();
      context.moveTo(LEFT, Math.round(y(value)) + 0.5);
      context.lineTo(width - RIGHT, Math.round(y(value)) + 0.5);
      context.stroke();
      context.fillText(ofUnit(value, drawn.unit), LEFT - 6, y(value) + 4, LEFT - 8);
    }
    numbersBelow(context, theme, width, TOP + PLOT + 19, iterations.loop.iterations);
  }

  /** Marks those unlike the others, and labels the longest of them as far as there is room. */
  function labels(context: CanvasRenderingContext2D, theme: Palette, each: number, top: (row: number) => number): string[] {
    const taken: [number, number][] = [];
    const labelled: string[] = [];
    context.textAlign = "center";
    for (const row of unlike) {
      const x = LEFT + (row + 0.5) * each;
      context.fillStyle = theme.focus;
      context.beginPath();
      context.moveTo(x - 4, TOP - 12);
      context.lineTo(x + 4, TOP - 12);
      context.lineTo(x, TOP - 5);
      context.fill();
      context.strokeStyle = theme.focus;
      context.setLineDash([2, 3]);
      context.beginPath();
      context.moveTo(x, TOP - 5);
      context.lineTo(x, top(row));
      context.stroke();
      context.setLineDash([]);
      const label = iterations.label(row);
      const half = context.measureText(label).width / 2 + 4;
      if (taken.some(([from, to]) => from < x + half && x - half < to)) continue;
      taken.push([x - half, x + half]);
      labelled.push(label);
      context.fillStyle = theme.text;
      context.fillText(label, x, TOP - 16);
    }
    context.textAlign = "left";
    return labelled;
  }
}

/** The edge of a mark, by which light ones are told from the page. */
function edge(context: CanvasRenderingContext2D, theme: Palette, x: number, each: number, top: number, height: number): void {
  if (each < 6) return;
  context.strokeStyle = theme.line;
  context.strokeRect(x + 0.5, Math.round(top) + 0.5, Math.max(1, each - 2), Math.max(1, height - 1));
}

/** Numbers of iterations below a picture. */
export function numbersBelow(context: CanvasRenderingContext2D, theme: Palette, width: number, y: number, iterations: number): void {
  const wide = width - LEFT - RIGHT;
  const raw = iterations / Math.max(1, Math.floor(wide / 70));
  const power = 10 ** Math.floor(Math.log10(Math.max(1, raw)));
  const step = Math.max(1, ([1, 2, 5, 10].find((it) => it * power >= raw) ?? 10) * power);
  context.fillStyle = theme.text;
  context.textAlign = "center";
  for (let number = step === 1 ? 1 : step; number <= iterations; number += step) {
    context.fillText(String(number), Math.min(LEFT + ((number - 0.5) / iterations) * wide, width - 16), y);
  }
  context.textAlign = "right";
  context.fillText("iteration", LEFT - 6, y, LEFT - 8);
  context.textAlign = "left";
}
