import type { Json, Policy } from "@millrace/contracts";
import { listFunctions, parseFlow, printFlow } from "@millrace/dsl";
import { casesOf } from "@millrace/test-support";
import { describe, expect, test } from "vitest";
import { GRAMMAR_TEXT, isColouredWhole, scopesOf, tokenize } from "./tokenize.ts";

/** The scopes of a value, without the field it stands in. */
function valueScopes(value: string): string[] {
  return scopesOf(`x = ${value}`).slice(2);
}

function scopeOf(source: string, text: string): string | undefined {
  return tokenize(source)
    .tokens.find((token) => token.text === text)
    ?.scopes.at(-1);
}

describe("words of the language", () => {
  test.each(listFunctions())(
    "$name is a function when it is called, a reference when not",
    ({ name, group }) => {
      const called = group === "macros" ? "support.function.macro" : "support.function";
      expect(scopeOf(`x = ${name}(a)`, name)).toBe(called);
      expect(scopeOf(`x = ${name} `, name)).toBe("variable.other");
      expect(scopeOf(`x = a.${name}`, name)).toBe("variable.other.property");
      expect(scopeOf(`x = my-${name}(a)`, name)).toBeUndefined();
    },
  );

  test("every policy is known, and no other name is", () => {
    const every: Required<Policy> = {
      timeoutMs: 1,
      retry: { max: 1 },
      when: true,
      onError: "port",
      join: "any",
      concurrency: 1,
      idempotencyKey: "k",
      cache: { ttlMs: 1 },
      delivery: "atMostOnce",
    };
    const text = printFlow({
      ...parseFlow('flow 1 f {\n  @on-failure = "finish"\n}\n').graph,
      nodes: [{ id: "a", type: "t", fields: {}, policy: every }],
    });
    const names = [...text.matchAll(/@([a-z-]+)/g)].map(([, name]) => name as string);
    expect(names).toHaveLength(Object.keys(every).length + 1);
    for (const name of names) expect(scopeOf(text, name)).toBe("storage.modifier.policy");
    for (const name of ["timeouts", "retry-if", "Retry", "on"]) {
      expect(scopeOf(`@${name} = 1`, name)).toBe("invalid.illegal.policy");
    }
  });

  test("every type that the parser names is a known type", () => {
    const hint = parseFlow("flow 1 f\ninput a: nothing").diagnostics[0]?.hint ?? "";
    const names = /types: ([a-z ]+)/.exec(hint)?.[1]?.split(" ") ?? [];
    expect(names).toContain("datetime");
    for (const name of names) expect(scopeOf(`input a: ${name}?[]`, name)).toBe("support.type");
    expect(scopeOf("node a: date.add", "date.add")).toBe("entity.name.type");
  });

  test("a keyword is one only where a block starts", () => {
    const words = ["flow", "input", "connection", "schedule", "node", "output", "layout", "body"];
    for (const word of words) {
      expect(scopeOf(`${word} = 3`, word)).toBe("entity.other.attribute-name.field");
      expect(scopesOf(`node a: t { ${word} = 3 }`)).toContain(
        `${word} entity.other.attribute-name.field`,
      );
      expect(scopeOf(`x = { ${word}: 3 }`, word)).toBe("support.type.property-name");
      expect(scopeOf(`x = a.${word}`, word)).toBe("variable.other.property");
      expect(scopeOf(`x = ${word} + 1`, word)).toBe("variable.other");
      expect(scopeOf(`${word} -> b`, word)).toBe("variable.other.node");
      expect(scopeOf(`a.${word} -> b`, word)).toBe("entity.other.attribute-name.port");
      expect(scopeOf(`${word}-1 = 3`, `${word}-1`)).toBe("entity.other.attribute-name.field");
      expect(scopeOf(`${word} {`, word)).toBe(`keyword.declaration.${word}`);
    }
    expect(scopesOf("node node: node {")).toEqual([
      "node keyword.declaration.node",
      "node entity.name.function.node",
      ": punctuation.separator.type",
      "node entity.name.type",
      "{ punctuation.section.block.begin",
    ]);
  });

  test("words of expressions are words there and names elsewhere", () => {
    expect(valueScopes('true in [null, a.true, nodes["true"], truth]').map(last)).toEqual([
      ...["constant.language", "keyword.operator.word", "punctuation.section.brackets.begin"],
      ...["constant.language", "punctuation.separator.comma", "variable.other"],
      ...["punctuation.accessor", "variable.other.property", "punctuation.separator.comma"],
      ...["variable.language", "punctuation.section.brackets.begin"],
      ...["punctuation.definition.string.begin", "string.quoted.double"],
      ...["punctuation.definition.string.end", "punctuation.section.brackets.end"],
      ...["punctuation.separator.comma", "variable.other", "punctuation.section.brackets.end"],
    ]);
    expect(scopeOf("true = 1", "true")).toBe("entity.other.attribute-name.field");
    expect(scopeOf("x = { null: 1 }", "null")).toBe("support.type.property-name");
  });
});

function last(token: string): string | undefined {
  return token.split(" ").at(-1);
}

describe("declarations and edges", () => {
  test("a block has a word, a name, a type, a value and items", () => {
    expect(scopesOf('input "odd \\"name": { a: int? }[] = [1] { description = "d" }')).toEqual([
      "input keyword.declaration.input",
      '"odd entity.name.variable.input',
      '\\" constant.character.escape',
      'name" entity.name.variable.input',
      ": punctuation.separator.type",
      "{ punctuation.section.type.begin",
      "a support.type.property-name",
      ": punctuation.separator.type",
      "int support.type",
      "? keyword.operator.type",
      "} punctuation.section.type.end",
      "[] keyword.operator.type",
      "= keyword.operator.assignment",
      "[ punctuation.section.brackets.begin",
      "1 constant.numeric",
      "] punctuation.section.brackets.end",
      "{ punctuation.section.block.begin",
      "description entity.other.attribute-name.field",
      "= keyword.operator.assignment",
      '" punctuation.definition.string.begin',
      "d string.quoted.double",
      '" punctuation.definition.string.end',
      "} punctuation.section.block.end",
    ]);
    expect(scopesOf("flow 1 f").map(last)).toEqual([
      "keyword.declaration.flow",
      "constant.numeric.version",
      "entity.name.function.flow",
    ]);
    expect(scopesOf("node a: http.request@2").map(last).slice(2)).toEqual([
      "punctuation.separator.type",
      "entity.name.type",
      "punctuation.separator.version",
      "constant.numeric.version",
    ]);
  });

  test("the value of an input may be an object, and a block may follow any value", () => {
    const braces = (text: string): string[] =>
      scopesOf(text)
        .filter((token) => /^[{}] /.test(token))
        .map((token) => token.split(".").at(-2) ?? "");
    const [object, block] = [
      ["braces", "braces"],
      ["block", "block"],
    ].map((pair) => pair as string[]);
    for (const value of ["1", '"s"', "a.b", "f(x)", "[1]", "5m", "a in b", "c ? 1 : 2"]) {
      expect(braces(`input a = ${value} { }`)).toEqual(block);
    }
    for (const value of ["{ }", "1 == { }", "c in { }", "c ? d : { }"]) {
      expect(braces(`input a = ${value}`)).toEqual(object);
      expect(braces(`input a = ${value} { }`)).toEqual([...(object ?? []), ...(block ?? [])]);
    }
  });

  test("an edge has nodes, ports, arrows and an object", () => {
    expect(scopesOf('a.error -> "b c"."é" -> d { label: "x" } # why')).toEqual([
      "a variable.other.node",
      ". punctuation.accessor",
      "error entity.other.attribute-name.port",
      "-> keyword.operator.arrow",
      '"b c" variable.other.node',
      ". punctuation.accessor",
      '"é" entity.other.attribute-name.port',
      "-> keyword.operator.arrow",
      "d variable.other.node",
      "{ punctuation.section.braces.begin",
      "label support.type.property-name",
      ": punctuation.separator.key-value",
      '" punctuation.definition.string.begin',
      "x string.quoted.double",
      '" punctuation.definition.string.end',
      "} punctuation.section.braces.end",
      "# punctuation.definition.comment",
      "why comment.line.number-sign",
    ]);
  });
});

describe("numbers", () => {
  test("a minus belongs to a number where an operand is expected", () => {
    for (const number of ["0", "-1", "1.5", "-2.50", "1e3", "1E-7", "9007199254740991"]) {
      expect(valueScopes(number)).toEqual([`${number} constant.numeric`]);
      expect(valueScopes(`[${number}]`)).toContain(`${number} constant.numeric`);
      expect(valueScopes(`a in ${number}`)).toContain(`${number} constant.numeric`);
    }
    for (const operand of ["a", "1", "f(x)", "a[0]", '"s"']) {
      expect(valueScopes(`${operand} -1`).slice(-2)).toEqual([
        "- keyword.operator.arithmetic",
        "1 constant.numeric",
      ]);
    }
    expect(valueScopes("n-1")).toEqual(["n-1 variable.other"]);
  });

  test("a duration is a number and a unit, and its minus an operator", () => {
    for (const unit of ["ms", "s", "m", "h", "d"]) {
      expect(valueScopes(`-1.5${unit}`)).toEqual([
        "- keyword.operator.arithmetic",
        "1.5 constant.numeric.duration",
        `${unit} keyword.other.unit`,
      ]);
    }
    expect(valueScopes("10w").at(-1)).toBe("w invalid.illegal.unit");
  });

  test("other spellings are wrong", () => {
    for (const number of ["01", "1.", ".5", "1e", "0x10", "1_000", "1.5.5", "5m2"]) {
      expect(valueScopes(number)).toEqual([`${number} invalid.illegal.number`]);
    }
  });
});

describe("strings", () => {
  test("escapes are known or wrong", () => {
    const known = ["\\n", "\\t", "\\r", "\\b", "\\f", '\\"', "\\\\", "\\/", "\\$", "\\u00e9"];
    for (const escaped of known) {
      expect(valueScopes(`"${escaped}"`)[1]).toBe(`${escaped} constant.character.escape`);
    }
    for (const escaped of ["\\a", "\\u", "\\'", "\\👍", "\\0"]) {
      expect(valueScopes(`"${escaped}00"`)[1]).toBe(`${escaped} invalid.illegal.escape`);
    }
    expect(scopeOf('x = "a\u0007b"', "\u0007")).toBe("invalid.illegal.control-character");
    expect(scopeOf('x = "\\${a}"', "{a}")).toBe("string.quoted.double");
  });

  test("strings and holes stand in each other, over lines too", () => {
    const [outer, inner] = ["string.quoted.double", "meta.embedded.expression"];
    const text = 'x = "a ${f({ k: "b ${\n  c # }"\n} d" })} e"\ny = 1';
    const { tokens, open } = tokenize(text);
    const scopesAt = (part: string): readonly string[] | undefined =>
      tokens.find((token) => token.text.trim() === part)?.scopes;
    expect(open).toBe(0);
    expect(scopesAt("a")).toEqual([outer]);
    expect(scopesAt("f")).toEqual([outer, inner, "variable.other"]);
    expect(scopesAt("b")).toEqual([outer, inner, outer]);
    expect(scopesAt("c")).toEqual([outer, inner, outer, inner, "variable.other"]);
    expect(scopesAt('}"')?.at(-1)).toBe("comment.line.number-sign");
    expect(scopesAt("d")).toEqual([outer, inner, outer]);
    expect(scopesAt("e")).toEqual([outer]);
    expect(scopesAt("y")).toEqual(["entity.other.attribute-name.field"]);
  });

  test("a string that is not closed ends with its line", () => {
    expect(scopeOf('x = "a\ny = 1', "y")).toBe("entity.other.attribute-name.field");
  });

  test.each([3, 4, 5, 9])(
    "a block of %i quotes ends at so many quotes on their own line",
    (count) => {
      const fence = '"'.repeat(count);
      const others = ['"""', '""""', '"""""'].filter((quotes) => quotes !== fence);
      const inside = [...others, `x ${fence}`, `"${fence}`, "# no comment", "\\n", "}"];
      const text = ["x = {", `  k: ${fence}  `, ...inside, `\t ${fence}, # c`, "}", "y = 1"].join(
        "\n",
      );
      const { tokens, open } = tokenize(text);
      expect(open).toBe(0);
      for (const line of inside) {
        const token = tokens.find((each) => each.text === line);
        expect(token?.scopes).toEqual(["string.quoted.triple"]);
      }
      expect(scopeOf(text, "y")).toBe("entity.other.attribute-name.field");
      expect(scopesOf(text)).toContain("c comment.line.number-sign");
    },
  );

  test("in a block backslashes count only before a hole", () => {
    const scopes = (line: string): string[] => scopesOf(`x = """\n${line}\n"""`).slice(3, -1);
    const hole = [
      "${ punctuation.section.embedded.begin",
      "a variable.other",
      "} punctuation.section.embedded.end",
    ];
    expect(scopes("${a}")).toEqual(hole);
    expect(scopes("\\${a}")).toEqual(["\\${ constant.character.escape", "a} string.quoted.triple"]);
    expect(scopes("\\\\${a}")).toEqual(["\\\\ constant.character.escape", ...hole]);
    expect(scopes("\\\\\\${a}")[0]).toBe("\\\\\\${ constant.character.escape");
    expect(scopes("\\d \\\\ \\u00e9")).toEqual(["\\d \\\\ \\u00e9 string.quoted.triple"]);
  });

  test("a block in a hole of a block has a fence of its own", () => {
    const text = 'x = """\n  a ${f("""\n  b\n  """)} c\n  """\ny = 1';
    expect(tokenize(text).open).toBe(0);
    expect(scopeOf(text, "y")).toBe("entity.other.attribute-name.field");
    expect(scopeOf(text, " c")).toBe("string.quoted.triple");
  });
});

describe("slips", () => {
  test.each([
    ["x = 1 // c", "//"],
    ["x = 1 /* c */ + 2", "/*"],
    ["x = 'a'", "'"],
    ["x = 1; y = 2", ";"],
    ["x = 1,", ","],
    ["a => b", "=>"],
    ["a --> b", "-->"],
    ["a → b", "→"],
    ["a ==> b", "==>"],
    ["a –> b", "–>"],
    ["a ⇒ b", "⇒"],
    ["x = `it's`", "`"],
    ["x = “a”", "“"],
    ["x = „a“", "„"],
    ["x: 1", ":"],
    ["x = ${a}", "${"],
    ["x = a and b", "and"],
    ["x = a or (b)", "or"],
    ["x = not a", "not"],
    ["x = a === b", "==="],
    ["x = None", "None"],
    ["x = undefined ", "undefined"],
    ['x = """a"""', '"""'],
    ["x = a\u00a0+ b", "\u00a0"],
    ["```flow", "```flow"],
    ["x = 1)", ")"],
    ['"a ${b}" = 1', "${"],
  ])("%s", (text, slip) => {
    const { tokens, open } = tokenize(text);
    const wrong = tokens.filter(({ scopes }) =>
      scopes.some((scope) => scope.startsWith("invalid")),
    );
    expect(wrong[0]?.text).toBe(slip);
    expect(open).toBe(0);
  });

  test("what follows a slip is read on", () => {
    expect(scopeOf("x = 1; y = 2", "y")).toBe("entity.other.attribute-name.field");
    expect(scopeOf("x = 1 /* y\n z */\nw = 1", "w")).toBe("entity.other.attribute-name.field");
    expect(scopeOf("a => b", "b")).toBe("variable.other.node");
    expect(scopeOf("x = `it's`\ny = 1", "it's")).toBe("string.quoted.single");
    expect(scopeOf("x = ‘a’ + b", "a")).toBe("string.quoted.other");
    expect(scopeOf("x = 1 // c", " c")).toBe("comment.line.double-slash");
  });

  test("words of other languages are names where they can be nothing else", () => {
    for (const text of ["x = and", "x = a.not", "x = not", "x = None.a", "x = [or]", "not = 1"]) {
      const { tokens } = tokenize(text);
      expect(tokens.flatMap(({ scopes }) => scopes).join(" ")).not.toContain("invalid");
    }
  });

  test("a bracket that is not closed costs its block", () => {
    for (const open of ["[1", "f(a", "{ k: 1", '"${a']) {
      const text = `node a: t {\n  x = ${open}\n}\nnode b: t\n`;
      expect(scopesOf(text)).toContain("b entity.name.function.node");
    }
  });
});

test.each([
  ...["a", "a-", " ", "1", "\\", '"', '\\"', "(", '"${', "\\\\${"],
  ...['"""', '"a": 1, ', "„a", 'a.b ?? "c" + '],
])("a long line of %j is coloured to its end", (part) => {
  const long = part.repeat(Math.ceil(casesOf(100_000) / part.length));
  for (const start of ["x = { ", 'x = "', "a -> "]) {
    expect(isColouredWhole(start + long)).toBe(true);
  }
});

test("the grammar is data of one scope, and each rule it includes is there", () => {
  const grammar = JSON.parse(GRAMMAR_TEXT) as {
    scopeName: string;
    repository: { [name: string]: Json };
  };
  expect(grammar.scopeName).toBe("source.flow");
  const included = new Set(
    [...GRAMMAR_TEXT.matchAll(/"include": "#([^"]+)"/g)].map(([, name]) => name),
  );
  expect([...included].sort()).toEqual(Object.keys(grammar.repository).sort());
});
