// Colours of pictures: those of the style sheet, which depend on the theme.

export interface Palette {
  text: string; dim: string; back: string; line: string; faint: string; accent: string; focus: string;
  /** The colour of a class of time. */
  of: (name: string) => string;
  /** The same as red, green and blue. */
  rgb: (name: string) => [number, number, number];
}

let known: { key: string; palette: Palette } | null = null;

/** The colours of the theme that is shown. */
export function palette(): Palette {
  const root = document.documentElement;
  const key = `${root.dataset["theme"] ?? ""}${matchMedia("(prefers-color-scheme: dark)").matches}`;
  if (known?.key === key) return known.palette;
  const style = getComputedStyle(root);
  const value = (name: string) => style.getPropertyValue(`--${name}`).trim() || "#888888";
  const made: Palette = {
    text: value("text"), dim: value("dim"), back: value("back"), line: value("line"), faint: value("faint"),
    accent: value("accent"), focus: value("focus"),
    of: (name) => value(`c-${name}`),
    rgb: (name) => rgb(value(`c-${name}`)),
  };
  known = { key, palette: made };
  return made;
}

export function rgb(colour: string): [number, number, number] {
  const number = Number.parseInt(colour.slice(1), 16);
  return [(number >> 16) & 255, (number >> 8) & 255, number & 255];
}

/** Stops of the colour scale cividis, from little to much. */
const CIVIDIS: [number, number, number][] = [
  [0, 34, 78], [18, 53, 112], [59, 73, 108], [87, 93, 109], [112, 113, 115], [138, 134, 120], [165, 156, 116],
  [195, 179, 105], [225, 204, 85], [254, 232, 56],
];

/** The colour of a share from 0 to 1: dark for little, light for much. */
export function cividis(share: number): [number, number, number] {
  const at = Math.max(0, Math.min(1, share)) * (CIVIDIS.length - 1);
  const [low, part] = [Math.floor(at), at % 1];
  const [one, other] = [CIVIDIS[low]!, CIVIDIS[Math.min(low + 1, CIVIDIS.length - 1)]!];
  return [0, 1, 2].map((band) => Math.round(one[band]! + part * (other[band]! - one[band]!))) as [number, number, number];
}

export function css([red, green, blue]: [number, number, number]): string {
  return `rgb(${red},${green},${blue})`;
}

/** Letters that can be read on a fill. */
export function letters([red, green, blue]: [number, number, number]): string {
  return 0.299 * red + 0.587 * green + 0.114 * blue > 140 ? "#000000" : "#ffffff";
}
