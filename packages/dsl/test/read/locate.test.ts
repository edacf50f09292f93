// biome-ignore-all lint/suspicious/noTemplateCurlyInString: holes of the flow language
import { locate, parseFlow, pointerAt } from "@millrace/dsl";
import { describe, expect, test } from "vitest";

const TEXT = `flow 1 places {
  title = "T"
  owner = { team: "x" }
  @timeout = 5m
}

input base: string = "EUR"

node all: map@2 {
  items = [1, { "a/b": inputs.base }]
  note = "at \${index}"
  @retry = { delay: 1s }
  body {
    node one: log

    one.error -> one { label: "l" }

    output = item
  }
}

output sum: int = size(all.items)

layout {
  "all/one" = [1, 2]
}
`;

const { document } = parseFlow(TEXT);
const textAt = (pointer: string): string | undefined => {
  const range = locate(document, pointer);
  return range && TEXT.slice(range.start.offset, range.end.offset);
};

describe("locate and pointerAt", () => {
  test.each([
    ["/version", "1"],
    ["/id", "places"],
    ["/title", '"T"'],
    ["/meta/owner/team", '"x"'],
    ["/policy/timeoutMs", "5m"],
    ["/inputs/0", 'input base: string = "EUR"'],
    ["/inputs/0/name", "base"],
    ["/inputs/0/schema", "string"],
    ["/inputs/0/default", '"EUR"'],
    ["/nodes/0/id", "all"],
    ["/nodes/0/type", "map"],
    ["/nodes/0/typeVersion", "@2"],
    ["/nodes/0/fields/items/0", "1"],
    ["/nodes/0/fields/items/1/a~1b", "inputs.base"],
    ["/nodes/0/fields/note/$t/1", "index"],
    ["/nodes/0/policy/retry/delayMs", "1s"],
    ["/nodes/0/body/nodes/0", "node one: log"],
    ["/nodes/0/body/edges/0", "one.error -> one"],
    ["/nodes/0/body/edges/0/port", ".error"],
    ["/nodes/0/body/edges/0/meta/label", '"l"'],
    ["/nodes/0/body/output", "item"],
    ["/outputs/0/value", "size(all.items)"],
    ["/layout/all~1one/1", "2"],
  ])("know %s as %s", (pointer, text) => {
    expect(textAt(pointer)).toBe(text);
    const offset = locate(document, pointer)?.start.offset ?? -1;
    expect(locate(document, pointerAt(document, offset))?.start.offset).toBe(offset);
  });

  test("know the place of an expression below its value", () => {
    expect(textAt("/outputs/0/value/$")).toBe("size(all.items)");
  });

  test("know the members of protected objects, the parts of templates and the object of each edge of a chain", () => {
    const text = `flow 1 x

node a: t {
  v = { "$": 1 }
  w = { "$": 2, b: "n\${a}" }
}

a -> a -> a { k: "v" }
`;
    const { document } = parseFlow(text);
    const at = (pointer: string): string | undefined => {
      const range = locate(document, pointer);
      return range && text.slice(range.start.offset, range.end.offset);
    };
    expect(at("/nodes/0/fields/v/$lit")).toBe('{ "$": 1 }');
    expect(at("/nodes/0/fields/v/$lit/$")).toBe("1");
    expect(at("/nodes/0/fields/w/$")).toBe("2");
    expect(at("/nodes/0/fields/w/b/$t")).toBe('"n${a}"');
    expect(at("/edges/0/meta/k")).toBe('"v"');
    expect(at("/edges/1/meta/k")).toBe('"v"');
    expect(at("/nodes/0/typeVersion")).toBeUndefined();
    const pointers = ["v", "v/$lit/$", "w", "w/$", "w/b", "w/b/$t/1"].map(
      (place) => `/nodes/0/fields/${place}`,
    );
    const found = pointers.map((pointer) =>
      pointerAt(document, locate(document, pointer)?.start.offset ?? -1),
    );
    expect(found).toEqual(pointers);
  });

  test("know nothing of what was not written", () => {
    expect(locate(document, "/nodes/7")).toBeUndefined();
    expect(locate(document, "/nodes/0/fields/missing")).toBeUndefined();
    expect(pointerAt(document, TEXT.length)).toBe("");
  });

  test("count lines and columns from 1", () => {
    expect(locate(document, "/nodes/0/id")).toEqual({
      start: { line: 9, column: 6, offset: TEXT.indexOf("all: map") },
      end: { line: 9, column: 9, offset: TEXT.indexOf("all: map") + 3 },
    });
  });

  test("work on a clone of the document", () => {
    expect(locate(structuredClone(document), "/title")).toEqual(locate(document, "/title"));
  });
});
