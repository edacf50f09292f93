/** The page of node types, from the catalog of core. */
import type { CatalogEntry } from "@millrace/contracts";
import { exampleText } from "../../src/commands/explain/index.ts";
import { coreEntries } from "../../src/run/core-catalog.ts";
import { code, members, page, table, WRITTEN } from "./markdown.ts";

export function nodesPage(): string {
  const entries = coreEntries();
  return page(
    "# Node types",
    WRITTEN,
    "`millrace explain TYPE` prints the same of one type. Every type also has the port `error`, and the policies of the guide.",
    table(
      ["Type", "Effect", ""],
      entries.map(({ type, effect, summary }) => [
        `[${code(type)}](#${type.replaceAll(".", "")})`,
        effect,
        summary,
      ]),
    ),
    ...entries.map(section),
  );
}

function section(entry: CatalogEntry): string {
  const { type, summary, ports, portsFrom, fields, output, examples, deprecated } = entry;
  const names = [
    ...ports.map(({ name }) => code(name)),
    ...(portsFrom ? [`those of \`${portsFrom}\``] : []),
    "`error`",
  ];
  const [sample] = examples;
  return page(
    `## ${type}`,
    deprecated === undefined ? summary : `${summary} Deprecated: ${deprecated}`,
    `Ports: ${names.join(", ")}.`,
    members(fields) === "" ? undefined : `Fields:\n\n${members(fields)}`,
    members(output) === "" ? undefined : `Output:\n\n${members(output)}`,
    sample === undefined ? undefined : `\`\`\`text\n${exampleText(entry, sample)}\n\`\`\``,
  ).trimEnd();
}
