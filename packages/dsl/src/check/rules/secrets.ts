/** Literals that must not be in a shared text: secrets (FLOW6001), direction controls (FLOW6003), clear-text URLs (FLOW6004). */

import { pointerSegment } from "@millrace/contracts/kit";
import { isObject, own } from "../../data.ts";
import { replacing } from "../../diagnostics/bag.ts";
import { isSecret, MIN_SECRET_TEXT } from "../../secret-pattern.ts";
import type { Expression, Span } from "../../syntax/ast.ts";
import { childrenOf } from "../../syntax/ast.ts";
import { codeName, unicodeEscape } from "../../syntax/chars.ts";
import { declared } from "../model/bodies.ts";
import { isHinted } from "../model/deferred.ts";
import type { Site } from "../model/sites.ts";
import { pointerTo, type ValuePath, visitValue } from "../model/walk-value.ts";
import type { Validation } from "../validation.ts";
import type { Checked } from "./expressions.ts";
import { flowMembers } from "./shape.ts";
import { templateParts } from "./taint.ts";

/** Checks a text of a value that may hold expressions. */
export function checkText(
  ctx: Validation,
  site: Site,
  text: string,
  path: ValuePath | undefined,
  key: string | number | undefined,
): void {
  if (isHarmless(text)) return;
  const name = nameAbove(path, key, site.value) ?? site.name;
  check(ctx, text, name, () => pointerOf(site.pointer, path, key));
}

/** Checks the texts inside an expression. */
export function checkTexts(ctx: Validation, { tree, leaf }: Checked): void {
  if (leaf.source.length < MIN_SECRET_TEXT || !QUOTE.test(leaf.source)) return;
  const secret = secretsOf(
    tree,
    () => nameAbove(leaf.path, undefined, undefined) ?? leaf.site.name,
  );
  if (secret.length === 0) return;
  const written = ctx.map.expression(leaf);
  const places = written && literalsOf(written);
  for (const at of places ? secret : [0]) {
    ctx.report("FLOW6001", leaf.pointer, { span: places?.[at]?.node });
  }
}

/** First characters of a text in an expression. */
const QUOTE = /["'`]/;

/** Checks a field that is a URL. */
export function checkUrlField(ctx: Validation, site: Site): void {
  if (!isHinted(site.schemas, "sink", "url")) return;
  const parts = templateParts(site.value);
  const [first] = parts ?? [site.value];
  if (typeof first !== "string" || !CLEAR.test(first)) return;
  checkUrl(ctx, first, site.pointer, (parts?.length ?? 1) > 1);
}

/** Checks all that is no value with expressions. */
export function checkRest(ctx: Validation): void {
  const { graph, model, map } = ctx;
  const rest = (value: unknown, pointer: string, name: string): void => {
    if (value === undefined || !ctx.isReadable(value)) return;
    visitValue(value, {
      text: (text, path, key) => {
        if (isHarmless(text)) return;
        const above = nameAbove(path, key, value) ?? name;
        check(ctx, text, above, () => pointerOf(pointer, path, key));
      },
    });
  };
  if (isObject(graph)) {
    for (const { value, pointer, name } of flowMembers(graph)) rest(value, pointer, name);
  }
  for (const { nodes, edges } of model.bodies) {
    for (const node of nodes) {
      if (!isHarmless(node.id)) rest(node.id, `${node.pointer}/id`, "id");
      const policy = own(node.node, "policy");
      if (policy !== undefined) rest(policy, `${node.pointer}/policy`, "policy");
    }
    for (const it of edges) {
      const meta = own(it.edge, "meta");
      if (meta !== undefined) rest(meta, `${it.pointer}/meta`, "meta");
    }
  }
  for (const { value: input, pointer } of declared(graph, "inputs")) {
    const value = own(input, "default");
    if (own(own(input, "schema"), "format") !== "uri" || typeof value !== "string") continue;
    checkUrl(ctx, value, `${pointer}/default`, false);
  }
  if (map.source !== undefined) checkSource(ctx, map.source);
}

/** Most texts are: too short for a secret, and nothing in them is invisible. */
function isHarmless(text: string): boolean {
  return text.length < MIN_SECRET_TEXT && !DIRECTION.test(text);
}

function check(ctx: Validation, text: string, name: string, pointer: () => string): void {
  if (isSecret(text, name)) ctx.report("FLOW6001", pointer());
  const control = ctx.map.source === undefined ? DIRECTION.exec(text) : null;
  if (control === null) return;
  const parts = { char: codeName(control[0].charCodeAt(0)) };
  ctx.report("FLOW6003", pointer(), { parts });
}

function pointerOf(
  pointer: string,
  path: ValuePath | undefined,
  key: string | number | undefined,
): string {
  return pointerTo(pointer, path) + (key === undefined ? "" : pointerSegment(key));
}

/** The nearest name above a text: of a header, of a member; that of an input for its default. */
function nameAbove(
  path: ValuePath | undefined,
  key: string | number | undefined,
  root: unknown,
): string | undefined {
  let inner: { key: string | number | undefined; isMarker: boolean } = { key, isMarker: false };
  for (let at = path; ; at = at.outer) {
    const { key: name, isMarker } = inner;
    if (typeof name === "string" && !isMarker) {
      const named = name === "default" ? own(at === undefined ? root : at.value, "name") : name;
      if (typeof named === "string") return named;
    }
    if (at === undefined) return undefined;
    inner = at;
  }
}

/** The literal texts of an expression, in order. */
function literalsOf(tree: Expression): readonly { text: string; node: Expression }[] {
  const found: { text: string; node: Expression }[] = [];
  const open = [tree];
  for (let node = open.pop(); node !== undefined; node = open.pop()) {
    if (node.kind === "literal") {
      if (typeof node.value === "string") found.push({ text: node.value, node });
    } else if (node.kind === "template") {
      for (const part of node.parts) if (typeof part === "string") found.push({ text: part, node });
    }
    for (const part of childrenOf(node)) open.push(part);
  }
  return found;
}

/** Which of the literal texts of an expression are secrets. */
function secretsOf(tree: Expression, name: () => string): readonly number[] {
  const secret: number[] = [];
  literalsOf(tree).forEach(({ text }, at) => {
    if (text.length >= MIN_SECRET_TEXT && isSecret(text, name())) secret.push(at);
  });
  return secret;
}

const DIRECTION = /[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/;

/** Controls that stand in the text itself; an escape can be seen and is fine. */
function checkSource(ctx: Validation, source: string): void {
  if (!DIRECTION.test(source)) return;
  const quoted = [...ctx.map.marks.values()]
    .filter(({ start }) => source[start] === '"')
    .sort((a, b) => b.start - a.start || a.end - b.end);
  const around: Span[] = [];
  for (const { index: start, 0: char } of source.matchAll(new RegExp(DIRECTION, "g"))) {
    const span = { start, end: start + 1 };
    while ((quoted.at(-1)?.start ?? start) < start) around.push(quoted.pop() as Span);
    while ((around.at(-1)?.end ?? span.end) <= start) around.pop();
    const smallest = around.at(-1);
    const text = smallest && ctx.map.text(smallest);
    const isBlock = text?.startsWith('"""') ?? false;
    const inComment = text === undefined;
    const spelt = unicodeEscape(char.charCodeAt(0));
    ctx.report("FLOW6003", undefined, {
      parts: { char: codeName(char.charCodeAt(0)) },
      span,
      fix: isBlock
        ? undefined
        : replacing(inComment ? "remove it" : `write ${spelt}`, span, inComment ? "" : spelt),
    });
  }
}

const CLEAR = /^(http|ws):\/\/([^/?#]*)/i;
const LOOPBACK =
  /^(?:[^@]*@)?(?:localhost|[^:]*\.localhost|127(?:\.\d{1,3}){3}|\[::1\])\.?(?::|$)/i;

function checkUrl(ctx: Validation, url: string, pointer: string, isOpen: boolean): void {
  const match = CLEAR.exec(url);
  if (match === null) return;
  const [whole, scheme = "", host = ""] = match;
  if (LOOPBACK.test(host) || (host === "" && isOpen && whole === url)) return;
  const secure = `${scheme.toLowerCase()}s`;
  const span = ctx.map.exact(pointer);
  const text = span && ctx.map.text(span);
  const at = text?.indexOf(scheme) ?? -1;
  const start = (span?.start ?? 0) + at;
  ctx.report("FLOW6004", pointer, {
    parts: { scheme: `${scheme.toLowerCase()}://`, secure },
    fix:
      at === -1
        ? undefined
        : replacing(`write ${secure}`, { start, end: start + scheme.length }, secure),
  });
}
