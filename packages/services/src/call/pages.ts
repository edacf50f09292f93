/**
 * Pages of one GET, gathered.
 *   P1  At most `maxPages` requests, and never the same page twice: a service that names a page again ends the call.
 *   P2  No page lies outside the origin and the base path of the connection.
 */
import type { Json, JsonObject, Pagination } from "@millrace/contracts";
import { NodeError } from "@millrace/contracts";
import { isObject } from "@millrace/contracts/kit";
import { offOrigin, valueAt } from "@millrace/engine/pack";
import { undecodable } from "../refusals.ts";
import { nextLink } from "./link-header.ts";

/** One page as it was answered; header names in lower case. */
export interface Answer {
  readonly status: number;
  readonly headers: { readonly [name: string]: string };
  readonly body: Json;
  /** Where it came from. */
  readonly url: string;
  readonly bytes: number;
}

/** Selector of a page: parameters of the operation, members of its body, or an address that the service gave. */
export type PageTarget =
  | { readonly query: { readonly [name: string]: string } }
  | { readonly body: { readonly [name: string]: string } }
  | { readonly url: string };

export interface Pages {
  readonly last: Answer;
  readonly items: readonly Json[];
  readonly pageCount: number;
  readonly truncated: boolean;
}

export interface PagesOptions {
  readonly maxPages: number;
  readonly maxItems: number | undefined;
  /** Bytes of all answers together. */
  readonly maxBytes: number;
  /** Arguments of the call: its first page. */
  readonly args: JsonObject;
  readonly baseUrl: string;
  readonly fetchPage: (target: PageTarget) => Promise<Answer>;
}

/** Reads pages until there are no more, or as many as asked for. Throws `decode_failed`, `egress_denied`, `output_too_large`. */
export async function collectPages(pagination: Pagination, options: PagesOptions): Promise<Pages> {
  const { maxPages, maxItems = Number.POSITIVE_INFINITY, maxBytes, fetchPage } = options;
  const turner = turnerOf(pagination, options);
  const items: Json[] = [];
  let bytes = 0;
  let target = turner.first;
  for (let pageCount = 1; ; pageCount += 1) {
    const last = await fetchPage(target);
    bytes += last.bytes;
    if (bytes > maxBytes) {
      const text = `the first ${pageCount} pages have more than ${maxBytes} bytes; ask for fewer`;
      throw new NodeError("output_too_large", text, { reason: "limit", sent: true });
    }
    const found = itemsOf(pagination, last.body);
    for (const item of found) items.push(item);
    if (items.length > maxItems) {
      return { last, items: items.slice(0, maxItems), pageCount, truncated: true };
    }
    const next = turner.next(last, found);
    if (next === null || pageCount >= maxPages || items.length === maxItems) {
      return { last, items, pageCount, truncated: next !== null };
    }
    target = next;
  }
}

/** Some services leave the member out where nothing was found; an answer that is no object is another answer. */
function itemsOf({ items = "" }: Pagination, body: Json): readonly Json[] {
  const found = valueAt(body, items);
  if (Array.isArray(found)) return found;
  if (found === undefined && isObject(body)) return [];
  throw undecodable(`a page has no list at "${items}"`);
}

interface Turner {
  readonly first: PageTarget;
  /** The page after `answer`; null: that was the last one. */
  next(answer: Answer, items: readonly Json[]): PageTarget | null;
}

function turnerOf(pagination: Pagination, options: PagesOptions): Turner {
  switch (pagination.kind) {
    case "cursor":
      return byCursor(pagination);
    case "page":
      return byNumber(pagination, options);
    case "offset":
      return byOffset(pagination, options);
    case "link":
      return byLink(pagination, options);
  }
}

function byCursor(pagination: Extract<Pagination, { kind: "cursor" }>): Turner {
  const { param, next, more, of = "answer", in: place = "query" } = pagination;
  const seen = new Set<string>();
  const target = (given: { readonly [name: string]: string }): PageTarget =>
    place === "query" ? { query: given } : { body: given };
  return {
    first: target({}),
    next({ body }, items) {
      if (more !== undefined && !valueAt(body, more)) return null;
      const cursor = valueAt(of === "answer" ? body : (items.at(-1) ?? null), next);
      if (cursor === undefined || cursor === null || cursor === "" || cursor === false) return null;
      if (typeof cursor !== "string" && typeof cursor !== "number") {
        throw undecodable(`the cursor at "${next}" is neither text nor a number`);
      }
      return target({ [param]: once(seen, String(cursor)) });
    },
  };
}

function byNumber(
  { param, start = 1, size = 1 }: Extract<Pagination, { kind: "page" }>,
  { args }: PagesOptions,
): Turner {
  let page = numberOf(args[param]) ?? start;
  return {
    first: { query: { [param]: String(page) } },
    next(_answer, { length }) {
      if (length < size) return null;
      page += 1;
      return { query: { [param]: String(page) } };
    },
  };
}

function byOffset(
  { param, limitParam, limit }: Extract<Pagination, { kind: "offset" }>,
  { args }: PagesOptions,
): Turner {
  let offset = numberOf(args[param]) ?? 0;
  const target = () => ({ query: { [param]: String(offset), [limitParam]: String(limit) } });
  return {
    first: target(),
    next(_answer, { length }) {
      offset += length;
      return length < limit ? null : target();
    },
  };
}

function byLink(
  { next: pointer }: Extract<Pagination, { kind: "link" }>,
  { baseUrl }: PagesOptions,
): Turner {
  const seen = new Set<string>();
  return {
    first: { query: {} },
    next({ body, headers, url }) {
      const link = pointer === undefined ? nextLink(headers["link"] ?? "") : valueAt(body, pointer);
      if (link === undefined || link === null || link === "") return null;
      if (typeof link !== "string") throw undecodable(`the address at "${pointer}" is no text`);
      if (!URL.canParse(link, url))
        throw undecodable("the next page has an address that is no URL");
      const next = new URL(link, url);
      next.hash = "";
      if (!isWithin(next, new URL(baseUrl))) {
        throw offOrigin("the next page lies outside of the service");
      }
      return { url: once(seen, next.href) };
    },
  };
}

/** A page that was named before would be read again and again. */
function once(seen: Set<string>, page: string): string {
  if (seen.has(page)) throw undecodable(`the service names page ${seen.size + 1} a second time`);
  seen.add(page);
  return page;
}

/** Same origin, and the base path or below it. */
function isWithin(url: URL, base: URL): boolean {
  const path = base.pathname.replace(/\/+$/, "");
  return (
    url.origin === base.origin && (url.pathname === path || url.pathname.startsWith(`${path}/`))
  );
}

function numberOf(value: Json | undefined): number | undefined {
  return typeof value === "number" ? value : undefined;
}
