/**
 * The parts of a spreadsheet file, unpacked under limits before any library sees them.
 *   W1  No more is unpacked than the archive declares, and no more may be declared than the limit: a part that is longer is cut,
 *       which makes it no XML.
 *   W2  What the library then gets is stored, not packed, so that it unpacks nothing itself.
 *   W3  The area of all sheets is limited: a library makes every empty cell before the last one.
 */
import { unzipSync, zipSync } from "fflate";
import { beyond, unreadable } from "./table.ts";

/** Parts of an archive; a workbook has a few for each sheet. */
const MAX_PARTS = 10_000;

/** A workbook that a library may read, and how many of its cells show an error. */
export function checkedWorkbook(
  data: Uint8Array,
  { maxUnpackedBytes, maxCells }: { readonly maxUnpackedBytes: number; readonly maxCells: number },
): { readonly archive: ArrayBuffer; readonly errorCount: number } {
  const parts = unpacked(data, maxUnpackedBytes);
  let area = 0;
  let errorCount = 0;
  for (const [name, part] of Object.entries(parts)) {
    if (!/\/sheet[^/]*\.xml$/i.test(name) && !/worksheets\//i.test(name)) continue;
    const found = areaOf(new TextDecoder().decode(part));
    area += found.area;
    errorCount += found.errors;
    if (area > maxCells) {
      throw beyond("maxCells", `the sheets span more than ${maxCells} cells, with the empty ones`);
    }
  }
  const stored = zipSync(parts, { level: 0 });
  return { archive: stored.buffer as ArrayBuffer, errorCount };
}

function unpacked(data: Uint8Array, most: number): { [name: string]: Uint8Array } {
  let bytes = 0;
  let count = 0;
  try {
    return unzipSync(data, {
      filter({ name, originalSize }) {
        if (!/\.(?:xml|rels)$/i.test(name)) return false;
        bytes += originalSize;
        count += 1;
        if (bytes > most) throw beyond("maxUnpackedBytes", `it unpacks to more than ${most} bytes`);
        if (count > MAX_PARTS) throw beyond("parts", `it has more than ${MAX_PARTS} parts`);
        return true;
      },
    });
  } catch (error) {
    if ((error as { code?: unknown }).code === "limit_exceeded") throw error;
    throw unreadable("sheet_invalid", "the file is no spreadsheet of the kind xlsx");
  }
}

/** Rows times columns up to the last cell, and the cells that show an error. */
function areaOf(xml: string): { readonly area: number; readonly errors: number } {
  let rows = 0;
  let columns = 0;
  let cells = 0;
  let errors = 0;
  for (const [tag, kind] of xml.matchAll(/<(?:[\w.-]+:)?(row|c)\b[^>]*>/g)) {
    const [, letters = "", digits = ""] = /\br\s*=\s*["']([A-Za-z]*)(\d*)["']/.exec(tag) ?? [];
    if (digits !== "") rows = Math.max(rows, Number(digits));
    else if (kind === "row") rows += 1;
    if (kind !== "c") continue;
    cells += 1;
    columns = Math.max(columns, columnOf(letters));
    if (/\bt\s*=\s*["']e["']/.test(tag)) errors += 1;
  }
  return { area: Math.max(cells, rows * Math.max(columns, 1)), errors };
}

/** `A` is 1, `XFD` 16,384. */
function columnOf(letters: string): number {
  let column = 0;
  for (const letter of letters.toUpperCase()) column = column * 26 + letter.charCodeAt(0) - 64;
  return column;
}

/** The letters of a column: 1 is `A`. */
export function lettersOf(column: number): string {
  const before = Math.floor((column - 1) / 26);
  return (before > 0 ? lettersOf(before) : "") + String.fromCharCode(65 + ((column - 1) % 26));
}
