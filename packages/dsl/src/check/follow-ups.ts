/**
 * Findings that only follow from a syntax error: what they miss, or a part of it, stands in text that could not be read.
 *   F1  a text without errors loses nothing, and keeps every finding.
 *   F2  only what is missing is excused: a wrong value that could be read is reported beside any syntax error.
 */
import { countBefore } from "../data.ts";
import type { Finding } from "../diagnostics/bag.ts";
import type { Span } from "../syntax/ast.ts";
import type { SourceMap } from "./source-map.ts";

/** A name is not found, or nothing uses it: excused when the name stands in text that was not read. */
const BY_NAME = /2014|4001|4002|4004|4005|4006|4008|4009|4011|4015|4016|4017|5001|9001|9003/;

/** Something is incomplete: excused when there is an error inside it. */
const BY_PLACE = /3002|3005|3011|3014|3015|3017|9005/;

const NONE = (): boolean => false;
const WORD = /[A-Za-z_][\w-]*/g;

/** Whether a finding at a stretch of the text only follows from what was not read. */
export function followUps(map: SourceMap): (finding: Finding) => boolean {
  const { losses, source = "" } = map;
  if (losses === undefined) return NONE;
  const touchesBroken = overlaps([...losses.dropped, ...losses.errors]);
  let words: ReadonlySet<string> | undefined;
  const isUnread = (name: string): boolean => {
    words ??= wordsOf(losses.dropped, source);
    return words.has(name);
  };
  return (finding) => {
    const { code, pointer = "", parts = {} } = finding;
    if (BY_NAME.test(code)) {
      const id = /^.*\/nodes\/\d+/.exec(pointer)?.[0];
      const idSpan = id === undefined ? undefined : map.exact(`${id}/id`);
      const names = [
        ...Object.values(parts).map((part) => String(part ?? "")),
        lastWord(map.text(finding)),
      ];
      if (idSpan !== undefined) names.push(lastWord(map.text(idSpan)));
      return names.some(isUnread);
    }
    return BY_PLACE.test(code) && touchesBroken(finding);
  };
}

function wordsOf(dropped: readonly Span[], source: string): ReadonlySet<string> {
  const words = new Set<string>();
  for (const { start, end } of dropped) {
    for (const [word] of source.slice(start, Math.min(end, source.length)).matchAll(WORD)) {
      words.add(word);
    }
  }
  return words;
}

/** Whether a stretch has text in common with one of many, in the time of a search. */
function overlaps(stretches: readonly Span[]): (span: Span) => boolean {
  const sorted = [...stretches].sort((a, b) => a.start - b.start);
  let furthest = 0;
  const ends = sorted.map(({ end }) => {
    furthest = Math.max(furthest, end);
    return furthest;
  });
  return (span) => {
    const before = countBefore(sorted, ({ start }) => start < span.end);
    return before > 0 && (ends[before - 1] as number) > span.start;
  };
}

/** The name that a chain ends with, `n` of `inputs.n` or of `nodes["n"]`. */
function lastWord(text: string): string {
  return text.slice(-200).match(WORD)?.at(-1) ?? "";
}
