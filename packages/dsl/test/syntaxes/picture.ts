/** A flow with the class of each character under it: one letter for a family of scopes, so that a change shows. */
import { type Token, tokenize } from "./tokenize.ts";

/** Scopes by their beginning, most particular first, and their letters. */
const FAMILIES: readonly (readonly [scope: string, letter: string])[] = [
  ["comment", "#"],
  ["constant.character.escape", "\\"],
  ["constant.language", "c"],
  ["constant.numeric", "9"],
  ["entity.name.function", "N"],
  ["entity.name.type", "T"],
  ["entity.name.variable", "V"],
  ["entity.other.attribute-name.field", "a"],
  ["entity.other.attribute-name.port", "P"],
  ["invalid", "!"],
  ["keyword.declaration", "K"],
  ["keyword.operator.arrow", ">"],
  ["keyword.operator", "o"],
  ["keyword.other.unit", "u"],
  ["punctuation", "."],
  ["storage.modifier.policy", "@"],
  ["string.quoted.double", "s"],
  ["string.quoted.triple", "b"],
  ["support.function.macro", "m"],
  ["support.function", "f"],
  ["support.type.property-name", "k"],
  ["support.type", "t"],
  ["variable.language", "r"],
  ["variable.other.node", "n"],
  ["variable.other.property", "p"],
  ["variable.other", "v"],
];

/** The letters, a line each. */
export const LEGEND: string = FAMILIES.map(([scope, letter]) => `${letter}  ${scope}`).join("\n");

/** Each line behind `| `, and its letters under it. */
export function pictureOf(source: string): string {
  const letters = Array.from(source.replace(/[^\n]/g, " "));
  for (const token of tokenize(source).tokens) {
    if (token.text.trim() === "") continue;
    letters.fill(letterOf(token), token.start, token.end);
  }
  const below = letters.join("").split("\n");
  return source
    .split("\n")
    .map((line, index) => (line === "" ? "|" : `| ${line}\n  ${below[index]?.trimEnd()}`))
    .join("\n");
}

function letterOf({ scopes, text }: Token): string {
  const innermost = scopes.at(-1) ?? "";
  const family = FAMILIES.find(([scope]) => `${innermost}.`.startsWith(`${scope}.`));
  if (!family) throw new Error(`no letter for ${JSON.stringify(text)}: ${scopes.join(" ")}`);
  return family[1];
}
