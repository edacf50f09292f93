/** Commands of the catalog: which node types there are. No code of a node type runs for them. */
import type { CatalogEntry, CommandName } from "@millrace/contracts";
import { Answer, etagOf, wire } from "../commands/index.ts";
import { ProblemError } from "../errors.ts";
import type { CommandHandler } from "../ports.ts";

// Entries never change, and hashing one costs more than everything else that its request needs.
const etags = new WeakMap<CatalogEntry, string>();

function etagOfEntry(entry: CatalogEntry): string {
  let etag = etags.get(entry);
  if (etag === undefined) {
    etag = etagOf(entry);
    etags.set(entry, etag);
  }
  return etag;
}

function matches(entry: CatalogEntry, q: string): boolean {
  const text = q.toLowerCase();
  return [entry.type, entry.title, entry.summary, ...entry.tags].some((field) =>
    field.toLowerCase().includes(text),
  );
}

/** Handlers of the catalog commands. */
export const nodeHandlers: readonly (readonly [CommandName, CommandHandler])[] = [
  wire("list_nodes", ({ q, category, limit, cursor }, { app, host }) => {
    const filter = { list: "nodes", q: q ?? null, category: category ?? null };
    const after = cursor === undefined ? "" : String(app.cursors.decode(cursor, filter));
    const entries = host.registry
      .entries()
      .filter(
        (entry) =>
          entry.type > after &&
          (q === undefined || matches(entry, q)) &&
          (category === undefined || entry.category === category),
      );
    const items = entries.slice(0, limit);
    const last = items.at(-1);
    const more = entries.length > items.length && last !== undefined;
    const page = { items, nextCursor: more ? app.cursors.encode(last.type, filter) : null };
    return new Answer(page, { headers: { ETag: etagOf(items.map(etagOfEntry)) } });
  }),
  wire("get_node", ({ type }, { host }) => {
    // The newest version is the last one of its type.
    const entry = host.registry.entries().findLast((candidate) => candidate.type === type);
    if (entry === undefined) throw new ProblemError("not_found", { members: { resource: "node" } });
    return new Answer(entry, { headers: { ETag: etagOfEntry(entry) } });
  }),
];
