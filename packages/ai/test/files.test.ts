/** Files of an input: through the file policy, and not at all where there is none. */

import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { aiSettings } from "@millrace/ai";
import { createEngine, type EgressPolicy } from "@millrace/engine";
import { createNodeHost } from "@millrace/engine/node";
import { planOf, tempRoot } from "@millrace/test-support/flows";
import { flowOf, scripted } from "@millrace/test-support/models";
import { expect, test } from "vitest";

async function send(part: string, files?: { readonly root: string }) {
  const mock = scripted([{ text: "ok" }]);
  const plan = await planOf(
    flowOf(`input = { parts: [{ type: "file", mediaType: "text/plain", ${part} }] }`),
  );
  const engine = createEngine({
    host: createNodeHost(),
    settings: [aiSettings({ providers: [mock] })],
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

test("a request to a model may hold the largest file that is fetched; what an address refuses to give holds no socket", async () => {
  const policies: EgressPolicy[] = [];
  let isReleased = false;
  const refused = {
    ok: false,
    status: 404,
    url: "",
    headers: new Headers(),
    text: async () => "",
    json: async () => null,
    arrayBuffer: async () => new ArrayBuffer(0),
    body: {
      [Symbol.asyncIterator]: () => ({
        next: async () => ({ done: true, value: undefined }) as const,
        return: async () => {
          isReleased = true;
          return { done: true, value: undefined } as const;
        },
      }),
    },
  };
  const host = {
    ...createNodeHost(),
    openFetch(policy: EgressPolicy) {
      policies.push(policy);
      return async () => refused;
    },
  };
  const part = '{ type: "file", mediaType: "text/plain", url: "https://files.example/a" }';
  const plan = await planOf(flowOf(`input = { parts: [${part}] }`));
  const engine = createEngine({ host, settings: [aiSettings({ providers: [scripted([])] })] });
  const { error } = await engine.run(plan).result;
  await engine.close();
  expect([error?.code, isReleased]).toEqual(["field_invalid", true]);
  const base64 = (20 * 1024 * 1024 * 4) / 3;
  expect(Math.max(...policies.map(({ maxRequestBytes = 0 }) => maxRequestBytes))).toBeGreaterThan(
    base64,
  );
});
