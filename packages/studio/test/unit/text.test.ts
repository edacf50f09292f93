import { readFileSync } from "node:fs";
import * as fc from "fast-check";
import { expect, test } from "vitest";
import { ansiPieces } from "../../src/page/parts/ansi.ts";
import { piecesOf } from "../../src/page/parts/value-view/escapes.ts";
import { pathExpression } from "../../src/page/parts/value-view/value-path.ts";
import { cutAt, linkOf } from "../../src/page/parts/value-view/value-text.ts";

const UNSEEN = /[\p{Cc}\p{Cs}\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\u2028\u2029\ufeff]/u;

test("no character that cannot be seen is left in a text, and nothing else is changed", () => {
  void fc.assert(
    fc.property(fc.string({ unit: "binary" }), (text) => {
      const pieces = piecesOf(text);
      const plain = pieces.filter((piece) => typeof piece === "string").join("");
      expect(plain.replace(/[\n\t]/g, "")).not.toMatch(UNSEEN);
      const again = pieces.map((piece) =>
        typeof piece === "string" ? piece : (JSON.parse(`"${piece.escape}"`) as string),
      );
      expect(again.join("")).toBe(text);
    }),
  );
});

test("half of a character is an escape, a whole one is not", () => {
  expect(piecesOf("a😀\ud83d")).toEqual(["a😀", { escape: "\\ud83d" }]);
});

const shown = (line: string): string =>
  ansiPieces(line)
    .map(({ text, classes }) => (classes === "" ? text : `<${classes}:${text}>`))
    .join("");

test("colours of a terminal become classes", () => {
  expect(shown("a\x1b[31mb\x1b[0mc")).toBe("a<ansi-red:b>c");
  expect(shown("\x1b[1;4;92mb\x1b[22;24;39mc")).toBe("<ansi-green ansi-bold ansi-underline:b>c");
  expect(shown("\x1b[97;44mb\x1b[m")).toBe("<ansi-white ansi-on-blue:b>");
});

test("colours that could not be read on every ground, and hidden text, are shown as text", () => {
  expect(shown("\x1b[38;5;196ma\x1b[38;2;1;2;3mb\x1b[8mc")).toBe("abc");
});

test("other sequences of a terminal are dropped", () => {
  for (const sequence of [
    "\x1b[2J",
    "\x1b[10;10H",
    "\x1b[?25l",
    "\x1b[>4;2m",
    "\x1b]0;title\x07",
    "\x1b]8;;https://evil.example\x1b\\",
    "\x1bP1$r0m\x1b\\",
    "\x1b_x\x1b\\",
    "\x1bc",
    "\x1b(B",
  ]) {
    expect(shown(`a${sequence}b`)).toBe("ab");
  }
  for (const cut of ["\x1b", "\x1b[3", "\x1b]0;never ended"]) expect(shown(`a${cut}`)).toBe("a");
});

test("no escape character is left in a line of a log", () => {
  const part = fc.oneof(
    fc.constantFrom("\x1b", "[", "]", "m", ";", "\x07", "\\", "3", "8"),
    fc.string(),
  );
  void fc.assert(
    fc.property(fc.array(part), (parts) => {
      expect(shown(parts.join(""))).not.toContain("\x1b");
    }),
  );
});

test("the beginning of a text ends with a whole character", () => {
  expect(cutAt("a😀b", 2)).toBe("a");
  expect(cutAt("a😀b", 3)).toBe("a😀");
  expect(cutAt("ab", 2)).toBe("ab");
});

test("only a text that is an address of the web as a whole is a link", () => {
  expect(linkOf("https://a.example/x?y#z")?.host).toBe("a.example");
  for (const text of [
    "javascript:alert(1)",
    "https://",
    "https://a b",
    " https://a.example",
    "a",
  ]) {
    expect(linkOf(text)).toBeUndefined();
  }
});

test("the path of a part is the expression that reads it", () => {
  expect(pathExpression("fetch", ["body", "items", 0])).toBe("fetch.body.items[0]");
  expect(pathExpression("a + b", ["x y"])).toBe('(a + b)."x y"');
  expect(pathExpression("a +", ["x"])).toBeUndefined();
});

test("text can be read on every ground, in light and in dark", () => {
  const css = readFileSync(new URL("../../src/styles/tokens.css", import.meta.url), "utf8");
  const colours = new Map(
    [...css.matchAll(/--([\w-]+): light-dark\((#\w{6}), (#\w{6})\)/g)].map(
      ([, name = "", light = "", dark = ""]) => [name, [light, dark]] as const,
    ),
  );
  const texts = ["text", "muted", "accent", "ok", "failed", "warn", "busy", "retry", "cyan"];
  for (const theme of [0, 1]) {
    for (const ground of ["background", "surface"]) {
      for (const name of texts) {
        const ratio = contrast(
          colours.get(name)?.[theme] ?? "",
          colours.get(ground)?.[theme] ?? "",
        );
        expect(ratio, `${name} on ${ground}, theme ${theme}`).toBeGreaterThanOrEqual(4.5);
      }
    }
  }
});

/** @see WCAG 2.2, "contrast ratio" */
function contrast(a: string, b: string): number {
  const [light = 0, dark = 0] = [luminance(a), luminance(b)].sort((one, two) => two - one);
  return (light + 0.05) / (dark + 0.05);
}

function luminance(colour: string): number {
  const [r = 0, g = 0, b = 0] = [1, 3, 5].map((at) => {
    const part = Number.parseInt(colour.slice(at, at + 2), 16) / 255;
    return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
}
