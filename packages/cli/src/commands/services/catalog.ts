/** `millrace services search` and `add`: ready descriptors of well-known services. Nothing here reaches the network. */

import { arg, command, listOf, option } from "../../argv/flags.ts";
import { type CliCommand, flagList, flagText, isOn } from "../../argv/spec.ts";
import { meant } from "../../argv/suggest.ts";
import { usage } from "../../errors.ts";
import { clean } from "../../output/text.ts";
import { CHECK, OUT } from "./import.ts";

/** The catalog is a package of its own, loaded only when it is asked for; its files need no rules. */
const openCatalog = () => import("@millrace/services-catalog/files");

/** Lists the services of the catalog in which all words are found. */
export const searchServices: CliCommand = command(
  "services search",
  "search the ready descriptors of well-known services",
  {
    args: [{ name: "word", summary: "a name, or what it is for (default all)", variadic: true }],
    examples: [
      ["services search", "all of them"],
      ["services search mail", "those that have to do with mail"],
    ],
    async run(input) {
      const { findServices, readCatalog } = await openCatalog();
      const found = findServices(await readCatalog(), input.args);
      const items = found.map(({ slug, title, summary, serviceIntegration, meta }) => ({
        slug,
        title,
        summary,
        scheme: serviceIntegration.auth.scheme,
        operations: serviceIntegration.operations.map(({ id }) => id),
        docs: meta.docs,
      }));
      const { tableLines } = await import("../../output/table.ts");
      const rows = items.map(({ slug, title, summary }) => [slug, title, summary]);
      const data = items.length === 0 ? [] : await tableLines(["SLUG", "TITLE", "SUMMARY"], rows);
      return listOf(
        items,
        data,
        "no ready service has these words; millrace services import makes one of an OpenAPI document",
      );
    },
  },
);

/** Copies a descriptor of the catalog into the project. What a person changed in it is replaced only with `--force`. */
export const addService: CliCommand = command(
  "services add",
  "copy the ready descriptor of a service into the project",
  {
    args: [arg("slug", "name of the service, as search shows it")],
    flags: [
      option("auth", "<name>", "another credential than the usual one, such as token"),
      option("set", "<name=value>", "a value of the descriptor, such as subdomain=acme", {
        multiple: true,
      }),
      CHECK,
      { long: "force", summary: "also replace a file that has something else" },
      OUT,
    ],
    output: "check",
    examples: [
      ["services add github", "writes services/github.json"],
      ["services add github --auth token", "with a token instead of a consent"],
      ["services add github --check", "shows how the file differs from the ready one"],
    ],
    async run(input, io) {
      const slug = input.args[0] as string;
      const { catalogFile } = await openCatalog();
      const entry = await catalogFile(slug);
      if (entry === undefined) throw await noSuchService(slug);
      const auth = flagText(input, "auth");
      const { completeService } = await import("@millrace/services-catalog");
      const { service, problems } = completeService(entry, {
        values: valuesOf(flagList(input, "set")),
        ...(auth !== undefined && { auth }),
      });
      if (service === null) throw usage(clean(problems.join("; ")), hintOf(entry.meta));
      const next = [clean(`${entry.meta.credential} Then: millrace connect ${slug}`)];
      const mayReplace = isOn(input, "force");
      const { addToProject } = await import("./add-to-project.ts");
      return addToProject({ entry: service, diagnostics: [], next, mayReplace }, input, io);
    },
  },
);

function valuesOf(words: readonly string[]): { readonly [name: string]: string } {
  return Object.fromEntries(
    words.map((word) => {
      const at = word.indexOf("=");
      if (at < 1) throw usage(`--set takes name=value, found "${clean(word)}"`);
      return [word.slice(0, at), word.slice(at + 1)];
    }),
  );
}

/** How the values that a descriptor takes are given. */
function hintOf({ values = {} }: { readonly values?: object }): string | undefined {
  const flags = Object.entries(values).map(
    ([name, { example }]: [string, { example: string }]) => `--set ${name}=${example}`,
  );
  return flags.length === 0 ? undefined : `give ${flags.join(" ")}`;
}

async function noSuchService(slug: string) {
  const { findServices, readCatalog } = await openCatalog();
  const all = await readCatalog();
  const near = findServices(all, [slug]).map((service) => service.slug);
  const hint =
    near.length > 0
      ? `did you mean ${near.join(" or ")}?`
      : await meant(
          slug,
          all.map((service) => service.slug),
        );
  return usage(
    `there is no ready service "${clean(slug)}"`,
    hint ??
      "millrace services search lists them; millrace services import makes one of an OpenAPI document",
  );
}
