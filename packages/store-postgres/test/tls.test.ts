import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describeWith } from "@millrace/test-support";
import { makeCertificate } from "@millrace/test-support/certificate";
import { temporaryFolder } from "@millrace/test-support/folder";
import { type PostgresServer, startPostgres } from "@millrace/test-support/postgres";
import { afterAll, beforeAll, expect, test } from "vitest";
import { openDatabase } from "./open.ts";

describeWith("postgres")("the way to a server with a certificate", () => {
  const certificate = makeCertificate();
  let server: PostgresServer;
  beforeAll(async () => {
    server = await startPostgres({ certificate });
  });
  afterAll(() => server.stop());

  const isSealed = async (words: string): Promise<unknown> => {
    const database = await openDatabase({ url: `${server.url}?${words}` });
    const sql = "SELECT ssl FROM pg_stat_ssl WHERE pid = pg_backend_pid()";
    return (await database.get(sql))?.["ssl"];
  };
  const file = (text: string): string => {
    const path = join(temporaryFolder(), "root.pem");
    writeFileSync(path, text);
    return path;
  };

  test("is sealed as `sslmode` says, and open without it", async () => {
    expect(await isSealed("")).toBe(0);
    expect(await isSealed("sslmode=disable")).toBe(0);
    expect(await isSealed("sslmode=require")).toBe(1);
    const root = encodeURIComponent(file(certificate.cert));
    expect(await isSealed(`sslmode=verify-full&sslrootcert=${root}`)).toBe(1);
    expect(await isSealed(`sslmode=verify-ca&sslrootcert=${root}`)).toBe(1);
  });

  test("is refused where the certificate is of somebody else", async () => {
    const root = encodeURIComponent(file(makeCertificate().cert));
    for (const words of ["sslmode=verify-full", `sslmode=verify-full&sslrootcert=${root}`]) {
      await expect(isSealed(words)).rejects.toMatchObject({ code: "store_unavailable" });
    }
    const missing = isSealed("sslmode=verify-full&sslrootcert=/nowhere/root.pem");
    await expect(missing).rejects.toThrow(/cannot be reached: ENOENT|\/nowhere\/root\.pem/);
    await expect(isSealed("sslmode=verify-ca")).rejects.toThrow("sslrootcert");
  });
});
