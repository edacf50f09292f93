/**
 * The conformance cases of the Common Expression Language, translated into our words. Where our semantics are knowingly
 * others, the case is listed here with its reason and must really differ.
 * @see https://github.com/google/cel-spec, tests/simple/testdata
 */
import { tests } from "@bufbuild/cel-spec/testdata/conformance.js";
import { compileExpression, ExpressionError, printExpression } from "@millrace/dsl";
import { describe, expect, test } from "vitest";
import { Foreign, toData, translate } from "./cel-translate.ts";
import { codeOf, evaluate, scopeOf } from "./evaluate.ts";

/** What cannot be said in our language, and how many cases say it. */
const FOREIGN = {
  "messages of Protocol Buffers": 636,
  "functions that only CEL has": 390,
  bytes: 104,
  "integers beyond 2^53": 88,
  "syntax that even a CEL parser refuses": 60,
  "keys that are no text": 56,
  "durations are numbers": 39,
  "only checked, not evaluated": 25,
  "macros that only CEL has": 9,
  "types that only CEL has": 5,
  "numbers that are not finite are errors": 3,
};
const RUN = 929;

/** Cases with another outcome here: reason, section, names. */
const DIFFERENT: { readonly [reason: string]: { readonly [section: string]: string } } = {
  "`&&`, `||` and `all` go from left to right, so what fails first fails": {
    "basic/variables": "unbound_is_runtime_error",
    "fields/map_fields":
      "map_field_select_no_such_key_or_true map_field_select_no_such_key_and_false",
    "lists/index":
      "index_out_of_bounds_or_true index_out_of_bounds_and_false bad_index_type_or_true bad_index_type_and_false",
    "logic/AND": "short_circuit_type_right short_circuit_error_right",
    "logic/OR": "short_circuit_type_right short_circuit_error_right",
    "macros/all": "list_elem_error_shortcircuit",
  },
  "an absent key is null, an index past the end too: JSON has many optional members": {
    "fields/map_fields": "map_field_select_no_such_key",
    "lists/index": "index_out_of_bounds",
  },
  "there is no NaN: what would be one is an error": {
    "comparisons/eq_literal": "not_eq_double_nan not_eq_int_double_nan not_eq_uint_double_nan",
    "comparisons/ne_literal":
      "not_ne_double_nan not_ne_int_double_nan not_ne_uint_double_nan ne_double_nan",
  },
  "truth values have no order": {
    "comparisons/lt_literal": "lt_bool_false_first not_lt_bool_same not_lt_bool_true_first",
    "comparisons/gt_literal": "gt_bool_true_false not_gt_bool_false_true not_gt_bool_same",
    "comparisons/lte_literal": "lte_bool_false_true lte_bool_false_false lte_bool_true_false",
    "comparisons/gte_literal": "gte_bool_gt gte_bool_eq not_gte_bool_lt",
    "comparisons/bound": "bool_lt_right_true",
  },
  "there is one kind of number, with the range of a double": {
    "conversions/int": "double_int_max_range double_int_min_range double_range",
    "conversions/type": "eq_diff neq_diff",
    "conversions/uint": "int_neg double_uint_max_range double_range_beyond_uint",
    "fp_math/fp_math": "mod_not_support",
    "integer_math/int64_math":
      "unary_minus_no_overload int64_overflow_mul_positive int64_overflow_mul_negative uint64_overflow_negative uint64_overflow_mul_positive",
    "integer_math/uint64_math": "negative_no_overload",
    "math_ext/ceil": "dyn_error",
    "math_ext/floor": "dyn_error",
    "math_ext/round": "dyn_error",
    "math_ext/trunc": "dyn_error",
  },
  "times are text with milliseconds, from year 0 on": {
    "conversions/int": "timestamp",
    "timestamps/timestamp_conversions":
      "toInt_timestamp toString_timestamp toString_timestamp_nanos type_comparison",
    "timestamps/timestamp_range": "from_string_under",
  },
  "only `true` and `false` spell truth values": {
    "conversions/bool":
      "string_1 string_t string_true_uppercase string_true_pascalcase string_0 string_f string_false_uppercase string_false_pascalcase",
  },
  "a name has no dots": {
    "fields/qualified_identifier_resolution":
      "qualified_ident map_field_select qualified_identifier_resolution_unchecked ident_with_longest_prefix_check",
    "namespace/qualified": "self_eval_qualified_lookup",
  },
  "`in` looks for text in an object": { "fields/in": "empty" },
  "macros go over lists, not objects: `keys(m)` says which part is meant": {
    "macros/exists": "map_key not_map_key",
    "macros/all": "map_key",
    "macros/map": "map_extract_keys",
    "macros/filter": "map_filter_keys",
  },
  "case is that of Unicode, blanks are those of ECMAScript": {
    "string_ext/ascii_casing":
      "lowerascii_unicode lowerascii_unicode_with_space upperascii_unicode",
    "string_ext/trim": "unicode_space_chars_1 unicode_no_trim",
  },
  "`substring` cuts its positions to the text": {
    "string_ext/value_errors":
      "charat_out_of_range substring_out_of_range substring_negative_index substring_end_index_out_of_range substring_begin_index_out_of_range substring_end_index_greater_than_begin_index",
  },
};
const different = new Set(
  Object.values(DIFFERENT)
    .flatMap((sections) => Object.entries(sections))
    .flatMap(([section, names]) => names.split(" ").map((name) => `${section}/${name}`)),
);

interface Case {
  readonly id: string;
  readonly source: string;
  readonly names: { readonly [name: string]: unknown };
  /** The value, or undefined for an error. */
  readonly expected: unknown;
}

type Original = NonNullable<NonNullable<typeof tests.tests>[number]>["original"];

function toCase(id: string, original: Original): Case {
  const { checkOnly, container, expr, bindings = {}, evalError, value, typedResult } = original;
  if (checkOnly) throw new Foreign("only checked, not evaluated");
  if (container) throw new Foreign("messages of Protocol Buffers");
  const bound = Object.entries(bindings as { [name: string]: { value: object } });
  const result = (value ?? (typedResult as { result?: object })?.result ?? {}) as object;
  return {
    id,
    source: printExpression(translate(expr)),
    names: Object.fromEntries(bound.map(([name, each]) => [name, toData(each.value)])),
    expected: evalError === undefined ? toData(result) : undefined,
  };
}

const cases: Case[] = [];
const foreign: { [reason: string]: number } = {};
for (const file of tests.suites ?? []) {
  for (const section of file.suites ?? []) {
    for (const { original } of section.tests ?? []) {
      try {
        cases.push(toCase(`${file.name}/${section.name}/${original.name}`, original));
      } catch (error) {
        if (!(error instanceof Foreign)) throw error;
        foreign[error.message] = (foreign[error.message] ?? 0) + 1;
      }
    }
  }
}

/** The value of a case, undefined for an error. */
function outcome({ source, names }: Case): unknown {
  try {
    return compileExpression(source).evaluate(scopeOf(names), { nowEpoch: 0 });
  } catch (error) {
    if (error instanceof ExpressionError) return undefined;
    throw error;
  }
}

const same = (each: Case): boolean => {
  try {
    expect(outcome(each)).toEqual(each.expected);
    return true;
  } catch {
    return false;
  }
};

test("every case that our language can say is run, the others are counted by reason", () => {
  expect(foreign).toEqual(FOREIGN);
  expect(cases).toHaveLength(RUN);
});

test("all of them have the outcome of CEL, but for the listed ones", () => {
  const agreeing = cases.filter(({ id }) => !different.has(id));
  expect(agreeing.filter((each) => !same(each))).toEqual([]);
  expect(agreeing.length).toBe(RUN - different.size);
});

test.each(Object.entries(DIFFERENT))("%s", (_reason, sections) => {
  const listed = Object.entries(sections).flatMap(([section, names]) =>
    names.split(" ").map((name) => `${section}/${name}`),
  );
  const found = cases.filter(({ id }) => listed.includes(id));
  expect(found.map(({ id }) => id).toSorted()).toEqual(listed.toSorted());
  expect(found.filter(same)).toEqual([]);
});

describe("unlike CEL", () => {
  test.each([
    ["one kind of number, so an int and a double mix", "1 + 0.5", 1.5],
    ["division of whole numbers is exact", "7 / 2", 3.5],
    ["modulo takes fractions", "7.5 % 2", 1.5],
    ["an absent key is null: JSON has many optional members", "{ a: 1 }.b", null],
    ["an index past the end is null", "[1][3]", null],
    ["zero has no sign: JSON text would lose it", '0 == -0 && string(-0) == "0"', true],
    ["timestamps are text", 'type(now()) == "string"', true],
    ["durations are milliseconds", "90s == 1.5m", true],
    ["types are named by text", "type(1)", "number"],
  ] as const)("%s", (_name, source, value) => {
    expect(evaluate(source)).toEqual(value);
  });

  test.each([
    [
      "`&&` and `||` go from left to right: an error on the left is one",
      "1 / 0 > 1 && false",
      "division_by_zero",
    ],
    ["so does `exists`", "exists([0, 1], x, 1 / x > 0)", "division_by_zero"],
    [
      "macros go over lists, not maps: `keys(m)` says which part is meant",
      "all({ a: 1 }, k, true)",
      "type_mismatch",
    ],
    ["overflow is an error, not infinity: JSON has no infinity", "1e308 * 10", "number_range"],
    ["functions are no methods", '"a".size()', "syntax"],
    ["no integers above 2^53 - 1 that only look exact", "9007199254740993", "syntax"],
  ])("%s", (_name, source, code) => {
    expect(codeOf(source)).toBe(code);
  });
});
