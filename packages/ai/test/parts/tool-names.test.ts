/** Names under which models see tools. */
import fc from "fast-check";
import { expect, test } from "vitest";
import { toolName, toolNames } from "../../src/tool-names.ts";

test.each([
  ["flow:lookup-order", "flow_lookup-order"],
  ["flow:billing/refund@2", "flow_billing_refund_2"],
  ["action:http.request", "http_request"],
  ["action:my-crm.find-person", "my-crm_find-person"],
  ["mcp:fs/read_file", "fs__read_file"],
  ["mcp:fs/dir/list.all", "fs__dir_list_all"],
  ["mcp:fs/lesen👋ä", "fs__lesen__"],
])("%s is called %s", (ref, expected) => {
  expect(toolName({ ref })).toBe(expected);
});

test("the author's name wins, in the same alphabet", () => {
  expect(toolName({ ref: "flow:lookup", name: "find order" })).toBe("find_order");
});

test("64 characters stay; of a longer name 55 stay, with the FNV-1a hash of all of it", () => {
  const ref = `flow:${"a".repeat(59)}`;
  expect(toolName({ ref })).toBe(`flow_${"a".repeat(59)}`);
  expect(toolName({ ref: `${ref}b` })).toBe(
    `flow_${"a".repeat(50)}_${hash(`flow_${"a".repeat(59)}b`)}`,
  );
  expect(toolName({ ref: `${ref}c` })).not.toBe(toolName({ ref: `${ref}b` }));
});

/** FNV-1a as its authors write it, in big integers. */
function hash(text: string): string {
  let state = 2_166_136_261n;
  for (const byte of new TextEncoder().encode(text)) {
    state = ((state ^ BigInt(byte)) * 16_777_619n) & 0xffff_ffffn;
  }
  return state.toString(16).padStart(8, "0");
}

test("the hash is FNV-1a, which turns `foobar` into bf9cf968", () => {
  expect(hash("foobar")).toBe("bf9cf968");
});

test("every name is one that every provider takes", () => {
  fc.assert(
    fc.property(
      fc.constantFrom("flow:", "action:", "mcp:", ""),
      fc.string({ unit: "binary", minLength: 1, maxLength: 200 }),
      (kind, rest) => {
        expect(toolName({ ref: kind + rest })).toMatch(/^[A-Za-z0-9_-]{1,64}$/);
      },
    ),
  );
});

test("two tools of one name are a clash that asks for a name", () => {
  const tools = [
    { ref: "action:http.request" },
    { ref: "flow:find" },
    { ref: "mcp:a/b" },
    { ref: "flow:x", name: "http.request" },
  ];
  expect(toolNames(tools)).toEqual({
    names: ["http_request", "flow_find", "a__b", "http_request"],
    clashes: [
      {
        index: 3,
        message:
          "the tools action:http.request and flow:x are both called http_request; give one of them a name",
      },
    ],
  });
});
