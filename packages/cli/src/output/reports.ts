/** Findings in the forms that other programs read: annotations of GitHub Actions, and SARIF 2.1.0. */

import { isAbsolute, relative, resolve, sep } from "node:path";
import { pathToFileURL } from "node:url";
import type { Diagnostic, Fix, Range } from "@millrace/contracts";
import { DIAGNOSTICS, EXPLANATIONS } from "@millrace/dsl/explain";
import { ownVersion } from "../self.ts";

export interface Checked {
  /** As the person named it. */
  readonly name: string;
  readonly diagnostics: readonly Diagnostic[];
}

/** Workflow commands of GitHub Actions, one line a finding; "" where nothing was found. `cwd`: what paths are relative to. */
export function githubCommands(flows: readonly Checked[], cwd: string): string {
  return flows
    .flatMap(({ name, diagnostics }) => {
      const file = pathFrom(cwd, name);
      return diagnostics.map((each) => githubCommand(each, file));
    })
    .join("");
}

const GITHUB_LEVEL = { error: "error", warning: "warning", info: "notice" } as const;

function githubCommand(finding: Diagnostic, file: string): string {
  const { code, severity, range } = finding;
  const place = range && {
    line: range.start.line,
    col: range.start.column,
    endLine: range.end.line,
    endColumn: range.end.column,
  };
  const properties = Object.entries({ file, ...place, title: code })
    .map(([name, value]) => `${name}=${escapeProperty(String(value))}`)
    .join(",");
  return `::${GITHUB_LEVEL[severity]} ${properties}::${escapeData(said(finding))}\n`;
}

/** Escapes text that would end a workflow command, or begin another one, as the toolkit of GitHub Actions does. */
function escapeData(text: string): string {
  return text.replaceAll("%", "%25").replaceAll("\r", "%0D").replaceAll("\n", "%0A");
}

function escapeProperty(text: string): string {
  return escapeData(text).replaceAll(":", "%3A").replaceAll(",", "%2C");
}

const SARIF_LEVEL = { error: "error", warning: "warning", info: "note" } as const;

/** One SARIF 2.1.0 document, with a rule for each code that was found. `cwd`: what paths are relative to. */
export function sarifDocument(flows: readonly Checked[], cwd: string): string {
  const found = flows.flatMap(({ diagnostics }) => diagnostics.map(({ code }) => code));
  const codes = [...new Set(found)].sort();
  const log = {
    $schema:
      "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json",
    version: "2.1.0",
    runs: [
      {
        tool: { driver: { name: "millrace", version: ownVersion(), rules: codes.map(ruleOf) } },
        columnKind: "utf16CodeUnits",
        results: flows.flatMap(({ name, diagnostics }) => {
          const uri = uriOf(pathFrom(cwd, name));
          return diagnostics.map((each) => resultOf(each, uri, codes.indexOf(each.code)));
        }),
      },
    ],
  };
  return `${JSON.stringify(log, null, 2)}\n`;
}

/** A rule; of a code that the language does not know, as a server may send it, its name alone. */
function ruleOf(code: string): object {
  if (!isKnown(code)) return { id: code };
  const { message, severity } = DIAGNOSTICS[code];
  const { why, wrong, right } = EXPLANATIONS[code];
  return {
    id: code,
    shortDescription: { text: message },
    help: { text: `${why}\n\nWrong:\n\n${wrong}\n\nRight:\n\n${right}` },
    defaultConfiguration: { level: SARIF_LEVEL[severity] },
  };
}

function isKnown(code: string): code is keyof typeof DIAGNOSTICS {
  return Object.hasOwn(DIAGNOSTICS, code);
}

function resultOf(finding: Diagnostic, uri: string, ruleIndex: number): object {
  const { code, severity, pointer, range, related = [], fixes = [] } = finding;
  return {
    ruleId: code,
    ruleIndex,
    level: SARIF_LEVEL[severity],
    message: { text: said(finding) },
    locations: [
      {
        ...locationOf(uri, range),
        ...(pointer !== undefined && { logicalLocations: [{ fullyQualifiedName: pointer }] }),
      },
    ],
    ...(related.length > 0 && {
      relatedLocations: related.map((each, id) => ({
        id,
        ...locationOf(uri, each.range),
        message: { text: each.message },
      })),
    }),
    ...(fixes.length > 0 && { fixes: fixes.map((each) => fixOf(each, uri)) }),
  };
}

function locationOf(uri: string, range: Range | undefined): object {
  const region = range && { region: regionOf(range) };
  return { physicalLocation: { artifactLocation: { uri }, ...region } };
}

function regionOf({ start, end }: Range): object {
  return {
    startLine: start.line,
    startColumn: start.column,
    endLine: end.line,
    endColumn: end.column,
  };
}

function fixOf({ title, edits }: Fix, uri: string): object {
  const replacements = edits.map(({ range, newText }) => ({
    deletedRegion: regionOf(range),
    insertedContent: { text: newText },
  }));
  return {
    description: { text: title },
    artifactChanges: [{ artifactLocation: { uri }, replacements }],
  };
}

function said({ message, hint }: Diagnostic): string {
  return hint === undefined ? message : `${message}; ${hint}`;
}

/** The path from a folder, with forward slashes; that of a file on another drive is whole. */
function pathFrom(cwd: string, name: string): string {
  return relative(cwd, resolve(cwd, name)).split(sep).join("/");
}

function uriOf(path: string): string {
  if (isAbsolute(path)) return pathToFileURL(path).href;
  return path.split("/").map(encodeURIComponent).join("/");
}
