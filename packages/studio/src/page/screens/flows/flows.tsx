/** The list of stored flows: the first screen of the page. */
import type { TemplateSummary } from "@millrace/contracts";
import type { ComponentChildren } from "preact";
import { useRef } from "preact/hooks";
import { backend } from "../../backend.ts";
import { Button } from "../../parts/button.tsx";
import { type Column, DataTable } from "../../parts/data-table.tsx";
import { Heading } from "../../parts/heading.tsx";
import { ListView } from "../../parts/list-screen.tsx";
import { Problem } from "../../parts/problem.tsx";
import { SearchField } from "../../parts/search-field.tsx";
import { Time } from "../../parts/time.tsx";
import { VisibleText } from "../../parts/value-view/visible-text.tsx";
import { navigate, placeHref, type ScreenProps } from "../../router.ts";
import { refusal } from "../../state/meta.ts";
import { useAction } from "../../state/use-action.ts";
import { useList } from "../../state/use-list.ts";

const COLUMNS: readonly Column<TemplateSummary>[] = [
  {
    title: "Flow",
    isHead: true,
    cell: ({ slug }) => <a href={placeHref(["flows", slug])}>{slug}</a>,
  },
  {
    title: "Name",
    cell: ({ name, description }) => (
      <span title={description}>
        <VisibleText text={name} />
      </span>
    ),
  },
  { title: "Version", cell: ({ version }) => version },
  { title: "Tags", cell: ({ tags }) => tags.join(", ") },
  { title: "Changed", cell: ({ updatedAt }) => <Time at={updatedAt} /> },
];

/** Stored flows, newest first, with a search; and the ways to add one. */
export function FlowsScreen({ place }: ScreenProps): ComponentChildren {
  const q = place.query.get("q") ?? "";
  const list = useList<TemplateSummary>({
    key: q,
    load: (cursor) =>
      backend.invoke("list_templates", {
        ...(q !== "" && { q }),
        ...(cursor !== undefined && { cursor }),
      }),
  });
  const isEmpty = list.items?.length === 0 && q === "";
  return (
    <>
      <Heading title={isEmpty ? "No flows yet" : "Flows"} />
      <NewFlow />
      {!isEmpty && <SearchField q={q} />}
      <ListView
        list={list}
        empty={
          q === "" ? (
            <p>
              A flow is a list of steps, written as text: call an API, ask a model, ask a person.
              Write one, or import a file that ends in .flow.
            </p>
          ) : (
            <p>No flow has “{q}” in its slug, name or description.</p>
          )
        }
      >
        {(items) => (
          <DataTable name="Flows" columns={COLUMNS} rows={items} keyOf={({ slug }) => slug} />
        )}
      </ListView>
    </>
  );
}

function NewFlow(): ComponentChildren {
  const file = useRef<HTMLInputElement>(null);
  const why = refusal("admin");
  const imported = useAction(async (chosen: File) => {
    const text = await chosen.text();
    const { slug } = await backend.invoke("import_template", { text });
    navigate(placeHref(["flows", slug]));
  });
  return (
    <>
      <div class="actions">
        <Button class="primary" onClick={() => navigate(placeHref(["new"]))}>
          New flow
        </Button>
        <Button disabled={imported.isBusy} refusal={why} onClick={() => file.current?.click()}>
          Import flow
        </Button>
        <input
          ref={file}
          type="file"
          accept=".flow,text/plain"
          hidden
          onChange={(event) => {
            const [chosen] = event.currentTarget.files ?? [];
            if (chosen !== undefined) void imported.run(chosen);
            event.currentTarget.value = "";
          }}
        />
      </div>
      <Problem error={imported.error} />
    </>
  );
}
