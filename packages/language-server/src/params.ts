/** Required parameters of each message, as far as the server reads them. */

import { Position, Range } from "vscode-languageserver/node";

type Check = (value: unknown) => boolean;
/** A member, the check of its value, and the words for values that pass. */
type Rule = readonly [member: string, check: Check, wanted: string];

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value);
const isString: Check = (value) => typeof value === "string";
const isInteger: Check = Number.isInteger;
const isToken: Check = (value) => isString(value) || isInteger(value);
const optional =
  (check: Check): Check =>
  (value) =>
    value === undefined || value === null || check(value);
const isListOf =
  (check: Check): Check =>
  (value) =>
    Array.isArray(value) && value.every(check);
const isWith =
  (members: { readonly [member: string]: Check }): Check =>
  (value) =>
    isObject(value) && Object.entries(members).every(([member, check]) => check(value[member]));

const DOCUMENT: Rule = ["textDocument", isWith({ uri: isString }), "{ uri: string }"];
const POSITION: Rule = ["position", Position.is, "{ line, character }, whole numbers from 0"];
const RANGE: Rule = ["range", Range.is, "{ start, end }, two positions"];
const TOKEN: Rule = ["token", isToken, "a string or a whole number"];
const AT: readonly Rule[] = [DOCUMENT, POSITION];

const RULES: { readonly [method: string]: readonly Rule[] } = {
  initialize: [
    ["capabilities", isObject, "an object"],
    ["processId", optional(isInteger), "an integer or null"],
  ],
  "$/cancelRequest": [["id", isToken, "a string or a whole number"]],
  "$/progress": [TOKEN],
  "$/setTrace": [["value", isString, "a string"]],
  "window/workDoneProgress/cancel": [TOKEN],
  "textDocument/didOpen": [
    [
      "textDocument",
      isWith({ uri: isString, languageId: isString, version: isInteger, text: isString }),
      "{ uri, languageId, version: integer, text }",
    ],
  ],
  "textDocument/didChange": [
    [
      "textDocument",
      isWith({ uri: isString, version: isInteger }),
      "{ uri: string, version: integer }",
    ],
    [
      "contentChanges",
      isListOf(isWith({ text: isString, range: optional(Range.is) })),
      "a list of { text, range? }",
    ],
  ],
  "textDocument/didSave": [DOCUMENT],
  "textDocument/didClose": [DOCUMENT],
  "textDocument/completion": AT,
  "completionItem/resolve": [
    ["label", isString, "a string"],
    [
      "data",
      optional(isWith({ uri: isString, index: isInteger })),
      "what the completion was sent with",
    ],
  ],
  "textDocument/hover": AT,
  "textDocument/signatureHelp": AT,
  "textDocument/definition": AT,
  "textDocument/references": [
    ...AT,
    ["context", optional(isObject), "{ includeDeclaration: boolean }"],
  ],
  "textDocument/documentHighlight": AT,
  "textDocument/prepareRename": AT,
  "textDocument/rename": [...AT, ["newName", isString, "a string"]],
  "textDocument/documentSymbol": [DOCUMENT],
  "textDocument/foldingRange": [DOCUMENT],
  "textDocument/selectionRange": [
    DOCUMENT,
    ["positions", isListOf(Position.is), "a list of positions"],
  ],
  "textDocument/formatting": [DOCUMENT],
  "textDocument/documentLink": [DOCUMENT],
  "textDocument/semanticTokens/full": [DOCUMENT],
  "textDocument/semanticTokens/range": [DOCUMENT, RANGE],
  "textDocument/codeAction": [
    DOCUMENT,
    RANGE,
    ["context", isWith({ only: optional(isListOf(isString)) }), "{ only?: string[] }"],
  ],
  "workspace/executeCommand": [
    ["command", isString, "a string"],
    ["arguments", optional(Array.isArray), "a list"],
  ],
};

/** The problems of the parameters of a message, in one line; undefined: none, or the parameters are not read. */
export function wrongParams(method: string, params: unknown): string | undefined {
  const rules = Object.hasOwn(RULES, method) ? RULES[method] : undefined;
  if (rules === undefined) return undefined;
  if (!isObject(params)) return `\`params\` of ${method} is an object`;
  const wrong = rules.filter(([member, check]) => !check(params[member]));
  if (wrong.length === 0) return undefined;
  const parts = wrong.map(([member, , wanted]) => `\`${member}\` is ${wanted}`);
  return `in the parameters of ${method}: ${parts.join("; ")}`;
}
