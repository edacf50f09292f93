/** `millrace diff`: what counts as a difference, and what does not. */
import { describe, expect, test } from "vitest";
import { lastSummary, scratch } from "./cli.ts";
import { millrace } from "./inside.ts";

const BEFORE = `# how it was
flow 1 rates {
  title = "Rates"
}

input base: string = "EUR"

node fetch: http.request {
  url = "https://rates.example/?base=\${inputs.base}"
  headers = { accept: "application/json", "x-old": "1" }
  @retry = { max: 2 }
}

node items: map {
  items = fetch.body.rates
  body {
    node one: transform {
      value = item.rate
    }
  }
}

node gone: log {
  message = "gone"
}

fetch -> gone

output rates = items.items
`;

const AFTER = BEFORE.replace('title = "Rates"', 'title = "Exchange rates"')
  .replace(', "x-old": "1"', "")
  .replace("max: 2", "max: 5")
  .replace("value = item.rate", "value = item.rate * 2")
  .replace(
    'node gone: log {\n  message = "gone"\n}\n\nfetch -> gone',
    "node fresh: log {\n  message = base\n}\n\nfetch.error -> fresh",
  )
  .replace("message = base", 'message = "new"');

async function diff(before: string, after: string, ...flags: string[]) {
  const cwd = scratch({ "a.flow": before, "b.flow": after });
  return millrace(["diff", "a.flow", "b.flow", ...flags], { cwd });
}

test("names every part that is different, with its value before and after", async () => {
  const { code, stdout, stderr } = await diff(BEFORE, AFTER);
  expect({ code, stderr }).toEqual({ code: 1, stderr: "" });
  expect(stdout).toBe(`~ flow rates  title: "Rates" → "Exchange rates"
~ node fetch  fields.headers.x-old: "1" → (none)
~ node fetch  policy.retry.max: 2 → 5
~ node items/one  fields.value: item.rate → item.rate * 2
- node gone
+ node fresh
- edge fetch -> gone
+ edge fetch.error -> fresh
`);
});

test("under --json each difference is a line, and the summary is the last", async () => {
  const { code, stdout } = await diff(BEFORE, AFTER, "--json");
  const lines = stdout.trimEnd().split("\n");
  expect(JSON.parse(lines[2] ?? "")).toEqual({
    change: "changed",
    part: "node",
    name: "fetch",
    path: "policy.retry.max",
    before: 2,
    after: 5,
  });
  expect(lines).toHaveLength(9);
  expect(lastSummary(stdout)).toMatchObject({ status: "failed", error: { code: "check_failed" } });
  expect(code).toBe(1);
});

describe("no difference", () => {
  test.each([
    ["comments and empty lines", BEFORE.replace("# how it was\n", "\n\n")],
    ["another way to write it", BEFORE.replace("item.rate", "( item.rate )")],
    [
      "another order",
      BEFORE.replace('input base: string = "EUR"\n\n', "").replace(
        "output rates",
        'input base: string = "EUR"\n\noutput rates',
      ),
    ],
  ])("%s", async (_, after) => {
    expect(after).not.toBe(BEFORE);
    expect(await diff(BEFORE, after)).toMatchObject({ code: 0, stdout: "", stderr: "" });
  });

  test("a flow and its graph", async () => {
    const cwd = scratch({ "a.flow": BEFORE });
    const { stdout } = await millrace(["graph", "a.flow", "-f", "json"], { cwd });
    const json = JSON.stringify(JSON.parse(stdout).graph);
    const again = await millrace(["diff", "a.flow", "-"], { cwd, stdin: json });
    expect(again).toMatchObject({ code: 0, stdout: "" });
  });
});

test("--text shows the lines", async () => {
  const { code, stdout } = await diff(
    BEFORE,
    BEFORE.replace("# how it was", "# how it is"),
    "--text",
  );
  expect(code).toBe(1);
  expect(stdout).toContain("-# how it was\n+# how it is\n");
  expect(await diff(BEFORE, BEFORE, "--text")).toMatchObject({ code: 0, stdout: "" });
});

test("a flow that cannot be read has no differences but errors", async () => {
  const { code, stdout, stderr } = await diff(BEFORE, "flow 1 a\n\nnode b log\n");
  expect({ code, stdout }).toEqual({ code: 3, stdout: "" });
  expect(stderr).toContain("b.flow:3");
});

test("stdin is read once", async () => {
  expect(await millrace(["diff", "-", "-"], { stdin: BEFORE })).toMatchObject({ code: 2 });
});
