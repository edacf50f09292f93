/** Literals that must not be in a shared text: secrets (FLOW6001), direction controls (FLOW6003), clear-text URLs (FLOW6004). */
import type { JsonObject } from "@millrace/contracts";
import type { Expression } from "../expression/ast.ts";
import { listOrNone, own, step } from "../model/plain.ts";
import { markerOf } from "../model/values.ts";
import type { Validation } from "./context.ts";
import type { ReadLeaf } from "./reads.ts";
import { templateParts } from "./security.ts";
import { partsOf } from "./taint.ts";

const B = "[A-Za-z0-9_-]";

/** Prefixes that issuers give their keys, JSON web tokens, private keys in PEM. */
const SECRET = new RegExp(
  [
    `\\bsk-(?:ant-|proj-)?${B}{16,}`,
    "\\bgh[pousr]_[A-Za-z0-9]{20,}",
    `\\bgithub_pat_${B}{20,}`,
    `\\bglpat-${B}{16,}`,
    "\\bxox[abeprs]-[A-Za-z0-9-]{10,}",
    "\\b(?:AKIA|ASIA)[A-Z0-9]{16}\\b",
    `\\bAIza${B}{30,}`,
    "\\b[rs]k_(?:live|test)_[A-Za-z0-9]{12,}",
    "\\bwhsec_[A-Za-z0-9]{16,}",
    "\\bnpm_[A-Za-z0-9]{30,}",
    "\\bhf_[A-Za-z0-9]{20,}",
    `\\bya29\\.${B}{20,}`,
    `\\bSG\\.${B}{16,}\\.${B}{16,}`,
    `\\beyJ${B}{8,}\\.eyJ${B}{8,}\\.${B}{8,}`,
    "-----BEGIN [A-Z ]{0,30}PRIVATE KEY-----",
  ].join("|"),
);

const SECRET_NAME =
  /token|secret|passw|api[-_]?key|access[-_]?key|private[-_]?key|authori[sz]ation|credential/i;

/** Shortest text without a known prefix that is taken for a secret, and how evenly its characters are spread. */
const MIN_SECRET_LENGTH = 32;
const MIN_ENTROPY_BITS = 4;

/** Checks every text of a graph, those inside expressions too. */
export function checkLiterals(run: Validation, leaves: readonly ReadLeaf[]): void {
  const { source } = run.places;
  eachText(run.graph, (text, name, place) => {
    checkText(run, text, name, place);
    const control = source === undefined ? DIRECTION.exec(text) : null;
    if (control !== null) reportControl(run, control[0], place());
  });
  for (const { tree, leaf, site, inText } of leaves) {
    const name = String([site.name, ...leaf.path].findLast((key) => typeof key === "string"));
    eachLiteral(tree, (text, node) => {
      const span = inText ? { start: node.start, end: node.end } : undefined;
      checkText(run, text, name, () => leaf.pointer, span);
    });
  }
  checkClearText(run);
  if (source !== undefined) checkSource(run, source);
}

function checkText(
  run: Validation,
  text: string,
  name: string,
  place: () => string,
  span?: { start: number; end: number },
): void {
  if (text.length < MIN_TEXT) return;
  if (isSecret(text, name)) run.findings.add("FLOW6001", place(), { span });
}

/** No secret is shorter. */
const MIN_TEXT = 12;

function isSecret(text: string, name: string): boolean {
  if (SECRET.test(text)) return true;
  if (text.length < MIN_SECRET_LENGTH || !SECRET_NAME.test(name)) return false;
  return text
    .split(/\s+/)
    .some((word) => word.length >= MIN_SECRET_LENGTH && entropyBits(word) >= MIN_ENTROPY_BITS);
}

/** Shannon entropy of the characters of a text. */
function entropyBits(text: string): number {
  const counts = new Map<string, number>();
  for (const char of text) counts.set(char, (counts.get(char) ?? 0) + 1);
  let bits = 0;
  for (const count of counts.values()) {
    const share = count / text.length;
    bits -= share * Math.log2(share);
  }
  return bits;
}

interface Holder {
  readonly value: object;
  /** The nearest name above: of a field, of a header, of an input. */
  readonly name: string;
  readonly key: string;
  readonly outer: Holder | undefined;
  readonly depth: number;
}

/** Calls `take` for every text of a value, with the nearest name above it; sources of expressions are left out. */
function eachText(
  value: unknown,
  take: (text: string, name: string, place: () => string) => void,
): void {
  if (typeof value !== "object" || value === null) return;
  const open: Holder[] = [{ value, name: "", key: "", outer: undefined, depth: 0 }];
  for (let at = open.pop(); at !== undefined; at = open.pop()) {
    const holder = at;
    const isList = Array.isArray(at.value);
    if (!isList && markerOf(at.value as JsonObject) === "expression") continue;
    for (const [key, inner] of Object.entries(at.value)) {
      const name = isList || key.startsWith("$") ? at.name : key === "default" ? nameOf(at) : key;
      if (typeof inner === "string") take(inner, name, () => pointerOf(holder, key));
      else if (typeof inner === "object" && inner !== null) {
        if (at.depth >= MAX_WALK_DEPTH) return; // it holds itself, which is another finding
        open.push({ value: inner, name, key, outer: at, depth: at.depth + 1 });
      }
    }
  }
}

/** The name that a default stands for: that of its input. */
function nameOf(holder: Holder): string {
  const name = own(holder.value, "name");
  return typeof name === "string" ? name : holder.name;
}

function pointerOf(holder: Holder, key: string): string {
  let pointer = step(key);
  for (let at: Holder | undefined = holder; at?.outer !== undefined; at = at.outer) {
    pointer = step(at.key) + pointer;
  }
  return pointer;
}

/** Bodies in bodies count here, too. */
const MAX_WALK_DEPTH = 1000;

function eachLiteral(tree: Expression, take: (text: string, node: Expression) => void): void {
  const open = [tree];
  for (let node = open.pop(); node !== undefined; node = open.pop()) {
    if (node.kind === "literal" && typeof node.value === "string") take(node.value, node);
    if (node.kind === "template") {
      for (const part of node.parts) if (typeof part === "string") take(part, node);
    }
    open.push(...partsOf(node));
  }
}

const DIRECTION = /[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/;

function reportControl(run: Validation, char: string, pointer: string | undefined): void {
  run.findings.add("FLOW6003", pointer, { parts: { char: codeName(char) } });
}

function codeName(char: string): string {
  return `U+${char.charCodeAt(0).toString(16).toUpperCase().padStart(4, "0")}`;
}

/** Controls that stand in the text itself; an escape can be seen and is fine. */
function checkSource(run: Validation, source: string): void {
  for (const { index: start, 0: char } of source.matchAll(new RegExp(DIRECTION, "g"))) {
    const span = { start, end: start + 1 };
    const text = run.places.textAt(start);
    const isBlock = text?.startsWith('"""') ?? false;
    const inComment = text === undefined;
    const spelt = `\\u${char.charCodeAt(0).toString(16).padStart(4, "0")}`;
    run.findings.add("FLOW6003", undefined, {
      parts: { char: codeName(char) },
      span,
      fix: isBlock
        ? undefined
        : run.findings.replace(
            inComment ? "remove it" : `write ${spelt}`,
            span,
            inComment ? "" : spelt,
          ),
    });
  }
}

const CLEAR = /^(http|ws):\/\/([^/?#]*)/i;
const LOOPBACK =
  /^(?:[^@]*@)?(?:localhost|[^:]*\.localhost|127(?:\.\d{1,3}){3}|\[::1\])\.?(?::|$)/i;

/** URLs that send in the clear to another machine. */
function checkClearText(run: Validation): void {
  for (const site of run.sites) {
    if (own(own(site.schema, "x-millrace"), "sink") !== "url") continue;
    const parts = templateParts(site.value);
    const [first] = parts ?? [site.value];
    if (typeof first === "string") checkUrl(run, first, site.pointer, (parts?.length ?? 1) > 1);
  }
  listOrNone(own(run.graph, "inputs")).forEach((input, at) => {
    const value = own(input, "default");
    if (own(own(input, "schema"), "format") !== "uri" || typeof value !== "string") return;
    checkUrl(run, value, `/inputs/${at}/default`, false);
  });
}

function checkUrl(run: Validation, url: string, pointer: string, isOpen: boolean): void {
  const match = CLEAR.exec(url);
  if (match === null) return;
  const [whole, scheme = "", host = ""] = match;
  if (LOOPBACK.test(host) || (host === "" && isOpen && whole === url)) return;
  const secure = `${scheme.toLowerCase()}s`;
  const span = run.places.exact(pointer);
  const text = span && run.places.text(span);
  const at = text?.indexOf(scheme) ?? -1;
  const start = (span?.start ?? 0) + at;
  run.findings.add("FLOW6004", pointer, {
    parts: { scheme: `${scheme.toLowerCase()}://`, secure },
    fix:
      at === -1
        ? undefined
        : run.findings.replace(`write ${secure}`, { start, end: start + scheme.length }, secure),
  });
}
