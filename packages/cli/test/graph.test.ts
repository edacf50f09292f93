/** `millrace graph`: flows as JSON, into a file, and what it refuses. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { ROUTES } from "@millrace/test-support/graph";
import { describe, expect, test } from "vitest";
import { ROOT, scratch } from "./cli.ts";
import { inside } from "./inside.ts";

async function json(text: string): Promise<string> {
  const files = { "a.flow": text };
  const { code, stdout, stderr } = await inside(["graph", "a.flow", "-f", "json"], { files });
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  return stdout;
}

describe("json", () => {
  test("has every edge, those that references imply too, and a place for each node", async () => {
    const { graph: read, edges, layout } = JSON.parse(await json(ROUTES));
    expect(read.id).toBe("routes");
    expect(edges).toEqual([
      { from: "size", to: "big", port: "true" },
      { from: "size", to: "small", port: "false" },
      { from: "pages", to: "last", implied: true },
    ]);
    expect(Object.keys(layout).sort()).toEqual([
      "big",
      "last",
      "pages",
      "pages/one",
      "size",
      "small",
    ]);
    expect(layout.big.layer).toBe(layout.size.layer + 1);
    const { pages, "pages/one": one } = layout;
    expect(one.x).toBeGreaterThanOrEqual(pages.x);
    expect(one.y + one.h).toBeLessThanOrEqual(pages.y + pages.h);
  });

  test("is what --json prints", async () => {
    const cwd = scratch({ "a.flow": ROUTES });
    const { stdout } = await inside(["graph", "a.flow", "--json"], { cwd });
    expect(stdout).toBe(await json(ROUTES));
  });
});

test("goes into the file that is named", async () => {
  const cwd = join(ROOT, "examples/03-csv-report");
  const out = join(scratch(), "report.svg");
  const { code, stdout } = await inside(["graph", "csv-report.flow", "-f", "svg", "-o", out], {
    cwd,
  });
  expect({ code, stdout }).toEqual({ code: 0, stdout: "" });
  expect(readFileSync(out, "utf8")).toContain("<title>regions/orders: transform</title>");
});

describe("what it refuses", () => {
  test("a flow that cannot be read, with where", async () => {
    const cwd = scratch({ "a.flow": "flow 1 a\n\nnode b log\n" });
    const { code, stdout, stderr } = await inside(["graph", "a.flow"], { cwd });
    expect({ code, stdout }).toEqual({ code: 3, stdout: "" });
    expect(stderr).toContain("a.flow:3");
  });

  test("a folder that is not there", async () => {
    const cwd = scratch({ "a.flow": ROUTES });
    const { code, stderr } = await inside(["graph", "a.flow", "-o", "no/a.svg"], { cwd });
    expect(code).toBe(2);
    expect(stderr).toContain("cannot write no/a.svg");
  });

  test("a format that is none", async () => {
    const { code, stderr } = await inside(["graph", "-", "-f", "png"], { stdin: ROUTES });
    expect(code).toBe(2);
    expect(stderr).toContain("svg");
  });
});
