/** The `fetch` of a client: the one of the platform by default, called as platforms want it, and named when it is wrong. */

import { ClientError, createClient } from "@millrace/client";
import { CommandError } from "@millrace/desktop";
import { createHttpTransport } from "@millrace/desktop/http";
import { testWith } from "@millrace/test-support";
import { bundleGuest } from "@millrace/test-support/bundle";
import { launchChromium } from "@millrace/test-support/chromium";
import { serveInWorkerd } from "@millrace/test-support/workerd";
import { expect, onTestFinished, test } from "vitest";
import { useServer } from "./support/browser-guest.ts";
import { HELLO } from "./support/flows.ts";
import { serve } from "./support/server.ts";

/** As browsers and workerd have it: any receiver but the global object is refused. */
function strictFetch(this: unknown, url: string, init?: RequestInit): Promise<Response> {
  if (this !== undefined && this !== globalThis) {
    return Promise.reject(
      new TypeError("Failed to execute 'fetch' on 'Window': Illegal invocation"),
    );
  }
  return fetch(url, init);
}

const failure = (work: Promise<unknown>): Promise<ClientError | CommandError> =>
  work.then(
    () => Promise.reject(new Error("nothing was thrown")),
    (error) => error as ClientError | CommandError,
  );

test.each([
  ["none", undefined],
  ["that of a platform", strictFetch],
])("with %s, commands, runs and channels work", async (_name, given) => {
  const { url } = await serve();
  const options = given === undefined ? { url } : { url, fetch: given };
  const client = createClient(options);
  expect((await client.invoke("get_meta", {})).name).toBe("millrace");
  const kinds: string[] = [];
  for await (const { kind } of client.runFlow({ dsl: HELLO })) kinds.push(kind);
  expect(kinds.at(-1)).toBe("summary");

  const transport = createHttpTransport(options);
  expect(await transport.invoke("get_meta", {})).toMatchObject({ name: "millrace" });
  const leave = await transport.listen("flow:execution", () => {});
  leave();
  transport.close();
});

testWith("chromium")(
  "in a browser, commands, runs and channels work with its fetch, given or not",
  async () => {
    const { url } = await serve();
    const browser = await launchChromium();
    onTestFinished(() => browser.close());
    const page = await browser.newPage();
    // A page of the origin of the server: another origin would be refused.
    await page.route(`${url}/page`, (route) =>
      route.fulfill({ contentType: "text/html", body: "<!doctype html><title>page</title>" }),
    );
    await page.goto(`${url}/page`);
    const bundle = await bundleGuest(new URL("support/browser-guest.ts", import.meta.url));
    await page.addScriptTag({ content: bundle });
    const here = await useServer(url, HELLO, false);
    expect(here).toMatchObject({ name: "millrace", status: "succeeded" });
    for (const isGiven of [false, true]) {
      const args = [url, HELLO, isGiven].map((each) => JSON.stringify(each)).join(", ");
      expect(await page.evaluate(`guest.useServer(${args})`)).toEqual(here);
    }
  },
);

testWith("workerd")(
  "in workerd, commands, runs and channels work with its fetch, given or not",
  async () => {
    const { url } = await serve();
    const bundle = await bundleGuest(new URL("support/browser-guest.ts", import.meta.url));
    const origin = await serveInWorkerd(`${bundle}
      addEventListener("fetch", (event) => event.respondWith((async () => {
        const { url, dsl, isGiven } = await event.request.json();
        return Response.json(await guest.useServer(url, dsl, isGiven));
      })()));`);
    const here = await useServer(url, HELLO, false);
    for (const isGiven of [false, true]) {
      const body = JSON.stringify({ url, dsl: HELLO, isGiven });
      const response = await fetch(origin, { method: "POST", body });
      expect(await response.json()).toEqual(here);
    }
  },
);

const wrong: [name: string, given: unknown, text: string][] = [
  [
    "is bound to something",
    strictFetch.bind({}),
    "threw before a request was sent: Failed to execute",
  ],
  [
    "throws at once",
    () => {
      throw new Error("no proxy");
    },
    "threw before a request was sent: no proxy",
  ],
  [
    "calls what is not there",
    async () => (undefined as never as () => void)(),
    "threw before a request",
  ],
  ["is no function", "fetch", "is not a function"],
  ["answers nothing", async () => undefined, "did not answer with a Response"],
];

test.each(wrong)(
  "a fetch that %s is named, once, and not tried again",
  async (_name, given, text) => {
    const options = { url: "http://127.0.0.1:1", fetch: given as never, retry: { maxTries: 2 } };
    const client = createClient(options);
    const error = await failure(client.invoke("get_meta", {}));
    expect(error).toMatchObject({ code: "bad_fetch", retryable: false });
    expect(error.message).toContain("`options.fetch` ");
    expect(error.message).toContain(text);
    expect(await failure(client.runFlow({ dsl: HELLO }).next())).toMatchObject({
      code: "bad_fetch",
    });
    const told = await failure(createHttpTransport(options).invoke("get_meta", {}));
    expect(CommandError.isInstance(told) && told.message).toContain(text);
  },
);

test("a server that is away is still out of reach", async () => {
  const error = await failure(createClient({ url: "http://127.0.0.1:1" }).invoke("get_meta", {}));
  expect(ClientError.isInstance(error) && error.code).toBe("unreachable");
});
