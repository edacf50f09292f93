/** The example of the guide: orders of a database, mailed as a file. */
import { spawnSync } from "node:child_process";
import { cpSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { createRequire } from "node:module";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { notFull, testUnless } from "@millrace/test-support";
import { openChildExtension } from "@millrace/test-support/child-extension";
import { SMTPServer } from "smtp-server";
import { expect, onTestFinished, test } from "vitest";

const at = (path: string) => fileURLToPath(new URL(`../../../${path}`, import.meta.url));
const example = (name: string) => readFileSync(at(`examples/16-orders-by-mail/${name}`), "utf8");

test("16-orders-by-mail mails the orders that are late", { timeout: 60_000 }, async () => {
  const files = mkdtempSync(join(tmpdir(), "orders-by-mail-"));
  // The library of the extension that opens the database.
  const Database = createRequire(at("extensions/sql/package.json"))("libsql");
  const db = new Database(join(files, "orders.db"));
  db.exec(example("orders.sql"));
  db.close();
  let mail = "";
  const server = new SMTPServer({
    disabledCommands: ["STARTTLS"],
    authOptional: true,
    onData(stream, _, done) {
      stream.on("data", (chunk) => {
        mail += String(chunk);
      });
      stream.on("end", () => done());
    },
  });
  await new Promise<void>((ready) => server.listen(0, "127.0.0.1", () => ready()));
  const { port } = server.server.address() as AddressInfo;
  const child = await openChildExtension([at("extensions/mail"), at("extensions/sql")], {
    secrets: {
      DATABASE_URL: `sqlite:${join(files, "orders.db")}`,
      SMTP_URL: `smtp://127.0.0.1:${port}?starttls=off`,
    },
    egress: { allow: [{ host: "127.0.0.1", port }] },
    config: { mail: { from: "shop@shop.example" } },
    files,
  });
  const outputs = await child.run(example("flows/orders-by-mail.flow").replace(/^#.*\n/, ""));
  expect(outputs).toMatchObject({ orders: 2 });
  expect(mail).toContain("Subject: 2 late orders");
  const csv = "id,customer,due\r\n1,Ada,2026-11-02\r\n2,Bob,2026-11-20\r\n";
  expect(mail.replace(/\r\n(?=\S)/g, "")).toContain(Buffer.from(csv).toString("base64"));
  await child.close();
  await new Promise<void>((done) => server.close(() => done()));
  rmSync(files, { recursive: true, force: true });
});

testUnless(notFull)(
  "16-orders-by-mail makes the events that are kept beside it",
  () => {
    const cwd = mkdtempSync(join(tmpdir(), "orders-by-mail-"));
    onTestFinished(() => rmSync(cwd, { recursive: true }));
    for (const part of ["flows", "fixtures"]) {
      cpSync(at(`examples/16-orders-by-mail/${part}`), join(cwd, part), { recursive: true });
    }
    for (const words of [
      ["ext", "add", at("extensions/sql"), "--yes"],
      ["ext", "add", at("extensions/mail"), "--yes"],
      ["test", "flows"],
    ]) {
      const program = [at("packages/cli/bin/millrace.js"), ...words];
      const env = { ...process.env, HOME: cwd, MILLRACE_TRUST_PROJECT: "1" };
      const ended = spawnSync(process.execPath, program, { cwd, encoding: "utf8", env });
      expect(ended.status, ended.stdout + ended.stderr).toBe(0);
    }
  },
  60_000,
);
