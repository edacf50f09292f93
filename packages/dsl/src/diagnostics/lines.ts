/** Lines and columns from offsets. A line ends at LF, CRLF or CR. */
import type { Position, Range } from "@millrace/contracts";

/** A function that turns offsets of `source` into ranges; the line starts are found once, at the first call. */
export function lineIndex(source: string): (start: number, end: number) => Range {
  let starts: Uint32Array | undefined;
  const position = (offset: number): Position => {
    starts ??= lineStarts(source);
    let low = 0;
    let high = starts.length - 1;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if ((starts[middle] as number) <= offset) low = middle;
      else high = middle - 1;
    }
    return { line: low + 1, column: offset - (starts[low] as number) + 1, offset };
  };
  return (start, end) => ({ start: position(start), end: position(end) });
}

/** Offsets where lines start; counted first, because a list that grows would take twice the memory. */
function lineStarts(source: string): Uint32Array {
  let count = 1;
  for (let at = lineEnd(source, 0); at !== -1; at = lineEnd(source, at)) count += 1;
  const starts = new Uint32Array(count);
  let line = 1;
  for (let at = lineEnd(source, 0); at !== -1; at = lineEnd(source, at)) {
    starts[line] = at;
    line += 1;
  }
  return starts;
}

/** The offset behind the next line end, -1 when there is none. */
function lineEnd(source: string, from: number): number {
  for (let at = from; at < source.length; at += 1) {
    const code = source.charCodeAt(at);
    if (code === 10 || (code === 13 && source.charCodeAt(at + 1) !== 10)) return at + 1;
  }
  return -1;
}
