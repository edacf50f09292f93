/** The table of codes: complete, as documented, and with examples that show what they say. */
import { DIAGNOSTICS, type DiagnosticCode } from "@millrace/dsl";
import { EXPLANATIONS } from "@millrace/dsl/explain";
import { describe, expect, test } from "vitest";
import { findings } from "../check/check.ts";
import { catalogOf } from "../fixtures/catalog.ts";

/** The list of the diagnostics page: severity and codes, `from-to` or one; where there are two severities, the second holds in the case that the page names. */
const PAGE: { readonly [severities: string]: string } = {
  error:
    "0001-0004 1001 1003-1017 1099 2001-2002 2004-2007 2009-2010 2012-2015 " +
    "3001-3008 3010-3013 3016-3017 4001-4003 4005 4007 4010 4012-4014 5001-5005 " +
    "5007 5009 5013 6001 6008",
  "error warning": "1002 2003 3015",
  warning:
    "1101-1102 1104 1106-1110 2008 2011 3009 3014 3018 4004 4006 4008 4011 4015 " +
    "4017 5006 5008 5010-5012 6003-6007",
  info: "1103 1105 4009 4016 9001-9005",
  "warning error": "6002",
};

const CODES = Object.keys(DIAGNOSTICS) as DiagnosticCode[];

const world = catalogOf([], {
  flow: (slug) => (slug === "load-rows" ? { inputs: [], outputs: [], flows: [] } : undefined),
});

test("the table has the codes and severities of the diagnostics page, and no others", () => {
  const table = CODES.map((code) => {
    const { severity, severities = [severity] } = DIAGNOSTICS[code];
    expect(severities[0]).toBe(severity);
    return [code, severities.join(" ")];
  });
  const page = Object.entries(PAGE).flatMap(([severities, ranges]) =>
    ranges.split(" ").flatMap((range) => {
      const [from = "", to = from] = range.split("-");
      return Array.from({ length: Number(to) - Number(from) + 1 }, (_, at) => [
        `FLOW${String(Number(from) + at).padStart(4, "0")}`,
        severities,
      ]);
    }),
  );
  expect(table).toEqual(page.sort());
});

test("the table is in order of codes", () => {
  expect(CODES).toEqual([...CODES].sort());
});

test("a message is one line without a full stop", () => {
  for (const code of CODES) {
    const { message, hint = "" } = DIAGNOSTICS[code];
    expect(message, code).not.toMatch(/[.\n]$|^[A-Z][a-z]+ [a-z]+ing/);
    expect(hint, code).not.toMatch(/\n|\.$/);
  }
});

test("every code has an explanation, in the same order", () => {
  expect(Object.keys(EXPLANATIONS)).toEqual(CODES);
  for (const code of CODES) expect(EXPLANATIONS[code].why, code).toMatch(/^[^\n]{20,200}\.$/);
});

describe("of the examples that are text", () => {
  const shown = CODES.filter((code) => EXPLANATIONS[code].form !== "prose");

  test.each(shown)("the wrong one has %s", (code) => {
    expect(codesOf(code, "wrong")).toContain(code);
  });

  test.each(shown)("the right one has neither %s nor another error", (code) => {
    const found = exampleFindings(code, "right");
    expect(found.filter((it) => it.code === code || it.severity === "error")).toEqual([]);
  });
});

test("the reference page is the table and its explanations", async () => {
  await expect(page()).toMatchFileSnapshot("../../../../docs/reference/diagnostics.md");
});

const FAMILIES: { readonly [digit: string]: string } = {
  0: "file",
  1: "words and syntax",
  2: "names and structure",
  3: "nodes, fields, types",
  4: "graph",
  5: "expressions",
  6: "security",
  9: "style (only on request)",
};

/** The page as Markdown. */
function page(): string {
  const lines = [
    "# Diagnostics",
    "",
    "Every code that `parseFlow` and `validateFlow` can give. A code never changes its meaning. `{part}` in a text is filled by the",
    "place that it is about. `millrace explain CODE` prints the same. Written by `packages/dsl/test/diagnostics/table.test.ts`.",
  ];
  let family = "";
  for (const code of CODES) {
    const { severity, severities = [severity], message, hint } = DIAGNOSTICS[code];
    const { why, wrong, right, form } = EXPLANATIONS[code];
    if (code.charAt(4) !== family) {
      family = code.charAt(4);
      lines.push("", `## ${family}xxx ${FAMILIES[family]}`);
    }
    lines.push(
      "",
      `### ${code}`,
      "",
      `**${severities.join(" or ")}**: ${quoted(message)}`,
      "",
      why,
    );
    if (hint !== undefined) lines.push("", `Hint: ${quoted(hint)}`);
    if (form === "prose") lines.push("", `Wrong: ${wrong}. Right: ${right}.`);
    else lines.push("", "Wrong:", "", ...block(wrong), "", "Right:", "", ...block(right));
  }
  return `${lines.join("\n")}\n`;
}

/** Text as Markdown code, whatever quotes it holds. */
function quoted(text: string): string {
  return text.includes("`") ? `\`\` ${text} \`\`` : `\`${text}\``;
}

/** A fenced block; what cannot be seen is spelled out. */
function block(text: string): string[] {
  const visible = text.replace(
    /(?!\n)[\p{Cc}\p{Cf}\p{M}\u00a0]/gu,
    (char) => `<U+${char.charCodeAt(0).toString(16).toUpperCase().padStart(4, "0")}>`,
  );
  const fence = text.includes("```") ? "````" : "```";
  return [`${fence}text`, ...visible.trimEnd().split("\n"), fence];
}

function codesOf(code: DiagnosticCode, side: "wrong" | "right"): string[] {
  return exampleFindings(code, side).map((it) => it.code);
}

function exampleFindings(
  code: DiagnosticCode,
  side: "wrong" | "right",
): ReturnType<typeof findings> {
  const example = EXPLANATIONS[code];
  const whole = example.form === "whole";
  const text = whole ? example[side] : `flow 1 example\n\n${example[side]}`;
  return findings(text, world, code.startsWith("FLOW9"), whole);
}
