/** Edits of lines that turn a foreign form into a flow: remove, replace, and open blocks. */

import type { Span } from "../../syntax/ast.ts";
import { innerLines, type Line } from "./lines.ts";

/** A text in which a form is searched. */
export interface FormText {
  readonly lines: readonly Line[];
  /** Ids of the nodes that are written. */
  readonly ids: ReadonlySet<string>;
  /** Ids of nodes that forms write in the same round. */
  readonly fresh: Set<string>;
  /** Whether a name is that of a type of nodes, also in the words of another tool. */
  isType(name: string): boolean;
  /** Whether a name is that of a type of nodes here. */
  isExact(name: string): boolean;
  /** The words that a field of the node around a line may be. */
  choices(line: Line, field: string): readonly unknown[];
}

/** How another language writes something. */
export interface Form {
  /** First words of the blocks in which it stands; absent: any. */
  readonly in?: string;
  readonly pattern: RegExp;
  /** How it is written here, for the hint. */
  readonly says: string;
  /** It is meant even where the error has a fix of its own. */
  readonly wins?: true;
  /** The line as it should be, or edits; undefined: it is something else after all. */
  rewrite(match: RegExpExecArray, line: Line, text: FormText): string | readonly Edit[] | undefined;
}

export type Edit = Span & { readonly text: string };

/** The id of an item, in quotes or not. */
export const ID: string = '"?([A-Za-z_][\\w-]*)"?';

/** Takes the line away; a comment on it stays. */
export const remove = ({ start, end, comment }: Line): Edit =>
  comment === undefined ? { start, end: end + 1, text: "" } : { start, end: comment, text: "" };
/** Writes another text in the place of what the line says. */
export const replace = ({ from, to }: Line, text: string): Edit => ({ start: from, end: to, text });
/** Writes a text in front of the line. */
export const before = ({ start }: Line, text: string): Edit => ({ start, end: start, text });

/** A block's line and closer go, and each line in it begins with `prefix`; `clean`: lists have no commas and quotes. */
export function unwrapped(
  line: Line,
  { lines }: FormText,
  prefix: string,
  clean = false,
): readonly Edit[] | undefined {
  if (line.closer === undefined || !/^[}\]],?$/.test(line.closer.text)) return undefined;
  const inner = innerLines(lines, line);
  const edits = inner.flatMap((each): Edit[] => {
    if (/^[}\]]/.test(each.text)) return [];
    const text = clean ? each.text.replace(/^["']|["']?,?$/g, "") : each.text;
    return [replace(each, prefix + text)];
  });
  return [remove(line), ...edits, remove(line.closer)];
}

/** The members of a block by name, with their lines; a value of several lines has none. */
export function membersOf(
  line: Line,
  { lines }: FormText,
): Map<string, { value: string; line: Line }> {
  const found = new Map<string, { value: string; line: Line }>();
  for (const each of innerLines(lines, line)) {
    const [, name = "", value = ""] = /^([\w-]+)\s*[:=]\s*(.+?),?$/.exec(each.text) ?? [];
    if (name !== "" && each.closer === undefined && !value.startsWith('"""'))
      found.set(name, { value, line: each });
  }
  return found;
}

const IN_OR_OUT = new RegExp(`^(in|out)put\\s+${ID}\\s*(?::\\s*([\\w[\\]?]+))?\\s*\\{$`);

/** The head of an input or output whose type and value are members of its block. */
export function headOf(line: Line, text: FormText): readonly Edit[] | undefined {
  const [found, way, id, head] = IN_OR_OUT.exec(line.text) ?? [];
  const members = membersOf(line, text);
  const type = members.get("type");
  const value = members.get(way === "in" ? "default" : "value");
  if (found === undefined || (type === undefined && value === undefined)) return undefined;
  const named = head ?? (type && unquoted(type.value));
  const written = `${way}put ${id}${named ? `: ${named}` : ""}${value ? ` = ${value.value}` : ""} {`;
  const gone = [type, value].filter((each) => each !== undefined);
  return [replace(line, written), ...gone.map((each) => remove(each.line))];
}

/** A text without the quotes around it. */
export const unquoted = (text: string): string => text.replace(/^["'](.*)["']$/, "$1");
