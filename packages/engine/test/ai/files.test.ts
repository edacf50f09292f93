/** Files of an input: through the file policy, and not at all where there is none. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { createEngine } from "@millrace/engine";
import { createNodeHost } from "@millrace/engine/node";
import { expect, test } from "vitest";
import { planOf } from "../core/support.ts";
import { tempRoot } from "../node/temp-root.ts";
import { scripted } from "./support/model.ts";
import { flowOf } from "./support/run.ts";

async function send(part: string, files?: { readonly root: string }) {
  const mock = scripted([{ text: "ok" }]);
  const plan = await planOf(
    flowOf(`input = { parts: [{ type: "file", mediaType: "text/plain", ${part} }] }`),
  );
  const engine = createEngine({
    host: createNodeHost(),
    providers: [mock],
    ...(files !== undefined && { files }),
  });
  const summary = await engine.run(plan).result;
  await engine.close();
  return { summary, prompt: mock.calls[0]?.prompt };
}

test("a path is read below the operator's folder", async () => {
  const { root } = tempRoot();
  writeFileSync(join(root, "a.txt"), "abc");
  const { prompt } = await send('path: "a.txt"', { root });
  expect(prompt?.[0]?.content).toEqual([{ type: "file", mediaType: "text/plain", data: "YWJj" }]);
  expect((await send('path: "../x"', { root })).summary.error?.code).toBe("file_denied");
});

test.each([
  ['path: "a.txt"', "capability_denied"],
  ['url: "https://127.0.0.1/x"', "egress_denied"],
  ['url: "http://example.com/x"', "field_invalid"],
  ['data: "%%%"', "field_invalid"],
])("%s fails with %s, and no model is asked", async (part, code) => {
  const { summary, prompt } = await send(part);
  expect([summary.error?.code, prompt]).toEqual([code, undefined]);
});
