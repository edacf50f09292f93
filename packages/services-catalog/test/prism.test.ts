/** Calls of operations to Prism, which knows of the services what is published as OpenAPI, and nothing of our files. */
import { spawn } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { JsonObject, ServiceOperation } from "@millrace/contracts";
import { describeLongWith } from "@millrace/test-support";
import { temporaryFolder } from "@millrace/test-support/folder";
import { expect, onTestFinished, test } from "vitest";
import type { CatalogService } from "../src/index.ts";
import { Requests, SOURCES } from "./openapi.ts";
import { CATALOG, complete, movedTo, runCalls, sampleArgs } from "./support.ts";

/** Starts Prism, which refuses what a document does not allow; answers its address. */
async function startPrism(document: Requests): Promise<string> {
  const file = join(temporaryFolder(), "openapi.json");
  writeFileSync(file, JSON.stringify(document));
  const prism = spawn("prism", ["mock", file, "--port", "0", "--errors"], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  onTestFinished(() => void prism.kill());
  let said = "";
  return new Promise((resolve, reject) => {
    prism.stdout.on("data", (chunk) => {
      said += chunk;
      const url = /listening on (http:\/\/\S+)/.exec(said)?.[1];
      if (url !== undefined) resolve(url);
    });
    prism.once("error", reject);
    prism.once("exit", () => reject(new Error(said)));
  });
}

/** The operations that the document of a service has, with bodies as it has them. */
function operationsOf({ slug, serviceIntegration }: CatalogService): readonly ServiceOperation[] {
  const { without = {}, bodies: contentType } = SOURCES[slug] ?? {};
  return serviceIntegration.operations
    .filter(({ id }) => !Object.hasOwn(without, id))
    .map(({ body, ...operation }) => ({
      ...operation,
      ...(body && { body: { ...body, ...(contentType !== undefined && { contentType }) } }),
    }));
}

/** What a call gives: all that it must, or all that it can, with values that the maker takes. */
function argsOf(slug: string, operation: ServiceOperation, all: boolean): JsonObject {
  const { "*": known = {}, [operation.id]: own = {} } = SOURCES[slug]?.values ?? {};
  const sample = sampleArgs(operation, { all });
  const usual = Object.entries(known).filter(([name]) => Object.hasOwn(sample, name));
  const args = Object.entries({ ...sample, ...Object.fromEntries(usual), ...own });
  return Object.fromEntries(args.filter(([, value]) => value !== null));
}

describeLongWith("prism")("Prism", () => {
  test("takes what each operation sends, with what it must give and with all that it can", async () => {
    const entries = CATALOG.filter(({ slug }) => SOURCES[slug] !== undefined);
    const requests = new Requests();
    for (const entry of entries) {
      expect(requests.add(entry, operationsOf(entry)), `${entry.slug} alone has`).toEqual([]);
    }
    const url = await startPrism(requests);
    // Prism takes any body where it cannot read the schema.
    for (const [method, path] of requests.bodies) {
      const headers = { authorization: "Bearer x", "content-type": "application/json" };
      const answer = await fetch(url + path, { method, headers, body: "7" });
      expect(await answer.text(), `${method} ${path}`).toContain('"location":["body"]');
    }
    for (const entry of entries) {
      const { slug } = entry;
      const operations = operationsOf(entry);
      const calls = operations.flatMap((operation) =>
        [false, true].map((all) => ({
          ...{ slug, operation: operation.id, args: argsOf(slug, operation, all) },
        })),
      );
      const service = complete({
        ...entry,
        serviceIntegration: { ...entry.serviceIntegration, operations },
      });
      const ends = await runCalls(new Map([[slug, movedTo(url, slug, service)]]), calls);
      const refused = calls.flatMap((call, at) =>
        ends[at] === "ok" ? [] : [{ ...call, end: ends[at] }],
      );
      expect(refused, slug).toEqual([]);
    }
  });
});
