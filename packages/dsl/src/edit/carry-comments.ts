/** Which comments stay, and where, when some of the things around them go or move. */

import { append } from "../data.ts";
import { type Comment, NO_COMMENTS, NO_NOTES, type Notes } from "../syntax/notes.ts";

/**
 * Comments of things of which some go. One that goes takes its comments along, but a paragraph of comments that an empty
 * line parts from it stays, in front of the next that is kept or at the foot. `inserted`: by its index, the key of something
 * new before which they stay too; `headed` has its notes.
 */
export function carryComments(
  things: readonly { readonly notes: Notes; readonly isKept: boolean }[],
  foot: readonly Comment[],
  inserted: ReadonlyMap<number, string> = new Map(),
): { leads: Notes[]; headed: ReadonlyMap<string, Notes>; foot: readonly Comment[] } {
  const headed = new Map<string, Notes>();
  let carried: Comment[] = [];
  let gap = false;
  const insert = (index: number): void => {
    const key = carried.length > 0 ? inserted.get(index) : undefined;
    if (key === undefined) return;
    headed.set(key, withCarried(NO_NOTES, carried, gap));
    carried = [];
    gap = false;
  };
  const leads = things.map(({ notes, isKept }, index) => {
    insert(index);
    if (isKept) {
      const moved = carried.length === 0 && !gap ? notes : withCarried(notes, carried, gap);
      carried = [];
      gap = false;
      return moved;
    }
    gap ||= notes.lead[0]?.blank ?? notes.blank;
    const [first, ...others] = partedComments(notes);
    if (first) {
      carried.push(gap ? { ...first, blank: true } : first);
      append(carried, others);
      gap = true;
    }
    return notes;
  });
  insert(things.length);
  if (carried.length === 0) return { leads, headed, foot };
  return { leads, headed, foot: [...parted(carried), ...parted(foot)] };
}

/** Comments with an empty line before the first. */
function parted(comments: readonly Comment[]): readonly Comment[] {
  return comments.map((comment, index) => (index === 0 ? { ...comment, blank: true } : comment));
}

/**
 * Comments at the head of some things, parted from the one that stood first there, stay at the head when another comes first.
 * Undefined: there are none.
 */
export function movedHead(
  wasFirst: Notes,
  first: Notes,
): { readonly wasFirst: Notes; readonly first: Notes } | undefined {
  const head = partedComments(wasFirst);
  if (head.length === 0) return undefined;
  const { blank, trailingComment } = wasFirst;
  return {
    wasFirst: { lead: wasFirst.lead.slice(head.length), blank, trailingComment },
    first: withCarried(first, head, true),
  };
}

function withCarried(notes: Notes, carried: readonly Comment[], gap: boolean): Notes {
  const [first, ...others] = notes.lead;
  const lead = first ? [{ ...first, blank: first.blank || gap }, ...others] : NO_COMMENTS;
  return {
    lead: [...carried, ...lead],
    blank: first ? notes.blank : notes.blank || gap,
    trailingComment: notes.trailingComment,
  };
}

/** The comments before the last empty line above an item. */
function partedComments(notes: Notes): readonly Comment[] {
  if (notes.blank) return notes.lead;
  let last = notes.lead.length - 1;
  while (last > 0 && !notes.lead[last]?.blank) last -= 1;
  return last > 0 ? notes.lead.slice(0, last) : [];
}
