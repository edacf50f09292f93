/** The table of codes: complete, as documented, and with examples that show what they say. */
import { DIAGNOSTICS, type DiagnosticCode } from "@millrace/dsl";
import { EXPLANATIONS } from "@millrace/dsl/explain";
import { describe, expect, test } from "vitest";
import { findings } from "../check/check.ts";
import { catalogOf } from "../fixtures/catalog.ts";

/** The list of the diagnostics page: code and severity; where there are two, the second holds in the case that the page names. */
const PAGE: { readonly [code: string]: string } = {
  FLOW0001: "error",
  FLOW0002: "error",
  FLOW0003: "error",
  FLOW0004: "error",
  FLOW1001: "error",
  FLOW1002: "error warning",
  FLOW1003: "error",
  FLOW1004: "error",
  FLOW1005: "error",
  FLOW1006: "error",
  FLOW1007: "error",
  FLOW1008: "error",
  FLOW1009: "error",
  FLOW1010: "error",
  FLOW1011: "error",
  FLOW1012: "error",
  FLOW1013: "error",
  FLOW1014: "error",
  FLOW1015: "error",
  FLOW1016: "error",
  FLOW1017: "error",
  FLOW1099: "error",
  FLOW1101: "warning",
  FLOW1102: "warning",
  FLOW1103: "info",
  FLOW1104: "warning",
  FLOW1105: "info",
  FLOW1106: "warning",
  FLOW1107: "warning",
  FLOW1108: "warning",
  FLOW1109: "warning",
  FLOW1110: "warning",
  FLOW2001: "error",
  FLOW2002: "error",
  FLOW2003: "error warning",
  FLOW2004: "error",
  FLOW2005: "error",
  FLOW2006: "error",
  FLOW2007: "error",
  FLOW2008: "warning",
  FLOW2009: "error",
  FLOW2010: "error",
  FLOW2011: "warning",
  FLOW2012: "error",
  FLOW2013: "error",
  FLOW2014: "error",
  FLOW2015: "error",
  FLOW3001: "error",
  FLOW3002: "error",
  FLOW3003: "error",
  FLOW3004: "error",
  FLOW3005: "error",
  FLOW3006: "error",
  FLOW3007: "error",
  FLOW3008: "error",
  FLOW3009: "warning",
  FLOW3010: "error",
  FLOW3011: "error",
  FLOW3012: "error",
  FLOW3013: "error",
  FLOW3014: "warning",
  FLOW3015: "error warning",
  FLOW3016: "error",
  FLOW3017: "error",
  FLOW3018: "warning",
  FLOW4001: "error",
  FLOW4002: "error",
  FLOW4003: "error",
  FLOW4004: "warning",
  FLOW4005: "error",
  FLOW4006: "warning",
  FLOW4007: "error",
  FLOW4008: "warning",
  FLOW4009: "info",
  FLOW4010: "error",
  FLOW4011: "warning",
  FLOW4012: "error",
  FLOW4013: "error",
  FLOW4014: "error",
  FLOW4015: "warning",
  FLOW4016: "info",
  FLOW4017: "warning",
  FLOW5001: "error",
  FLOW5002: "error",
  FLOW5003: "error",
  FLOW5004: "error",
  FLOW5005: "error",
  FLOW5006: "warning",
  FLOW5007: "error",
  FLOW5008: "warning",
  FLOW5009: "error",
  FLOW5010: "warning",
  FLOW5011: "warning",
  FLOW5012: "warning",
  FLOW5013: "error",
  FLOW6001: "error",
  FLOW6002: "warning error",
  FLOW6003: "warning",
  FLOW6004: "warning",
  FLOW6005: "warning",
  FLOW6006: "warning",
  FLOW6007: "warning",
  FLOW6008: "error",
  FLOW9001: "info",
  FLOW9002: "info",
  FLOW9003: "info",
  FLOW9004: "info",
  FLOW9005: "info",
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
  expect(Object.fromEntries(table)).toEqual(PAGE);
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
