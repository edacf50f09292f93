/** One class for each character of a text, as the tree colours it and as the TextMate grammar does. */
import { highlightTree, tagHighlighter, tags } from "@lezer/highlight";
import { tokenize } from "../../dsl/test/syntaxes/tokenize.ts";
import { flowLanguage } from "../src/index.ts";

const highlighter = tagHighlighter([
  { tag: tags.definitionKeyword, class: "keyword" },
  { tag: tags.definition(tags.variableName), class: "declared" },
  { tag: tags.number, class: "number" },
  { tag: tags.typeName, class: "type" },
  { tag: tags.definition(tags.propertyName), class: "key" },
  { tag: tags.attributeName, class: "field" },
  { tag: tags.modifier, class: "policy" },
  { tag: tags.labelName, class: "port" },
  { tag: tags.propertyName, class: "property" },
  { tag: tags.standard(tags.variableName), class: "root" },
  { tag: tags.function(tags.variableName), class: "function" },
  { tag: tags.variableName, class: "variable" },
  { tag: tags.atom, class: "word" },
  { tag: tags.string, class: "string" },
  { tag: tags.escape, class: "escape" },
  { tag: tags.special(tags.brace), class: "hole" },
  { tag: tags.comment, class: "comment" },
  { tag: [tags.operator, tags.operatorKeyword], class: "operator" },
  { tag: tags.derefOperator, class: "dot" },
  { tag: tags.separator, class: "separator" },
  { tag: tags.bracket, class: "bracket" },
]);

/** The class of each scope of the TextMate grammar; the first that fits counts. */
const SCOPES: readonly (readonly [scope: RegExp, name: string])[] = [
  [/^keyword\.declaration/, "keyword"],
  [/^entity\.name\.(?:function|variable)/, "declared"],
  [/^constant\.numeric|^keyword\.other\.unit|^punctuation\.separator\.version/, "number"],
  [/^support\.type\.property-name/, "key"],
  [/^support\.type|^entity\.name\.type/, "type"],
  [/attribute-name\.field/, "field"],
  [/^storage\.modifier|^punctuation\.definition\.policy/, "policy"],
  [/attribute-name\.port/, "port"],
  [/^variable\.other\.property/, "property"],
  [/^variable\.language/, "root"],
  [/^support\.function/, "function"],
  [/^variable/, "variable"],
  [/^constant\.language/, "word"],
  [/^constant\.character\.escape/, "escape"],
  [/^string|^punctuation\.definition\.string/, "string"],
  [/^punctuation\.section\.embedded/, "hole"],
  [/^comment|^punctuation\.definition\.comment/, "comment"],
  [/^keyword\.operator/, "operator"],
  [/^punctuation\.accessor/, "dot"],
  [/^punctuation\.separator/, "separator"],
  [/^punctuation\.section/, "bracket"],
];

/** `class text` for each stretch of one class, without blanks, as the tree colours it. */
export function treeClasses(text: string): string[] {
  const classes: string[] = Array.from({ length: text.length }, () => "-");
  highlightTree(flowLanguage.parser.parse(text), highlighter, (from, to, name) => {
    classes.fill(name.split(" ").at(-1) as string, from, to);
  });
  return joined(text, classes);
}

/** The same, as the TextMate grammar colours it. */
export function scopeClasses(text: string): string[] {
  const classes: string[] = Array.from({ length: text.length }, () => "-");
  for (const { start, end, scopes } of tokenize(text).tokens) {
    const scope = scopes.at(-1) ?? "";
    // The names of scopes of quoted names are two words.
    const name = SCOPES.find(([pattern]) => scope.split(" ").some((word) => pattern.test(word)));
    classes.fill(name?.[1] ?? "-", start, end);
  }
  return joined(text, classes);
}

/** Signs that a grammar without a tree of expressions cannot tell apart: in pairs and in conditions. */
const SIGNS = /[:=]/;

function joined(text: string, classes: readonly string[]): string[] {
  const found: string[] = [];
  let last = "";
  for (let at = 0; at < text.length; at += 1) {
    const char = text[at] as string;
    const isSign = SIGNS.test(char) && /^(?:operator|separator)$/.test(classes[at] as string);
    const name = isSign ? "sign" : (classes[at] as string);
    if (char.trim() === "") {
      last = "";
      continue;
    }
    if (name === last) found.push(`${found.pop()}${char}`);
    else found.push(`${name} ${char}`);
    last = name;
  }
  return found;
}
