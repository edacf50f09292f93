/** What the browser is left with, byte by byte. */
import { expect, test } from "vitest";
import { asked, get, type Options, STATE, send } from "./support.ts";

async function answerTo(
  bytes: string,
  options: Options = {},
): Promise<{ head: string; body: string }> {
  const { listener, wanted } = await asked(options);
  const [head = "", ...rest] = (await send(listener.port, bytes)).split("\r\n\r\n");
  await listener.close();
  await wanted;
  return { head, body: rest.join("\r\n\r\n") };
}

const textOf = (body: string): string | undefined => /<p>(.*)<\/p>/.exec(body)?.[1];
const requests = {
  ok: get(`/?code=abc&state=${STATE}`),
  denied: get("/?error=access_denied"),
  notFound: get("/favicon.ico"),
} as const;

test.each([
  ["ok", "200 OK", "The connection succeeded. You can close this tab."],
  ["denied", "400 Bad Request", "Authorization was denied. You can close this tab."],
  ["notFound", "404 Not Found", "There is nothing at this address."],
] as const)("the page %s has status %s and exactly these headers", async (name, status, text) => {
  const { head, body } = await answerTo(requests[name]);
  expect(head.split("\r\n")).toEqual([
    `HTTP/1.1 ${status}`,
    "Content-Type: text/html; charset=utf-8",
    `Content-Length: ${body.length}`,
    "Connection: close",
    "Cache-Control: no-store",
    "Referrer-Policy: no-referrer",
    "X-Content-Type-Options: nosniff",
    "Content-Security-Policy: default-src 'none'; style-src 'unsafe-inline'",
  ]);
  expect(textOf(body)).toBe(text);
});

test("HEAD gets the headers of its page and no body", async () => {
  const head = await answerTo("HEAD / HTTP/1.1\r\n\r\n");
  const got = await answerTo("PUT / HTTP/1.1\r\n\r\n");
  expect(head).toEqual({ head: got.head, body: "" });
});

test("a page holds nothing of the request", async () => {
  const planted = "<script>planted</script>";
  const plants = encodeURIComponent(planted);
  const header = `X-Planted: planted\r\n`;
  for (const target of [
    `/planted?code=${plants}&state=${plants}&iss=planted`,
    `/planted?error=${plants}&error_description=${plants}&state=planted`,
    `/planted/${planted}`,
  ]) {
    const { head, body } = await answerTo(`GET ${target} HTTP/1.1\r\n${header}\r\n`);
    expect(head + body).not.toMatch(/planted|script/);
  }
});

test("a caller's page is plain text, counted in bytes", async () => {
  const page = { title: "Größe", message: `<b>"it's" & done</b> €` };
  const { head, body } = await answerTo(requests.ok, { pages: { ok: page } });
  expect(head).toContain(`\r\nContent-Length: ${body.length}\r\n`);
  const utf8 = Buffer.from(body, "latin1").toString("utf8");
  expect(utf8).toContain("<title>Größe</title>");
  expect(textOf(utf8)).toBe("&#60;b&#62;&#34;it&#39;s&#34; &#38; done&#60;/b&#62; €");
});

test("pages that the caller did not give stay ours", async () => {
  const pages = { ok: { title: "t", message: "m" } };
  const { body } = await answerTo(requests.denied, { pages });
  expect(textOf(body)).toBe("Authorization was denied. You can close this tab.");
});
