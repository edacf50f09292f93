/**
 * The parts of a spreadsheet file, unpacked under limits before any library sees them.
 *   W1  No more is unpacked than the archive declares, and no more may be declared than the limit: a part that is longer is cut,
 *       which makes it no XML. What is stored and not packed counts by its own size: parts may lie over each other.
 *   W2  What the library then gets is stored, not packed, so that it unpacks nothing itself.
 *   W3  The area of all sheets is limited: a library makes every empty cell before the last one. Any part may be a sheet, and
 *       what cannot be measured exactly is refused.
 */
import { unzipSync, zipSync } from "fflate";
import { beyond, unreadable } from "./table.ts";

/** Parts of an archive; a workbook has a few for each sheet. */
const MAX_PARTS = 10_000;

/** Parts that the library does not read, and that name cells without being a sheet. */
const UNUSED = /calcChain\.xml$|(?:^|\/)(?:customXml|docProps)\//i;

/** A workbook that a library may read, and how many of its cells show an error. */
export function checkedWorkbook(
  data: Uint8Array,
  { maxUnpackedBytes, maxCells }: { readonly maxUnpackedBytes: number; readonly maxCells: number },
): { readonly archive: ArrayBuffer; readonly errorCount: number } {
  const parts = unpacked(data, maxUnpackedBytes);
  let area = 0;
  let errorCount = 0;
  for (const [name, part] of Object.entries(parts)) {
    if (/\.rels$/i.test(name)) continue;
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
      filter({ name, size, originalSize }) {
        if (!/\.(?:xml|rels)$/i.test(name) || UNUSED.test(name)) return false;
        bytes += Math.max(size, originalSize);
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

/** The tag of a row or of a cell, with its attributes; it reads each character once. */
const TAG =
  /<(?:[^\s<>/:]+:)?(row|c)(?![\w.:-])((?:\s+[\w:.-]+\s*=\s*(?:"[^"<]*"|'[^'<]*'))*)\s*\/?>/g;
const OPENING = /<(?:[^\s<>/:]+:)?(?:row|c)(?![\w.:-])/g;
const ATTRIBUTE = /([\w:.-]+)\s*=\s*(?:"([^"]*)"|'([^']*)')/g;

/** Rows times columns up to the last cell, and the cells that show an error. Throws `sheet_invalid` for a tag that is not plain. */
function areaOf(xml: string): { readonly area: number; readonly errors: number } {
  let rows = 0;
  let columns = 0;
  let cells = 0;
  let tags = 0;
  let errors = 0;
  for (const [, kind, written = ""] of xml.matchAll(TAG)) {
    tags += 1;
    const { place, isError } = cellOf(written);
    const [, letters = "", digits = ""] = /^([A-Za-z]*)(\d*)$/.exec(place) ?? notPlain();
    if (digits !== "") rows = Math.max(rows, Number(digits));
    else if (kind === "row") rows += 1;
    if (kind !== "c") continue;
    cells += 1;
    columns = Math.max(columns, columnOf(letters));
    if (isError) errors += 1;
  }
  let openings = 0;
  for (const _ of xml.matchAll(OPENING)) openings += 1;
  if (openings !== tags) notPlain();
  return { area: Math.max(cells, rows * Math.max(columns, 1)), errors };
}

function cellOf(written: string): { readonly place: string; readonly isError: boolean } {
  let place = "";
  let isError = false;
  for (const [, name, double, single] of written.matchAll(ATTRIBUTE)) {
    const value = double ?? single ?? "";
    if (name === "r" && place !== "") notPlain();
    if (name === "r") place = value;
    if (name === "t") isError = value === "e";
  }
  return { place, isError };
}

function notPlain(): never {
  throw unreadable("sheet_invalid", "a row or a cell of a sheet is not written as it must be");
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
