/** What an editor is told is what the command line says: the same findings as `validate`, the same text as `fmt`. */
import { cpSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { pathToFileURL } from "node:url";
import type { Diagnostic } from "@millrace/contracts";
import { applyEdits } from "@millrace/dsl/editor";
import { notFull, testUnless } from "@millrace/test-support";
import { expect } from "vitest";
import { jsonLines, ROOT, scratch, start } from "./cli.ts";
import { converse, opened, START } from "./lsp-client.ts";

/** Every flow of the repository that is written by hand, with what lies beside it; and each once more, spoilt. */
function corpus(): { cwd: string; files: readonly string[] } {
  const cwd = scratch();
  cpSync(join(ROOT, "packages/dsl/test/fixtures/flows"), join(cwd, "fixtures"), {
    recursive: true,
  });
  cpSync(join(ROOT, "examples"), join(cwd, "examples"), {
    recursive: true,
    filter: (file) => basename(file) !== "node_modules",
  });
  const originals = flowsIn(cwd);
  for (const file of originals) {
    const text = readFileSync(join(cwd, file), "utf8");
    const spoilt = {
      blanks: text.replaceAll("  ", "     ").replace(/\n\n/, "\n\n\n\n"),
      types: text.replaceAll(/: (\w)(\w)/g, ": $2$1"),
      names: text.replaceAll(/^( *[a-z]\w+) = /gm, "$1x = "),
      half: text.slice(0, text.length >> 1),
    };
    for (const [how, other] of Object.entries(spoilt)) {
      writeFileSync(join(cwd, file.replace(/\.flow$/, `-${how}.flow`)), other);
    }
  }
  return { cwd, files: flowsIn(cwd) };
}

function flowsIn(folder: string): readonly string[] {
  const names = readdirSync(folder, { recursive: true, encoding: "utf8" });
  return names.filter((name) => name.endsWith(".flow")).sort();
}

/** Above the ids that the client uses itself. */
const FIRST_ID = 1000;

interface Place {
  readonly line: number;
  readonly character: number;
}

/** An edit as the protocol has it. */
interface PlacedEdit {
  readonly range: { readonly start: Place; readonly end: Place };
  readonly newText: string;
}

/** A text with the edits of the server made. */
function edited(text: string, edits: readonly PlacedEdit[]): string {
  const starts = [0, ...[...text.matchAll(/\n/g)].map(({ index }) => index + 1)];
  const offset = ({ line, character }: Place): number => (starts[line] ?? text.length) + character;
  const made = edits.map(({ range, newText }) => ({
    from: offset(range.start),
    to: offset(range.end),
    text: newText,
  }));
  return applyEdits(text, made);
}

testUnless(notFull)(
  "diagnostics are those of `validate`, and formatting is that of `fmt`",
  async () => {
    const { cwd, files } = corpus();
    expect(files.length).toBeGreaterThan(150);
    const texts = files.map((file) => readFileSync(join(cwd, file), "utf8"));
    const uris = files.map((file) => pathToFileURL(join(cwd, file)).href);
    const validated = await start(["validate", "--json", ...files], { cwd }).ended;
    const { answers, code } = await converse(
      cwd,
      [
        ...START,
        ...files.map((file, index) => opened(join(cwd, file), texts[index] as string)),
        ...uris.map((uri, index) => ({
          id: FIRST_ID + index,
          method: "textDocument/formatting",
          params: { textDocument: { uri }, options: {} },
        })),
      ],
      files.length,
    );
    expect(code).toBe(0);
    type Report = { file?: string; diagnostics: Diagnostic[] };
    const reports = jsonLines<Report>(validated.stdout).filter(({ file }) => file !== undefined);
    expect(reports.map(({ file }) => file)).toEqual(files);
    for (const [index, { file = "", diagnostics }] of reports.entries()) {
      const published = answers.findLast(({ params }) => params?.uri === uris[index])?.params;
      const found = published?.diagnostics.map(({ code, range, message }) => ({
        code,
        line: range.start.line + 1,
        column: range.start.character + 1,
        message,
      }));
      const expected = diagnostics.map(({ code, range, message, hint }) => ({
        code,
        line: range?.start.line ?? 1,
        column: range?.start.column ?? 1,
        message: hint === undefined ? message : `${message}; ${hint}`,
      }));
      expect({ file, found }).toEqual({ file, found: expected });
    }
    await start(["fmt", ...files], { cwd }).ended;
    for (const [index, file] of files.entries()) {
      const edits = answers.find(({ id }) => id === FIRST_ID + index)?.result as PlacedEdit[];
      expect(edited(texts[index] as string, edits), file).toBe(
        readFileSync(join(cwd, file), "utf8"),
      );
    }
  },
);
