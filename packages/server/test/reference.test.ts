/** What a server tells an operator, as a page that is written from its tables. `node scripts/reference.mjs` writes it anew. */
import { codeIn, readPage, tablesOf } from "@millrace/test-support/pages";
import { expect, test } from "vitest";
import { LOG_LINES } from "../src/observe/log-lines.ts";
import { MAX_SERIES, METRICS, type MetricRow } from "../src/observe/metrics-table.ts";

const PAGE = "../../../docs/reference/monitoring.md";

const code = (text: string): string => `\`${text}\``;
const codes = (names: readonly string[] = []): string => names.map(code).join(", ");

function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]): string => `| ${cells.join(" | ")} |`;
  return [head, head.map(() => "---"), ...rows].map(line).join("\n");
}

function page(): string {
  const metrics: readonly [string, MetricRow][] = Object.entries(METRICS);
  return `# What a server tells

Written by \`node scripts/reference.mjs\`; a test compares it with the code. How to use it is on [the page on running a server](../guide/operations.md).

## Lines of the log

Each line has \`level\`, \`time\` and \`msg\`, the text of the first column, and these fields; one that does not apply is \`null\` or absent. \`err\` has
\`type\`, \`message\` and \`stack\`. \`client\` is the address of the socket, \`by\` the token, the schedule or the webhook, \`ms\` milliseconds.

${table(
  ["Line", "Level", "When", "Fields"],
  Object.entries(LOG_LINES).map(([msg, { level, when, fields }]) => {
    return [code(msg), level, when, codes(fields)];
  }),
)}

## Metrics

\`GET /api/metrics\`, in the text format of Prometheus. A metric has at most ${MAX_SERIES.toLocaleString("en")} series; what comes later counts as \`other\`.

${table(
  ["Metric", "Type", "Labels", ""],
  metrics.map(([name, { type, labels, help }]) => [code(name), type, codes(labels), help]),
)}
`;
}

test("the page of what a server tells is as its tables are", async () => {
  await expect(page()).toMatchFileSnapshot(PAGE);
});

test("lines and metrics that the guide says to look at are among them", () => {
  const guide = readPage("docs/guide/operations.md");
  const tables = tablesOf(guide).filter(({ header }) => header[0] === "Line");
  const lines = tables.flatMap(({ rows }) => rows.flatMap(([cell]) => codeIn(cell)));
  expect(lines.length).toBeGreaterThan(10);
  expect(lines.filter((name) => name !== "….back" && !(name in LOG_LINES))).toEqual([]);
  const metrics = [...guide.matchAll(/`(millrace_\w+)/g)].map(([, name = ""]) => name);
  expect(metrics.length).toBeGreaterThan(10);
  expect(metrics.filter((name) => name !== "millrace_" && !(name in METRICS))).toEqual([]);
});
