// Pictures on a canvas: regions with a name, keys, and words for what the pointer or the keys are at.

import type { ComponentChildren } from "preact";
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";

import { usePage } from "../state/context.js";

export interface Brush { context: CanvasRenderingContext2D; width: number; height: number; font: number }

interface Props {
  name: string;
  height: number;
  /** Draws, and returns what is told of the drawing: data attributes of the canvas. */
  draw: (brush: Brush) => Record<string, string | number> | void;
  /** Whether keys that nobody else takes are for this picture, wherever the focus is. */
  isMain?: boolean;
  /** A key; returns whether it did anything. */
  onKey?: (key: string, event: KeyboardEvent) => boolean;
  /** What is at a place, in words; empty for nothing. */
  wordsAt?: (x: number, y: number) => string;
  /** A click, with modifiers. */
  onClick?: (x: number, y: number, event: PointerEvent) => void;
  /** A stretch that was dragged over, from and to. */
  onDrag?: (from: [number, number], to: [number, number], isDone: boolean) => void;
  onDouble?: () => void;
  onWheel?: (x: number, delta: number) => void;
  children?: ComponentChildren;
}

/** What takes letters itself. */
const TAKES = "input:not([type=checkbox]), select, textarea";

/** Pixels from which on a press is a drag. */
const DRAG = 4;

export function Picture(props: Props) {
  const { say } = usePage();
  const canvas = useRef<HTMLCanvasElement>(null);
  const press = useRef<[number, number] | null>(null);
  const [width, setWidth] = useState(0);
  const [words, setWords] = useState("");
  useLayoutEffect(() => {
    const element = canvas.current!.parentElement!;
    const measure = () => setWidth(Math.max(50, Math.floor(element.clientWidth)));
    measure();
    const observer = new ResizeObserver(measure);
    observer.observe(element);
    return () => observer.disconnect();
  }, []);
  useLayoutEffect(() => {
    const element = canvas.current!;
    const context = element.getContext("2d");
    if (!context || width === 0) return;
    const scale = window.devicePixelRatio || 1;
    const [wide, high] = [Math.round(width * scale), Math.round(props.height * scale)];
    if (element.width !== wide || element.height !== high) [element.width, element.height] = [wide, high];
    context.setTransform(scale, 0, 0, scale, 0, 0);
    context.clearRect(0, 0, width, props.height);
    const font = Number.parseFloat(getComputedStyle(element).fontSize) || 16;
    context.font = `${Math.round(0.78 * font)}px system-ui, sans-serif`;
    const told = props.draw({ context, width, height: props.height, font });
    for (const [key, value] of Object.entries(told ?? {})) element.dataset[key] = String(value);
  });
  useEffect(() => {
    const element = canvas.current!;
    const wheel = (event: WheelEvent) => {
      if (!event.ctrlKey || !props.onWheel) return;
      event.preventDefault();
      props.onWheel(event.offsetX, event.deltaY);
    };
    element.addEventListener("wheel", wheel, { passive: false });
    return () => element.removeEventListener("wheel", wheel);
  });
  const key = (event: KeyboardEvent): boolean => {
    if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey || !props.onKey?.(event.key, event)) return false;
    event.preventDefault();
    event.stopPropagation();
    // Once it is drawn again.
    setTimeout(() => {
      const told = canvas.current?.dataset["words"];
      if (!told) return;
      setWords(told);
      say(told);
    }, 50);
    return true;
  };
  useEffect(() => {
    if (!props.isMain) return undefined;
    // Letters only: other keys belong to what has the focus.
    const onKey = (event: KeyboardEvent) => {
      const target = event.target as HTMLElement;
      if (event.key.length > 1 || event.key === " " || target.matches?.(TAKES) || target.closest?.("dialog")) return;
      key(event);
    };
    document.addEventListener("keydown", onKey);
    return () => document.removeEventListener("keydown", onKey);
  });
  const at = (event: PointerEvent): [number, number] => [event.offsetX, event.offsetY];
  return (
    <div class="picture">
      <canvas
        ref={canvas} tabIndex={0} role="application" aria-label={props.name} style={{ height: `${props.height}px` }}
        onPointerDown={(event) => {
          press.current = at(event);
          if (props.onDrag) (event.target as Element).setPointerCapture(event.pointerId);
        }}
        onPointerMove={(event) => {
          setWords(props.wordsAt?.(...at(event)) ?? "");
          const from = press.current;
          if (from && props.onDrag && Math.abs(event.offsetX - from[0]) > DRAG) props.onDrag(from, at(event), false);
        }}
        onPointerUp={(event) => {
          const from = press.current;
          press.current = null;
          if (!from) return;
          const to = at(event);
          if (props.onDrag && Math.abs(to[0] - from[0]) > DRAG) props.onDrag(from, to, true);
          else props.onClick?.(...to, event);
        }}
        onPointerLeave={() => setWords("")}
        onDblClick={() => props.onDouble?.()}
        onKeyDown={(event) => { key(event); }}
      />
      <p class="words" aria-hidden="true">{words || "\u00a0"}</p>
      {props.children}
    </div>
  );
}
