/** The code in a page of the guide: its fences, and the rows of its tables. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const ROOT = fileURLToPath(new URL("../../../", import.meta.url));

/** One fence: ```` ```flow hello.flow fault ```` has the language `flow` and the marks `["hello.flow", "fault"]`. */
export interface Fence {
  readonly line: number;
  readonly language: string;
  readonly marks: readonly string[];
  readonly text: string;
}

/** A page, by its path in the repository. */
export function readPage(path: string): string {
  return readFileSync(join(ROOT, path), "utf8");
}

/** The pages of the guide but for that of extensions, which is followed in a project of its own. */
export const GUIDE: readonly string[] = readdirSync(join(ROOT, "docs/guide"))
  .filter((name) => name !== "extensions.md")
  .map((name) => `docs/guide/${name}`);

/** Whether a fence is a script of the shell: no command of Millrace, and nothing that keeps running. */
export function isScript({ language, marks, text }: Fence): boolean {
  const isOther = ["running", "host"].includes(marks[0] ?? "") || text.startsWith("millrace ");
  return language === "sh" && !isOther;
}

/** Every fence of a page, in order. Throws for one that is not closed. */
export function fencesOf(page: string): Fence[] {
  const fences: Fence[] = [];
  let open: { line: number; info: string; lines: string[] } | undefined;
  for (const [index, line] of page.split("\n").entries()) {
    if (open === undefined) {
      if (line.startsWith("```")) open = { line: index + 1, info: line.slice(3), lines: [] };
    } else if (line !== "```") {
      open.lines.push(line);
    } else {
      const [language = "", ...marks] = open.info.split(" ");
      const text = open.lines.map((each) => `${each}\n`).join("");
      fences.push({ line: open.line, language, marks, text });
      open = undefined;
    }
  }
  if (open !== undefined) throw new Error(`the fence of line ${open.line} is not closed`);
  return fences;
}

/** A table: the cells of its header, and of each row. */
export interface Table {
  readonly header: readonly string[];
  readonly rows: readonly (readonly string[])[];
}

/** Every table of a page, in order; `\|` in a cell is the character itself. */
export function tablesOf(page: string): Table[] {
  const blocks = page.replace(/^```[\s\S]*?^```$/gm, "").match(/(?:^\|.*\|\n)+/gm) ?? [];
  return blocks.map((block) => {
    const [header = [], , ...rows] = block.trimEnd().split("\n").map(cellsOf);
    return { header, rows };
  });
}

function cellsOf(line: string): string[] {
  const cells = line.slice(1, -1).split(/(?<!\\)\|/);
  return cells.map((cell) => cell.trim().replaceAll("\\|", "|"));
}

export function codeIn(cell: string | undefined): string[] {
  return [...(cell ?? "").matchAll(/`([^`]*)`/g)].map(([, code = ""]) => code);
}
