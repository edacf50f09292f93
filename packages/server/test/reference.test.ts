/** What a server tells an operator: its metrics are written from their table. `node scripts/reference.mjs` writes them anew. */
import { codeIn, readPage, tablesOf } from "@millrace/test-support/pages";
import { expect, test } from "vitest";
import { MAX_SERIES, METRICS, type MetricRow } from "../src/observe/metrics-table.ts";
import { loggedLines } from "./support/log-page.ts";

const PAGE = "docs/reference/monitoring.md";
const METRICS_HEAD = "## Metrics\n";

const codes = (names: readonly string[] = []): string =>
  names.map((name) => `\`${name}\``).join(", ");

/** The page as it is up to the metrics, and what is written of those. */
function page(): string {
  const [lines = ""] = readPage(PAGE).split(METRICS_HEAD);
  const metrics: readonly [string, MetricRow][] = Object.entries(METRICS);
  const rows = metrics.map(
    ([name, { type, labels, help }]) => `| \`${name}\` | ${type} | ${codes(labels)} | ${help} |`,
  );
  return `${lines}${METRICS_HEAD}
\`GET /api/metrics\`, in the text format of Prometheus. A metric has at most ${MAX_SERIES.toLocaleString("en")} series; what comes later counts as \`other\`.

| Metric | Type | Labels |  |
| --- | --- | --- | --- |
${rows.join("\n")}
`;
}

test("the page of what a server tells has the metrics of the table", async () => {
  await expect(page()).toMatchFileSnapshot(`../../../${PAGE}`);
});

test("lines and metrics that the guide says to look at are among them", () => {
  const guide = readPage("docs/guide/operations.md");
  const tables = tablesOf(guide).filter(({ header }) => header[0] === "Line");
  const lines = tables.flatMap(({ rows }) => rows.flatMap(([cell]) => codeIn(cell)));
  expect(lines.length).toBeGreaterThan(10);
  const logged = loggedLines();
  expect(lines.filter((name) => name !== "….back" && !logged.has(name))).toEqual([]);
  const metrics = [...guide.matchAll(/`(millrace_\w+)/g)].map(([, name = ""]) => name);
  expect(metrics.length).toBeGreaterThan(10);
  expect(metrics.filter((name) => name !== "millrace_" && !(name in METRICS))).toEqual([]);
});
