// Flame graph: a metric along the call tree, callers above.

import { useMemo, useState } from "preact/hooks";

import { cnodeOf, quantityOf, usePage } from "../state/context.js";
import { css, letters, palette } from "../ui/colours.js";
import { chosen, cut, share } from "../ui/format.js";
import { Picture } from "../ui/picture.js";
import { Pane } from "./calls.js";

interface Frame { node: number; depth: number; from: number; to: number }

/** Height of a frame, relative to the text. */
const HEIGHT = 1.35;

export function Flame() {
  const page = usePage();
  const { calls, severities, report } = page.data;
  const quantity = quantityOf(page);
  const [isSorted, setSorted] = useState(true);
  const root = page.state.isAlone ? null : cnodeOf(page);
  const frames = useMemo(() => {
    const found: Frame[] = [];
    if (!quantity) return found;
    const { inclusive } = severities.byCall(quantity);
    const size = (node: number) => Math.max(0, inclusive[node]!);
    const place = (nodes: readonly number[], depth: number, from: number, scale: number) => {
      const ordered = isSorted ? [...nodes].sort((a, b) => size(b) - size(a)) : nodes;
      for (const node of ordered) {
        const width = size(node) * scale;
        if (width < 0.0005) continue;
        found.push({ node, depth, from, to: from + width });
        place(calls.children[node]!, depth + 1, from, scale);
        from += width;
      }
    };
    const roots = root === null ? calls.roots : [root];
    const all = roots.reduce((sum, node) => sum + size(node), 0);
    if (all > 0) place(roots, 0, 0, 1 / all);
    return found;
  }, [quantity?.name, page.state.isOwn, root, isSorted, page.data]);
  if (!quantity) return null;
  const depth = 1 + Math.max(0, ...frames.map((frame) => frame.depth));
  const row = 16 * HEIGHT;
  const { inclusive } = severities.byCall(quantity);
  const all = severities.all(quantity);
  const words = (frame: Frame) => {
    const value = chosen(inclusive[frame.node]!, quantity.unit, page.state, report, all);
    return `${calls.path(frame.node)}: ${value}${all ? `, ${share(inclusive[frame.node]! / all)} of all` : ""}`;
  };
  const at = (x: number, y: number, width: number) =>
    frames.find((frame) => frame.depth === Math.floor(y / row) && frame.from * width <= x && x < frame.to * width);
  let wide = 1;
  const selected = frames.findIndex((frame) => frame.node === cnodeOf(page));
  const choose = (frame: Frame | undefined) => frame && page.change({ path: calls.hash(frame.node), isAlone: false });
  const step = (key: string): boolean => {
    const now = frames[Math.max(0, selected)];
    if (!now) return false;
    const next =
      key === "ArrowDown" ? frames.find((it) => it.depth === now.depth + 1 && it.from >= now.from - 1e-9 && it.to <= now.to + 1e-9)
      : key === "ArrowUp" ? frames.find((it) => it.depth === now.depth - 1 && it.from <= now.from + 1e-9 && it.to >= now.to - 1e-9)
      : key === "ArrowRight" ? frames.find((it) => it.depth === now.depth && it.from >= now.to - 1e-9)
      : key === "ArrowLeft" ? frames.findLast((it) => it.depth === now.depth && it.to <= now.from + 1e-9)
      : undefined;
    if (key === "ArrowUp" && !next && root !== null) {
      const parent = calls.parent[root]!;
      page.change({ path: parent < calls.count ? calls.hash(parent) : null, isAlone: false });
      return true;
    }
    choose(next);
    return next !== undefined;
  };
  return (
    <Pane title={`Call paths: ${quantity.title}`}>
      <div class="modes">
        <button type="button" onClick={() => page.change({ path: null, isAlone: false })}>whole program</button>
        <label><input type="checkbox" checked={isSorted} onChange={() => setSorted(!isSorted)} /> largest first</label>
      </div>
      {frames.length === 0 ? <p class="limit">{quantity.obstacle ?? "nothing of this metric here"}</p> : (
        <Picture
          name={`Flame graph of ${quantity.title}: arrow keys move, a frame is wide as its value`} height={Math.ceil(depth * row) + 2}
          draw={({ context, width }) => {
            wide = width;
            const colours = palette();
            for (const frame of frames) {
              const [x, w] = [frame.from * width, (frame.to - frame.from) * width];
              if (w < 0.5) continue;
              const fill = colours.rgb(calls.colour(frame.node));
              context.fillStyle = css(fill);
              context.fillRect(x, frame.depth * row, w, row - 1);
              context.strokeStyle = colours.line;
              context.strokeRect(x + 0.5, frame.depth * row + 0.5, Math.max(0, w - 1), row - 2);
              if (w > 24) {
                context.fillStyle = letters(fill);
                context.fillText(cut(calls.name(frame.node), Math.floor((w - 8) / 6.4)), x + 4, frame.depth * row + row * 0.68);
              }
            }
            const now = frames[selected];
            if (now) {
              context.strokeStyle = colours.focus;
              context.lineWidth = 2;
              context.strokeRect(now.from * width + 1, now.depth * row + 1, Math.max(1, (now.to - now.from) * width - 2), row - 3);
              context.lineWidth = 1;
            }
            return { frames: frames.length, words: now ? words(now) : "" };
          }}
          wordsAt={(x, y) => { const frame = at(x, y, wide); return frame ? words(frame) : ""; }}
          onClick={(x, y) => choose(at(x, y, wide))}
          onKey={step}
        />
      )}
    </Pane>
  );
}
