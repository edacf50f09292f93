/** A text with syntax errors is checked all the same, and nothing is missed that stands in the part that was not read. */
import { expect, test } from "vitest";
import { findings } from "./check.ts";

/** Code and first line of each finding, by place. */
function said(text: string): string[] {
  return findings(text)
    .filter(({ severity }) => severity !== "info")
    .map(({ code, range }) => `${range?.start.line} ${code}`);
}

const ERRORS_OF_MEANING = `
node late: htpp.request {
  url = "https://shop.example"
}

node last: transform {
  value = inputs.missing
}
`;

test("a syntax error does not hide what is wrong with the rest", () => {
  expect(said(`node first: transform {\n  value = (1 + \n}\n${ERRORS_OF_MEANING}`)).toEqual([
    "4 FLOW1006",
    "7 FLOW3001",
    "12 FLOW5001",
  ]);
});

test.each([
  ["a node", "node a: = {\n  value = 1\n}\n\nnode b: log {\n  message = a.value\n}\n\na -> b\n"],
  [
    "a node behind a misspelt word",
    'nod a: log {\n  message = "x"\n}\n\nnode b: log {\n  message = "y"\n}\n\na -> b\n',
  ],
  ["an input", "input n: = 1\n\nnode b: transform {\n  value = inputs.n\n}\n"],
  [
    "a connection",
    'connection pay oauth\n\nnode b: service.call {\n  connection = "pay"\n  operation = "list"\n}\n',
  ],
  ["a needed field", "node b: transform {\n  value = 1 +\n}\n"],
  [
    "an element that is needed",
    'node b: ai {\n  input = 1\n  labels = [{ name: "a" }, { name: = }]\n}\n',
  ],
  ["what reads an input", "input n: int\n\nnode b: transform {\n  value = inputs.n +\n}\n"],
  ["the edge to a join", "node a: transform {\n  value = 1\n}\n\nnode b: join\n\na -> b ->\n"],
  [
    "all behind a block of text",
    'node a: log {\n  message = """\n    x\n}\n\nnode c: join\n\na -> c\n',
  ],
])("%s that could not be read is not missed", (_what, text) => {
  const found = findings(text).filter(({ severity }) => severity !== "info");
  expect(found.length).toBeGreaterThan(0);
  for (const { code, message } of found) expect(code, message).toMatch(/^FLOW(?:1|2003)/);
});

test("a name that stands nowhere is unknown, whatever else could not be read", () => {
  const text = "node a transform = {\n}\n\nnode b: log {\n  message = c.value\n}\n";
  expect(said(text)).toContain("7 FLOW5001");
});

test.each(["nod a: log {", "macro a {", "let a = 1", "trigger webhook {", "fetch save"])(
  "%s is an error, so that nothing of a flow disappears from its run",
  (line) => {
    const text = `${line}\n${line.endsWith("{") ? '  message = "x"\n}\n' : ""}`;
    expect(findings(text).map(({ code, severity }) => `${severity} ${code}`)).toContain(
      "error FLOW2003",
    );
  },
);

test("a word of a newer language version stays a warning", () => {
  const found = findings("flow 2 x\n\nmacro a {\n}\n");
  expect(found.map(({ code, severity }) => `${severity} ${code}`)).toEqual([
    "error FLOW0002",
    "warning FLOW2003",
  ]);
});
