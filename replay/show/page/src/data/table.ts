// Tables of the details' format (formats/details/FORMAT.md): columns of typed arrays.

export type Numbers = Uint8Array | Uint16Array | Uint32Array | Float64Array;

/** A table: columns of numbers, and columns of bytes. 64-bit integers are doubles, which are exact up to 2^53. */
export interface Table {
  rows: number;
  numbers: Map<string, Numbers>;
  bytes: Map<string, Uint8Array[]>;
}

interface Header {
  rows: number;
  columns: { name: string; type: string; codec: string; blocks: [number, number, number][] }[];
}

/** What is decompressed by the browser. */
export async function inflate(bytes: Uint8Array): Promise<Uint8Array> {
  const stream = new Blob([bytes as BlobPart]).stream().pipeThrough(new DecompressionStream("deflate"));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

/** The bytes of a base64 text. */
export function fromBase64(text: string): Uint8Array {
  const native = (Uint8Array as unknown as { fromBase64?: (text: string) => Uint8Array }).fromBase64;
  if (native) return native.call(Uint8Array, text);
  const letters = atob(text);
  const bytes = new Uint8Array(letters.length);
  for (let at = 0; at < letters.length; at++) bytes[at] = letters.charCodeAt(at);
  return bytes;
}

/** Reads a table. */
export async function readTable(bytes: Uint8Array): Promise<Table> {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const length = view.getUint32(8, true);
  const header = JSON.parse(new TextDecoder().decode(bytes.subarray(12, 12 + length))) as Header;
  const table: Table = { rows: header.rows, numbers: new Map(), bytes: new Map() };
  for (const column of header.columns) {
    const blocks: [Uint8Array, number][] = [];
    for (const [offset, size, rows] of column.blocks) {
      const packed = bytes.subarray(12 + length + offset, 12 + length + offset + size);
      blocks.push([column.codec === "raw" ? packed : await inflate(packed), rows]);
    }
    if (column.type === "bytes") table.bytes.set(column.name, blocks.flatMap(([plain, rows]) => strings(plain, rows)));
    else table.numbers.set(column.name, numbers(column.type, blocks, header.rows, column.codec === "delta+zlib"));
  }
  return table;
}

function strings(plain: Uint8Array, rows: number): Uint8Array[] {
  const view = new DataView(plain.buffer, plain.byteOffset, plain.byteLength);
  const all: Uint8Array[] = [];
  let at = 4 * rows;
  for (let row = 0; row < rows; row++) {
    const length = view.getUint32(4 * row, true);
    all.push(plain.subarray(at, at + length));
    at += length;
  }
  return all;
}

function numbers(type: string, blocks: [Uint8Array, number][], rows: number, isDelta: boolean): Numbers {
  const all: Numbers =
    type === "u8" ? new Uint8Array(rows) : type === "u16" ? new Uint16Array(rows) : type === "u32" ? new Uint32Array(rows)
    : new Float64Array(rows);
  let row = 0;
  for (const [plain, count] of blocks) {
    const view = new DataView(plain.buffer, plain.byteOffset, plain.byteLength);
    let before = 0;
    for (let at = 0; at < count; at++, row++) {
      let value = read(view, type, at, isDelta);
      if (isDelta) {
        value += before;
        // Differences wrap around; typed arrays do that for the narrow types.
        before = type === "u32" ? value >>> 0 : type === "u16" ? value & 0xffff : type === "u8" ? value & 0xff : value;
        value = before;
      }
      all[row] = value;
    }
  }
  return all;
}

function read(view: DataView, type: string, at: number, isSigned: boolean): number {
  switch (type) {
    case "u8": return view.getUint8(at);
    case "u16": return view.getUint16(2 * at, true);
    case "u32": return view.getUint32(4 * at, true);
    case "f64": return view.getFloat64(8 * at, true);
    default: {
      const low = view.getUint32(8 * at, true);
      const high = type === "i64" || isSigned ? view.getInt32(8 * at + 4, true) : view.getUint32(8 * at + 4, true);
      return high * 4294967296 + low;
    }
  }
}

/** The number that stands for none. */
export const NONE = 4294967295;

/** A column of numbers; empty if the table does not have it. */
export function column(table: Table | null, name: string): Numbers {
  return table?.numbers.get(name) ?? new Float64Array(0);
}
