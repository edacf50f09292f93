/** One node type: its fields, what its output has, its ports and effect, and how it is written. */
import type { CatalogEntry, JsonSchema } from "@millrace/contracts";
import type { ComponentChildren } from "preact";
import { backend } from "../../backend.ts";
import { Button } from "../../parts/button.tsx";
import { copyText } from "../../parts/clipboard.ts";
import { type Column, DataTable } from "../../parts/data-table.tsx";
import { effectMeaning } from "../../parts/effect.tsx";
import { Heading } from "../../parts/heading.tsx";
import { Problem } from "../../parts/problem.tsx";
import { Prose } from "../../parts/prose.tsx";
import { VisibleText } from "../../parts/value-view/visible-text.tsx";
import { placeHref, type ScreenProps } from "../../router.ts";
import { useValue } from "../../state/use-value.ts";
import { EntryState } from "./entry-state.tsx";
import { exampleText, type MemberFacts, membersOfSchema, typeOfSchema } from "./member-facts.ts";
import "./catalog.css";

/** The node type of the place. */
export function NodeTypeScreen({ place }: ScreenProps): ComponentChildren {
  const [, type = ""] = place.path;
  const { value: entry, error } = useValue(type, () => backend.invoke("get_node", { type }));
  return (
    <>
      <Heading title={type}>
        <VisibleText text={type} />
      </Heading>
      <p>
        <a href={placeHref(["catalog"])}>All node types</a>
      </p>
      {entry === undefined ? (
        <>
          <Problem error={error} />
          {error === undefined && <p class="muted">Loading…</p>}
        </>
      ) : (
        <Entry entry={entry} />
      )}
    </>
  );
}

function Entry({ entry }: { readonly entry: CatalogEntry }): ComponentChildren {
  const { summary, fields, output, examples } = entry;
  return (
    <>
      <p>
        <Prose text={summary} />
      </p>
      <EntryState entry={entry} />
      <Facts entry={entry} />
      <h2>Fields</h2>
      <Members name="Fields" schema={fields} isOfFields />
      <h2>Output</h2>
      <Members name="Output" schema={output} />
      <h2>Ports</h2>
      <Ports entry={entry} />
      {examples.length > 0 && <h2>{examples.length === 1 ? "Example" : "Examples"}</h2>}
      {examples.map((sample, at) => {
        const text = exampleText(entry, sample);
        const title = typeof sample["title"] === "string" ? sample["title"] : `Example ${at + 1}`;
        return (
          <figure key={text} class="example">
            <figcaption>
              <Prose text={title} />
              <Button
                class="quiet"
                aria-label={`Copy ${title}`}
                onClick={() => void copyText(text)}
              >
                Copy
              </Button>
            </figcaption>
            <pre>
              <VisibleText text={text} />
            </pre>
          </figure>
        );
      })}
    </>
  );
}

function Facts({ entry }: { readonly entry: CatalogEntry }): ComponentChildren {
  const { title, version, category, effect, idempotent, source, requires, tags } = entry;
  const facts: readonly (readonly [string, string])[] = [
    ["Title", title],
    ["Version", `${version}`],
    ["Category", category],
    ["Effect", `${effect}: ${effectMeaning(effect)}`],
    ["Repeated", idempotent === true ? "the same idempotency key has one effect" : ""],
    ["From", "version" in source ? `${source.package} ${source.version}` : source.package],
    [
      "Needs a connection",
      requires.connection === undefined ? "" : `named in the field ${requires.connection}`,
    ],
    ["Needs secrets", requires.secrets.join(", ")],
    ["Tags", tags.join(", ")],
  ];
  return (
    <dl class="type-facts">
      {facts
        .filter(([, text]) => text !== "")
        .map(([name, text]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>
              <VisibleText text={text} />
            </dd>
          </div>
        ))}
    </dl>
  );
}

function Members({
  name,
  schema,
  isOfFields = false,
}: {
  readonly name: string;
  readonly schema: JsonSchema;
  readonly isOfFields?: boolean;
}): ComponentChildren {
  const members = membersOfSchema(schema);
  if (members.length === 0) return <p class="muted">{typeOfSchema(schema)}</p>;
  return (
    <DataTable
      name={name}
      columns={isOfFields ? [NAME, FIELD_TYPE, DEFAULT, ABOUT] : [NAME, TYPE, ABOUT]}
      rows={members}
      keyOf={(member) => member.name}
    />
  );
}

const NAME: Column<MemberFacts> = {
  title: "Name",
  isHead: true,
  cell: ({ name }) => (
    <code>
      <VisibleText text={name} />
    </code>
  ),
};

const TYPE: Column<MemberFacts> = { title: "Type", cell: ({ type }) => type };

const FIELD_TYPE: Column<MemberFacts> = {
  title: "Type",
  cell: ({ type, isRequired }) => (
    <>
      {type}
      {isRequired && <span class="muted">, required</span>}
    </>
  ),
};

const DEFAULT: Column<MemberFacts> = {
  title: "Default",
  cell: ({ standard }) =>
    standard === undefined ? (
      ""
    ) : (
      <code>
        <VisibleText text={standard} />
      </code>
    ),
};

const ABOUT: Column<MemberFacts> = {
  title: "Description",
  cell: ({ description, choices }) => (
    <>
      <Prose text={description} />
      {choices.length > 0 && (
        <>
          {" "}
          One of{" "}
          <code>
            <VisibleText text={choices.join(", ")} />
          </code>
        </>
      )}
    </>
  ),
};

function Ports({
  entry: { ports, portsFrom },
}: {
  readonly entry: CatalogEntry;
}): ComponentChildren {
  return (
    <dl class="type-facts">
      {ports.map(({ name, description = "" }) => (
        <div key={name}>
          <dt>
            <code>
              <VisibleText text={name} />
            </code>
          </dt>
          <dd>
            <Prose text={description} />
          </dd>
        </div>
      ))}
      {portsFrom !== undefined && (
        <div>
          <dt>more</dt>
          <dd>
            One for each name in the field <code>{portsFrom}</code>.
          </dd>
        </div>
      )}
      <div>
        <dt>
          <code>error</code>
        </dt>
        <dd>Is left by when the node has failed.</dd>
      </div>
    </dl>
  );
}
