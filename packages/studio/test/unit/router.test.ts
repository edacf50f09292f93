import * as fc from "fast-check";
import { expect, test } from "vitest";
import { parsePlace, placeHref } from "../../src/page/router.ts";

test("a place that is written is read as the same place", () => {
  const part = fc.string({ unit: "grapheme", minLength: 1, maxLength: 20 });
  const path = fc.array(part, { minLength: 1, maxLength: 4 });
  const query = fc.dictionary(fc.string({ minLength: 1 }), fc.string({ minLength: 1 }));
  void fc.assert(
    fc.property(path, query, (parts, values) => {
      const place = parsePlace(placeHref(parts, values));
      expect(place.path).toEqual(parts);
      expect(new Map(place.query)).toEqual(new Map(Object.entries(values)));
    }),
  );
});

test("an empty address is the list of flows", () => {
  for (const hash of ["", "#", "#/"]) expect(parsePlace(hash).path).toEqual(["flows"]);
});

test("an escape that is none stays as it is written", () => {
  expect(parsePlace("#/flows/%E0%A4").path).toEqual(["flows", "%E0%A4"]);
});

test("values that are empty are left out of an address", () => {
  expect(placeHref(["runs"], { status: "failed", flow: "", at: undefined, page: 2 })).toBe(
    "#/runs?status=failed&page=2",
  );
});
