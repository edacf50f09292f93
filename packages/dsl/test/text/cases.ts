/** Tables of texts with one thing wrong in them: what is said of it, and the text once its fix is applied. */
import { parseFlow } from "@millrace/dsl";
import { expect, test } from "vitest";
import { fixed, type Row, rowsOf } from "./report.ts";

export interface Case {
  readonly text: string;
  /** The only diagnostic of the text. */
  readonly says: Row;
  /** The text after the fix, which then has no diagnostic of that code. */
  readonly fixed?: string;
}

/** A text below its header. */
export function flow(text: string): string {
  return `flow 1 x\n\n${text}`;
}

/** A node with one field of this value. */
export function node(value: string): string {
  return flow(`node a: t {\n  v = ${value}\n}\n`);
}

/** The two tests of a case. */
export function sayAndMend(row: Case): void {
  test("is all that is said", () => {
    expect(rowsOf(row.text)).toEqual([row.says]);
  });

  test("is gone after its fix, if it has one", () => {
    const { code, fix } = row.says;
    expect(fix === undefined).toBe(row.fixed === undefined);
    if (row.fixed === undefined) return;
    expect(fixed(row.text, code)).toBe(row.fixed);
    expect(parseFlow(row.fixed).diagnostics.map((found) => found.code)).not.toContain(code);
  });
}
