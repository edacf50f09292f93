/** Lines and columns from offsets. A line ends at LF, CRLF or CR. */
import type { Position, Range } from "@millrace/contracts";

/** A function that turns offsets of `source` into ranges; the line starts are found once, at the first call. */
export function lineIndex(source: string): (start: number, end: number) => Range {
  let starts: number[] | undefined;
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

function lineStarts(source: string): number[] {
  const starts = [0];
  const loneCr = /\r(?!\n)/.test(source);
  if (loneCr) {
    for (const match of source.matchAll(/\r\n|\r|\n/g)) starts.push(match.index + match[0].length);
    return starts;
  }
  for (let at = source.indexOf("\n"); at !== -1; at = source.indexOf("\n", at + 1))
    starts.push(at + 1);
  return starts;
}
