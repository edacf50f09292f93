/** A misspelt option is refused, with the name that was meant, and one with which nothing can be sent is named. */
import { inspect } from "node:util";
import { ClientError, createClient } from "@millrace/client";
import { expect, test } from "vitest";

const url = "http://127.0.0.1:1";
const any = (options: object): never => options as never;

test.each<[name: string, call: () => unknown, unknown: string, meant: string]>([
  ["createClient", () => createClient(any({ url, tokn: "" })), "tokn", "token"],
  [
    "invoke",
    () => createClient({ url }).invoke("get_meta", {}, any({ signl: 1 })),
    "signl",
    "signal",
  ],
  [
    "runFlow",
    () => createClient({ url }).runFlow({ dsl: "" }, any({ signl: 1 })),
    "signl",
    "signal",
  ],
  ["runEvents", () => createClient({ url }).runEvents("r", any({ kind: [] })), "kind", "kinds"],
])("%s", async (_name, call, unknown, meant) => {
  const error = await (async () => call())().catch((thrown: unknown) => thrown);
  expect(String(error)).toContain(`unknown option "${unknown}"; did you mean "${meant}"?`);
});

test("where nothing is near, the options there are are listed", () => {
  expect(() => createClient(any({ url, zzzzzz: 1 }))).toThrow("there are url, token, fetch,");
});

const SECRET = "s3cr3t-of-somebody";
test.each([
  ["an address without its scheme", { url: "127.0.0.1:6455" }, "http://127.0.0.1:6455"],
  ["a name without its scheme", { url: "localhost:6455" }, "http://127.0.0.1:6455"],
  ["a port that is none", { url: `http://u:${SECRET}@h:99999` }, "`options.url` must be"],
  ["a password in the URL", { url: `http://u:${SECRET}@127.0.0.1:1` }, "a user or password"],
  ["a line end in the token", { url, token: `a\n${SECRET}` }, "`options.token`"],
  ["a token with a dash of a text program", { url, token: `–${SECRET}` }, "`options.token`"],
])("%s is named, not quoted, and not tried again", async (_name, options, text) => {
  const client = createClient({ ...options, retry: { maxTries: 2 } });
  for (const work of [client.invoke("get_meta", {}), client.runEvents("r").next()]) {
    const error = await work.catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ code: "bad_fetch", retryable: false });
    expect(ClientError.isInstance(error) && error.message).toContain(text);
    expect(inspect(error)).not.toContain(SECRET);
  }
});

test("a URL that is no text is refused at once", () => {
  expect(() => createClient(any({}))).toThrow("`options.url` must be a text");
});

test("a fetch that reads the body of its answer is named, and not tried again", async () => {
  const asked: string[] = [];
  const fetch = async (to: string): Promise<Response> => {
    const answer = new Response("{}", { status: asked.push(to) > 1 ? 200 : 503 });
    await answer.text();
    return answer;
  };
  const client = createClient({ url, fetch, retry: { maxTries: 2, maxDelayMs: 1 } });
  for (const work of [client.runEvents("r").next(), client.invoke("get_meta", {})]) {
    const error = await work.catch((thrown: unknown) => thrown);
    const message = "`options.fetch` did not answer with a Response";
    expect(error).toMatchObject({ code: "bad_fetch", retryable: false, message });
  }
  expect(asked).toHaveLength(2);
});
