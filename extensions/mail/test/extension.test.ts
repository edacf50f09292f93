/** The laws of extensions, and messages as a real server gets them from a process of its own. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { makeCertificate } from "@millrace/test-support/certificate";
import { openChildExtension } from "@millrace/test-support/child-extension";
import { conformance, createTestHost } from "@millrace/testkit";
import { SMTPServer } from "smtp-server";
import { expect, test } from "vitest";
import extension from "../src/extension.ts";

const folder = fileURLToPath(new URL("..", import.meta.url));
const fields = { from: "a@b.example", to: ["c@d.example"], subject: "s", text: "t" };
const fixtures = {
  "mail.send": [
    { fields, fails: "mail_server" },
    { fields: { ...fields, subject: "a\r\nBcc: x@y.example" }, fails: "mail_header" },
  ],
};
for (const { name, run } of conformance(extension, { fixtures, package: folder })) {
  test(name, run, 60_000);
}

test("what is no address, or too much, is refused before anybody is connected to", async () => {
  const t = createTestHost({ extension });
  const failure = (more: object) =>
    t.run("mail.send", { ...fields, ...more }).then(String, ({ code }: { code: string }) => code);
  expect(await failure({ to: ["c@d.example, x@y.example"] })).toBe("mail_address");
  expect(await failure({ cc: ["nobody"] })).toBe("mail_address");
  expect(await failure({ replyTo: "a@b.example\nX: y" })).toBe("mail_header");
  expect(await failure({ maxBytes: 1, text: "two" })).toBe("mail_too_large");
  const bare = createTestHost({ extension, secrets: { SMTP_URL: "smtp://a:50%off@b.example" } });
  await expect(bare.run("mail.send", fields)).rejects.toMatchObject({
    code: "mail_server",
    cause: { message: expect.stringContaining("write it as %25") },
  });
});

test("a message goes by STARTTLS and by TLS where the certificate is of a CA that is known, and for the host", async () => {
  const authority = makeCertificate();
  const certificate = makeCertificate({ hosts: ["localhost"], signer: authority });
  const got: unknown[] = [];
  for (const secure of [false, true]) {
    const server = new SMTPServer({
      ...{ secure, ...certificate },
      onAuth: ({ username }, { secure: isSealed }, done) => {
        got.push(isSealed);
        done(null, { user: String(username) });
      },
      onData: (stream, _, done) => stream.on("end", () => done()).resume(),
    });
    server.on("error", () => {});
    await new Promise<void>((ready) => server.listen(0, "127.0.0.1", () => ready()));
    const { port } = server.server.address() as AddressInfo;
    const send = (host: string, config: { readonly ca?: string }) => {
      const SMTP_URL = `smtp${secure ? "s" : ""}://app:canary-7f3a@${host}:${port}`;
      const t = createTestHost({ extension, secrets: { SMTP_URL }, config: { mail: config } });
      return t.run("mail.send", fields).then(
        (sent) => Object(sent).accepted,
        ({ code, message, retryable }) => `${code} ${retryable}: ${message}`,
      );
    };
    const ca = authority.cert;
    expect(await send("localhost", { ca })).toEqual(["c@d.example"]);
    for (const config of [{}, { ca: makeCertificate().cert }]) {
      expect(await send("localhost", config)).toMatch(
        /^mail_tls false: localhost has a certificate of a CA that is not known \([A-Z_]+\): set "ca" in the configuration to the certificate of its CA$/,
      );
    }
    expect(await send("127.0.0.1", { ca })).toMatch(
      /^mail_tls false: 127.0.0.1 has a certificate for other hosts \([A-Z_]+\): use a host that it names$/,
    );
    await new Promise<void>((done) => server.close(() => done()));
  }
  expect(got).toEqual([true, true]);
});

test("a message arrives whole, and what a server says decides whether it is tried again", async () => {
  const got: { from: string; to: readonly string[]; text: string }[] = [];
  const server = new SMTPServer({
    disabledCommands: ["STARTTLS"],
    allowInsecureAuth: true,
    onAuth: ({ username, password }, _, done) =>
      password === "p@ss-7f3a" ? done(null, { user: String(username) }) : done(new Error("no")),
    onRcptTo({ address }, _, done) {
      const status = /^(\d{3})@/.exec(address)?.[1];
      if (status === undefined) return done();
      done(Object.assign(new Error("not now"), { responseCode: Number(status) }));
    },
    onData(stream, { envelope }, done) {
      let text = "";
      stream.on("data", (chunk) => {
        text += String(chunk);
      });
      stream.on("end", () => {
        const from = envelope.mailFrom === false ? "" : envelope.mailFrom.address;
        got.push({ from, to: envelope.rcptTo.map(({ address }) => address), text });
        done();
      });
    },
  });
  await new Promise<void>((ready) => server.listen(0, "127.0.0.1", () => ready()));
  const { port } = server.server.address() as AddressInfo;
  const files = mkdtempSync(join(tmpdir(), "millrace-mail-"));
  writeFileSync(join(files, "report.csv"), "a,b\n1,2\n");
  const open = (url: string) =>
    openChildExtension(folder, {
      secrets: { SMTP_URL: url },
      egress: { allow: [{ host: "127.0.0.1", port }] },
      config: { mail: { from: "Shop <shop@b.example>" } },
      files,
    });
  const login = `app:p%40ss-7f3a@127.0.0.1:${port}`;
  const node = (to: string, more = "") =>
    `node m: mail.send {\nto = ["${to}"]\nsubject = "Grüße"\ntext = "plain"\n${more}\n}\noutput sent = m`;
  const child = await open(`smtp://${login}?starttls=off`);
  const more =
    'html = "<b>rich</b>"\nbcc = ["hidden@d.example"]\nattachments = [{ path: "report.csv" }]';
  const { sent } = await child.run(node("c@d.example", more));
  expect(sent).toMatchObject({ accepted: ["c@d.example", "hidden@d.example"], rejected: [] });
  const [{ text = "", ...envelope } = {}] = got as Partial<(typeof got)[number]>[];
  expect(envelope).toEqual({ from: "shop@b.example", to: ["c@d.example", "hidden@d.example"] });
  expect(text).toContain(`Message-ID: ${(sent as { messageId: string }).messageId}`);
  for (const part of ["plain", "<b>rich</b>", "filename=report.csv", "YSxiCjEsMgo="]) {
    expect(text).toContain(part);
  }
  expect(text).not.toContain("hidden@");
  expect(await child.run(node("550@d.example"))).toMatchObject({ code: "mail_rejected" });
  expect(await child.run(node("450@d.example"))).toMatchObject({ code: "mail_deferred" });
  await child.close();
  const strict = await open(`smtp://${login}`);
  expect(await strict.run(node("c@d.example"))).toMatchObject({ code: "mail_tls" });
  await strict.close();
  const wrong = await open(`smtp://app:wrong-secret@127.0.0.1:${port}?starttls=off`);
  const refused = await wrong.run(node("c@d.example"));
  expect(refused).toMatchObject({ code: "mail_login" });
  expect(JSON.stringify(refused)).not.toContain("wrong-secret");
  await wrong.close();
  await new Promise<void>((done) => server.close(() => done()));
  rmSync(files, { recursive: true, force: true });
}, 60_000);
