/** The node types that flows of this server may use, by category. */
import type { CatalogEntry } from "@millrace/contracts";
import type { ComponentChildren } from "preact";
import { backend } from "../../backend.ts";
import { type Column, DataTable } from "../../parts/data-table.tsx";
import { Effect } from "../../parts/effect.tsx";
import { Heading } from "../../parts/heading.tsx";
import { ListView } from "../../parts/list-screen.tsx";
import { Prose } from "../../parts/prose.tsx";
import { SearchField } from "../../parts/search-field.tsx";
import { VisibleText } from "../../parts/value-view/visible-text.tsx";
import { placeHref, type ScreenProps } from "../../router.ts";
import { useList } from "../../state/use-list.ts";
import { EntryState } from "./entry-state.tsx";
import "./catalog.css";

/** Types that are read at once: what a server has without extensions fits. */
const PAGE = 200;

const COLUMNS: readonly Column<CatalogEntry>[] = [
  {
    title: "Type",
    isHead: true,
    cell: ({ type }) => (
      <a href={placeHref(["catalog", type])}>
        <VisibleText text={type} />
      </a>
    ),
  },
  { title: "What it does", cell: (entry) => <Summary entry={entry} /> },
  {
    title: "Effect",
    cell: ({ effect }) => <Effect effect={effect} />,
  },
];

/** Types by category, with a search. */
export function CatalogScreen({ place }: ScreenProps): ComponentChildren {
  const q = place.query.get("q") ?? "";
  const list = useList<CatalogEntry>({
    key: q,
    load: (cursor) =>
      backend.invoke("list_nodes", {
        limit: PAGE,
        ...(q !== "" && { q }),
        ...(cursor !== undefined && { cursor }),
      }),
  });
  return (
    <>
      <Heading title="Catalog" />
      <SearchField q={q} />
      <ListView
        list={list}
        empty={
          q === "" ? (
            <p>This server has no node types.</p>
          ) : (
            <p>
              No node type has “<VisibleText text={q} />” in its name, title, summary or tags.
            </p>
          )
        }
      >
        {(entries) =>
          [...byCategory(entries)].map(([category, own]) => (
            <section key={category} class="catalog-category">
              <h2>
                <VisibleText text={category} />
              </h2>
              <DataTable name={category} columns={COLUMNS} rows={own} keyOf={({ type }) => type} />
            </section>
          ))
        }
      </ListView>
    </>
  );
}

function Summary({ entry }: { readonly entry: CatalogEntry }): ComponentChildren {
  return (
    <>
      <Prose text={entry.summary} />
      <EntryState entry={entry} />
    </>
  );
}

function byCategory(entries: readonly CatalogEntry[]): Map<string, readonly CatalogEntry[]> {
  const categories = [...new Set(entries.map(({ category }) => category))].sort();
  return new Map(
    categories.map((category) => [category, entries.filter((each) => each.category === category)]),
  );
}
