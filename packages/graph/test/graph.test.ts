/** Every format of real flows, and of flows whose names try to be something else. */
import { readFileSync } from "node:fs";
import type { FlowGraph } from "@millrace/contracts";
import { parseFlow } from "@millrace/dsl";
import { drawFlow, layoutDrawing, toDot, toMermaid, toSvg } from "@millrace/graph";
import { describeWith } from "@millrace/test-support";
import { type Browser, launchChromium } from "@millrace/test-support/chromium";
import { graphWith, ROUTES } from "@millrace/test-support/graph";
import { afterAll, beforeAll, expect, test } from "vitest";

const HOSTILE = JSON.stringify(
  graphWith({
    id: "hostile",
    nodes: [
      "end",
      "</text><script>x()</script>",
      '"]; n0 --> n1; click n0 "javascript:x()"',
      "a\u202eb\u0007",
    ].map((id) => ({ id, type: 'x"<b>', fields: {} })),
    edges: [
      { from: "end", port: '|"--> end', to: "a\u202eb\u0007" },
      { from: "end", port: "out", to: "nowhere" },
      { from: "end", port: "out", to: "end" },
    ],
  }),
);

/** What the page has that Node has not. */
interface Page {
  readonly DOMParser: new () => {
    parseFromString(
      text: string,
      type: string,
    ): {
      querySelectorAll(
        selector: string,
      ): Iterable<{ readonly textContent: string | null; readonly outerHTML: string }>;
    };
  };
}

/** A graph of this many steps, each after one or two before it. */
function web(count: number): string {
  const id = (n: number): string => `step-${n}`;
  const nodes = Array.from({ length: count }, (_, n) => ({ id: id(n), type: "log", fields: {} }));
  const edges = nodes.flatMap(({ id: to }, n) =>
    [Math.floor(n / 2), n - 1]
      .filter((from, at, all) => from >= 0 && from !== n && all.indexOf(from) === at)
      .map((from) => ({ from: id(from), port: n % 3 === 0 ? "error" : "out", to })),
  );
  return JSON.stringify({ ...JSON.parse(HOSTILE), nodes, edges });
}

interface Shape {
  readonly textContent: string | null;
  readonly parentElement: Shape;
  getBBox(): { x: number; y: number; width: number; height: number };
  querySelector(selector: string): Shape;
}

/** In the page: texts that leave their box, and shapes that leave the picture. */
function measure(): string[] {
  const { document } = globalThis as unknown as {
    document: { querySelectorAll(selector: string): Iterable<Shape> };
  };
  const contains = (outer: Shape, inner: Shape): boolean => {
    const [a, b] = [outer.getBBox(), inner.getBBox()];
    const right = b.x + b.width <= a.x + a.width + 0.5;
    return b.x >= a.x && right && b.y >= a.y && b.y + b.height <= a.y + a.height + 0.5;
  };
  const [picture] = document.querySelectorAll(".bg");
  const texts = [...document.querySelectorAll(".id, .type")].filter(
    (text) => !contains(text.parentElement.querySelector("rect"), text),
  );
  const drawn = [...document.querySelectorAll(".box, .edge, .port")].filter(
    (shape) => !contains(picture as Shape, shape),
  );
  return [...texts, ...drawn].map(({ textContent }) => textContent ?? "");
}

/** The picture of a flow, as text or as JSON. */
function graph(text: string, format: "mermaid" | "dot" | "svg"): string {
  const flow: FlowGraph = text.startsWith("{") ? JSON.parse(text) : parseFlow(text).graph;
  const drawing = drawFlow(flow);
  const title = flow.title ?? flow.id;
  if (format === "mermaid") return toMermaid(drawing);
  return format === "dot" ? toDot(drawing, title) : toSvg(drawing, title);
}

test("boxes of one body do not overlap, whatever leads where", () => {
  const count = 60;
  const nodes = Array.from({ length: count }, (_, n) => ({
    id: `n${n}`,
    type: "log",
    fields: {},
  }));
  const edges = nodes.flatMap((_, n) =>
    [(n * 7 + 3) % count, (n * 13 + 5) % count, n + 1].flatMap((to) =>
      to < count ? [{ from: `n${n}`, port: `p${to}`, to: `n${to}` }] : [],
    ),
  );
  const text = JSON.stringify({ ...JSON.parse(HOSTILE), nodes, edges });
  const layout = layoutDrawing(drawFlow(JSON.parse(text)));
  const boxes = layout.boxes;
  expect(boxes).toHaveLength(count);
  const overlaps = boxes.flatMap((a, at) =>
    boxes
      .slice(at + 1)
      .filter((b) => a.x < b.x + b.w && b.x < a.x + a.w && a.y < b.y + b.h && b.y < a.y + a.h),
  );
  expect(overlaps).toEqual([]);
});

test("mermaid has numbers for ids, quoted labels, subgraphs and dashed references", () => {
  expect(graph(ROUTES, "mermaid")).toBe(`flowchart TD
  n0["size<br/>condition"]
  n1["big<br/>log"]
  n2["small<br/>log"]
  subgraph n3["pages<br/>map"]
    n4["one<br/>transform"]
  end
  n5["last<br/>transform"]
  n0 -->|"true"| n1
  n0 -->|"false"| n2
  n3 -.-> n5
`);
  const lines = graph(HOSTILE, "mermaid").trimEnd().split("\n");
  for (const line of lines.slice(1)) {
    expect(line).toMatch(/^ {2}n\d+(\["[^"`<>\\]*<br\/>[^"`<>\\]*"\]| -->\|"[^"`<>\\]*"\| n\d+)$/);
  }
});

test("dot quotes every label, and clusters bodies", () => {
  const text = graph(ROUTES, "dot");
  expect(text).toContain('digraph "Routes & <more>" {');
  expect(text).toContain("subgraph cluster_n3 {");
  expect(text).toContain("n3 -> n5 [style=dashed];");
  expect(graph(HOSTILE, "dot")).toContain(
    '[label="\\"]; n0 --> n1; click n0 \\"javascript:x()\\"\\nx\\"<b>"];',
  );
});

describeWith("chromium")("svg", () => {
  let browser: Browser;
  beforeAll(async () => {
    browser = await launchChromium();
  });
  afterAll(() => browser?.close());

  /** The texts of a document, read as strict XML; scripts and links must not be there. */
  async function textsOf(svg: string): Promise<string[]> {
    const page = await browser.newPage();
    const found = await page.evaluate((source) => {
      const { DOMParser: Parser } = globalThis as unknown as Page;
      const parsed = new Parser().parseFromString(source, "image/svg+xml");
      const texts = [...parsed.querySelectorAll("title, text")].map((each) => each.textContent);
      const bad = parsed.querySelectorAll("parsererror, script, a, image, use, foreignObject");
      return { texts, bad: [...bad].map(({ outerHTML }) => outerHTML) };
    }, svg);
    await page.close();
    expect(found.bad).toEqual([]);
    return found.texts as string[];
  }

  test("is one document with all names", async () => {
    const texts = await textsOf(graph(ROUTES, "svg"));
    expect(texts[0]).toBe("Routes & <more>");
    expect(texts).toEqual(expect.arrayContaining(["size", "condition", "one", "true", "false"]));
  });

  test("shows text that would be markup as text", async () => {
    const texts = await textsOf(graph(HOSTILE, "svg"));
    expect(texts).toEqual(
      expect.arrayContaining([
        "</text><script>x()</script>",
        "a\ufffdb\ufffd",
        'x"<b>',
        '|"--> end',
      ]),
    );
  });

  test.each([
    [
      "an example",
      readFileSync(
        new URL("../../../examples/09-support-triage/support-triage.flow", import.meta.url),
        "utf8",
      ),
    ],
    ["fifty steps", web(50)],
    ["wide characters and a long name", HOSTILE.replace("end", `水車${"W".repeat(60)}`)],
  ])("%s: every text lies in its box, and all that is drawn in the picture", async (_, text) => {
    const page = await browser.newPage();
    await page.setContent(graph(text, "svg"));
    const outside = await page.evaluate(measure);
    await page.close();
    expect(outside).toEqual([]);
  });
});

test("nodes stand at their pins, and the others make way", () => {
  const drawing = drawFlow(parseFlow(ROUTES).graph);
  const free = layoutDrawing(drawing);
  const pins = { small: [-300, 40], size: [0, 0], "pages/one": [50, 10], gone: [1, 2], big: "x" };
  const { boxes, origins, width, height } = layoutDrawing(drawing, pins);
  const boxOf = new Map(boxes.map((box) => [box.node.path, box]));
  expect([...boxOf.keys()].sort()).toEqual(free.boxes.map(({ node }) => node.path).sort());
  for (const path of ["small", "size", "pages/one"] as const) {
    const [x = 0, y = 0] = origins.get(path.split("/").slice(0, -1).join("/")) ?? [];
    const box = boxOf.get(path);
    expect([(box?.x ?? 0) - x, (box?.y ?? 0) - y], path).toEqual(pins[path]);
  }
  for (const { node, x, y, w, h } of boxes) {
    expect([x >= 0, y >= 0, x + w <= width, y + h <= height], node.path).not.toContain(false);
    for (const other of boxes) {
      const isInside =
        other.node.path.startsWith(`${node.path}/`) || node.path.startsWith(`${other.node.path}/`);
      if (other.node === node || isInside) continue;
      const isApart =
        x + w <= other.x || other.x + other.w <= x || y + h <= other.y || other.y + other.h <= y;
      expect(isApart, `${node.path} ${other.node.path}`).toBe(true);
    }
  }
});

test("a pin that is no place is ignored", () => {
  const drawing = drawFlow(parseFlow(ROUTES).graph);
  const free = layoutDrawing(drawing);
  for (const pin of [
    [1e308, -1e308],
    [1_000_001, 0],
    [Number.NaN, 1],
    ["1", 2],
    [1],
    { x: 1 },
    null,
  ]) {
    expect(layoutDrawing(drawing, { small: pin, size: pin })).toEqual(free);
  }
  expect(layoutDrawing(drawing, null as never)).toEqual(free);
});
