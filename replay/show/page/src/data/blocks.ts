// Blocks of data: in the page, or files beside it.

import { fromBase64 } from "./table.js";

const inPage = (name: string) => document.getElementById(`d-${name}`)?.textContent ?? null;

/** Files beside the page; none if it has its data itself. */
const files: string[] = JSON.parse(inPage("files") ?? "[]") as string[];

/** Whether there is a block. */
export function hasBlock(name: string): boolean {
  return inPage(name) !== null || files.includes(`${name}.json`) || files.includes(`${name}.bin`);
}

async function fetched(file: string): Promise<Response | null> {
  return files.includes(file) ? fetch(file) : null;
}

/** A block of JSON. */
export async function jsonOf<T>(name: string): Promise<T | null> {
  const text = inPage(name);
  if (text !== null) return JSON.parse(text) as T;
  const response = await fetched(`${name}.json`);
  return response && ((await response.json()) as T);
}

/** A block of bytes. */
export async function bytesOf(name: string): Promise<Uint8Array | null> {
  const text = inPage(name);
  if (text !== null) return fromBase64(text.trim());
  const response = await fetched(`${name}.bin`);
  return response && new Uint8Array(await response.arrayBuffer());
}
