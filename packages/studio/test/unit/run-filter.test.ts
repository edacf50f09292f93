/** The runs that a place asks for. */
import fc from "fast-check";
import { expect, test } from "vitest";
import { filterOf, RUN_STATES, tagName, tagQuery } from "../../src/page/screens/runs/run-filter.ts";

const word = fc.stringMatching(/^[a-z][a-z0-9 .=_-]{0,11}[a-z0-9]$/);

test("a place that is written from a filter gives the filter again", () => {
  const filters = fc.record({
    status: fc.uniqueArray(fc.constantFrom(...RUN_STATES), { minLength: 1 }),
    flow: word,
    tags: fc.dictionary(word, word, { minKeys: 1, noNullPrototype: true }),
  });
  fc.assert(
    fc.property(filters, ({ status, flow, tags }) => {
      const query = new URLSearchParams({ flow });
      for (const state of status) query.append("status", state);
      for (const [name, value] of Object.entries(tags)) query.set(tagName(name), value);
      expect(filterOf(new URLSearchParams(`${query}`))).toEqual({ status, flow, tags });
    }),
  );
});

test("what is no filter is left out", () => {
  expect(filterOf(new URLSearchParams("status=odd&flow=&tag.=x&node=fetch"))).toEqual({});
});

test("a tag is typed as name=value", () => {
  expect(tagQuery(" customer = acme=1 ")).toEqual({ "tag.customer": "acme=1" });
  for (const typed of ["", "customer", "=acme", "customer="]) {
    expect(tagQuery(typed)).toBeUndefined();
  }
});
