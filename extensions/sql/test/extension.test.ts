/** The laws of extensions, and databases of both kinds as a flow sees them. */
import { rmSync } from "node:fs";
import { mkdtemp } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describeWith } from "@millrace/test-support";
import { makeCertificate } from "@millrace/test-support/certificate";
import { type ChildExtension, openChildExtension } from "@millrace/test-support/child-extension";
import { type PostgresServer, startPostgres } from "@millrace/test-support/postgres";
import { conformance, createTestHost, type TestHost } from "@millrace/testkit";
import Database from "libsql";
import pg from "pg";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import extension from "../src/extension.ts";

const folder = fileURLToPath(new URL("..", import.meta.url));
// The secrets of the suite are no addresses; what databases say is below.
const one = [{ fields: { statement: "select 1" }, fails: "sql_address" }];
const many = [{ fields: { statements: [{ statement: "select 1" }] }, fails: "sql_address" }];
const fixtures = { "sql.query": one, "sql.execute": one, "sql.transaction": many };
for (const { name, run } of conformance(extension, { fixtures, package: folder })) {
  test(name, run, 60_000);
}

const HOSTILE = "'; drop table item; --";

/** The code of a failure, with its message. */
const failure = (promise: Promise<unknown>): Promise<string> =>
  promise.then(
    () => "no failure",
    ({ code, message }: { code: string; message: string }) => `${code}: ${message}`,
  );

/** What both kinds of database do; `$` numbers the parameters of a statement. */
function behaves(open: () => Promise<{ url: string; more?: string }>, $: (n: number) => string) {
  let t: TestHost;
  beforeAll(async () => {
    const { url } = await open();
    const config = { sql: { databases: { other: "DATABASE_URL_2" } } };
    t = createTestHost({ extension, secrets: { DATABASE_URL: url, DATABASE_URL_2: url }, config });
    await t.run("sql.execute", {
      statement: "create table item (id integer primary key, name text)",
    });
  });

  test("a parameter is only data, and rows come back as they went in", async () => {
    const insert = `insert into item (id, name) values (${$(1)}, ${$(2)}) returning id`;
    expect(await t.run("sql.execute", { statement: insert, parameters: [1, HOSTILE] })).toEqual({
      rows: [{ id: 1 }],
      rowCount: 1,
    });
    const select = {
      statement: `select name from item where name = ${$(1)}`,
      parameters: [HOSTILE],
    };
    const found = { rows: [{ name: HOSTILE }], rowCount: 1 };
    expect(await t.run("sql.query", select)).toEqual(found);
    expect(await t.run("sql.query", { ...select, database: "other" })).toEqual(found);
  });

  test("a query cannot change anything, and no statement ends the transaction of its node", async () => {
    const query = (statement: string) => failure(t.run("sql.query", { statement }));
    expect(await query("with x as (select 1) delete from item")).toMatch(/^sql_read_only: /);
    for (const statement of ["delete from item", "/* x */ copy item to program 'true'"]) {
      expect(await query(statement)).toMatch(/a query begins with SELECT/);
    }
    // PostgreSQL and SQLite do not agree where such a comment ends.
    for (const comment of ["/* /* */ select */ call p()", "-- \rcopy (\nselect 1) to 'x'"]) {
      expect(await query(comment)).toMatch(/the first comment/);
    }
    for (const statement of ["/* x */ commit", "-- x\n Begin", ";rollback"]) {
      expect(await failure(t.run("sql.execute", { statement }))).toMatch(
        /is no statement of a node/,
      );
    }
    const count = await t.run("sql.query", { statement: "select count(*) as n from item" });
    expect(count).toEqual({ rows: [{ n: 1 }], rowCount: 1 });
  });

  test("a transaction happens whole or not at all", async () => {
    const insert = (id: number) => ({
      statement: `insert into item (id, name) values (${$(1)}, ${$(2)})`,
      parameters: [id, null],
    });
    const twice = t.run("sql.transaction", { statements: [insert(7), insert(7)] });
    expect(await failure(twice)).toMatch(/^sql_constraint: /);
    const statements = [insert(8), insert(9), { statement: "delete from item where id > 7" }];
    const { results } = Object(await t.run("sql.transaction", { statements }));
    expect(results.map(({ rowCount }: { rowCount: number }) => rowCount)).toEqual([1, 1, 2]);
    const left = await t.run("sql.query", { statement: "select id from item" });
    expect(left).toMatchObject({ rows: [{ id: 1 }] });
  });

  test("what goes beyond a limit or cannot be told apart fails, and says what to do", async () => {
    const rows = { statement: "select 1 as n union all select 2 union all select 3", maxRows: 2 };
    expect(await failure(t.run("sql.query", rows))).toBe(
      "sql_too_large: more than 2 rows: add LIMIT, or set maxRows",
    );
    expect(await failure(t.run("sql.query", { ...rows, maxRows: 3, maxBytes: 10 }))).toBe(
      "sql_too_large: more than 10 bytes: select less, or set maxBytes",
    );
    const same = t.run("sql.query", { statement: "select 1 as a, 2 as a" });
    expect(await failure(same)).toMatch(/^sql_columns: two columns are called a/);
    const wrong = t.run("sql.query", { statement: "select nothing from nowhere" });
    expect(await failure(wrong)).toMatch(/^sql_statement: /);
    for (const [statement, parameters] of [
      [`select ${$(1)} as a`, []],
      ["select 1 as a", [1]],
    ] as const) {
      expect(await failure(t.run("sql.query", { statement, parameters }))).toMatch(/^sql_value: /);
    }
    const two = t.run("sql.query", { statement: "select 1; drop table item" });
    expect(await failure(two)).toMatch(/^sql_statement: .*multiple commands/);
    const named = t.run("sql.query", { statement: "select 1", database: "third" });
    expect(await failure(named)).toBe(
      'sql_database: no database is called "third"; "databases" names other',
    );
  });
}

describe("SQLite", () => {
  let home: string;
  let file: string;
  beforeAll(async () => {
    home = await mkdtemp(join(tmpdir(), "millrace-sql-"));
    file = join(home, "shop.db");
    const db = new Database(file);
    db.exec("create table made (x)");
    db.close();
  });
  afterAll(() => rmSync(home, { recursive: true, force: true }));

  behaves(
    async () => ({ url: `sqlite:${file}` }),
    () => "?",
  );

  test("values are as exact as JSON can be, and a file that is not there stays away", async () => {
    const t = createTestHost({ extension, secrets: { DATABASE_URL: `sqlite:${file}` } });
    const statement =
      "select 9007199254740993 as big, 0.5 as half, x'00ff' as raw, ? as yes, ? as data";
    const parameters = [true, { base64: "AP8=" }];
    expect(await t.run("sql.query", { statement, parameters })).toMatchObject({
      rows: [{ big: "9007199254740993", half: 0.5, raw: "AP8=", yes: 1, data: "AP8=" }],
    });
    const quiet = `select ';?$:' as "a?", ? as [b;c] /* ? ; */ -- ?; @\n;`;
    expect(
      await t.run("sql.query", { statement: quiet, parameters: [{ json: [1] }] }),
    ).toMatchObject({
      rows: [{ "a?": ";?$:", "b;c": "[1]" }],
    });
    for (const name of ["$1", ":a", "@a", "?1"]) {
      expect(
        await failure(t.run("sql.query", { statement: `select ${name}`, parameters: [1] })),
      ).toBe("sql_statement: parameters of SQLite are written ?");
    }
    const trigger = `create trigger keep after insert on item begin
      select case when 1 then 2 end; update item set name = ';end; x' where id = new.id; end`;
    const twice = t.run("sql.execute", { statement: `${trigger}; drop table item` });
    expect(await failure(twice)).toMatch(/^sql_statement: multiple commands/);
    await t.run("sql.execute", { statement: `${trigger}; -- the end\n` }); // it was not made before
    await t.run("sql.execute", { statement: "drop trigger keep" });
    const none = createTestHost({ extension, secrets: { DATABASE_URL: `sqlite:${home}/none.db` } });
    expect(await failure(none.run("sql.execute", { statement: "select 1" }))).toBe(
      "sql_unavailable: the file of the database cannot be opened",
    );
  });
});

describeWith("postgres")("PostgreSQL", () => {
  const authority = makeCertificate();
  const ca = authority.cert;
  let server: PostgresServer;
  let url: string;
  /** By a name that the certificate of the server has, with a password that no message may show. */
  let sealed: string;
  let child: ChildExtension;
  beforeAll(async () => {
    const certificate = makeCertificate({ hosts: ["localhost"], signer: authority });
    server = await startPostgres({ certificate });
    url = server.url;
    const { port } = new URL(url);
    sealed = `postgres://postgres:canary-7f3a@localhost:${port}/postgres?sslmode=verify-full`;
    child = await openChildExtension(folder, {
      secrets: { DATABASE_URL: sealed },
      egress: { allow: ["localhost", "127.0.0.1"].map((host) => ({ host, port: Number(port) })) },
      config: { sql: { ca } },
    });
  });
  afterAll(async () => {
    await child?.close();
    await server?.stop();
  });

  behaves(
    async () => ({ url }),
    (n) => `$${n}`,
  );

  test("values are as exact as JSON can be", async () => {
    const t = createTestHost({ extension, secrets: { DATABASE_URL: url } });
    const statement = `select 9007199254740993::int8 as big, count(*) as n, 1.10::numeric as price,
      'NaN'::float8 as nan, timestamptz '2026-11-26 09:00:00.123456+01' as at, date '2026-02-03' as day,
      '\\x00ff'::bytea as raw, '{"a": [1]}'::jsonb as data, true as yes, null::text as nothing,
      array[1.10, 2]::numeric[] as prices, array['a', null] as names, interval '1 day 2 hours' as long,
      $1::jsonb ->> 'k' as json, $2::bytea as bytes, 3 = any($3::int[]) as has,
      $4::jsonb as list, $5::jsonb as none`;
    const parameters = [{ k: "v" }, { base64: "AP8=" }, [1, 3], { json: [1] }, { json: [] }];
    const { rows } = Object(await t.run("sql.query", { statement, parameters }));
    expect(rows[0]).toEqual({
      ...{ big: "9007199254740993", n: 1, price: "1.10", nan: "NaN", day: "2026-02-03" },
      ...{ at: "2026-11-26T08:00:00.123456Z", raw: "AP8=", data: { a: [1] }, yes: true },
      ...{ nothing: null, prices: ["1.10", "2"], names: ["a", null], long: "P1DT2H" },
      ...{ json: "v", bytes: "AP8=", has: true, list: [1], none: [] },
    });
    const plain = "postgres://app:pw@db.example/shop";
    const open = createTestHost({ extension, secrets: { DATABASE_URL: plain } });
    expect(await failure(open.run("sql.query", { statement }))).toMatch(
      /^sql_address: DATABASE_URL needs \?sslmode=verify-full/,
    );
    const slow = t.run("sql.query", { statement: "select pg_sleep(60)", timeoutMs: 50 });
    expect(await failure(slow)).toMatch(/^timeout: .*statement timeout/);
  });

  test("a certificate is trusted for its host alone, and by its CA alone", async () => {
    const connect = (address: string, config = {}) => {
      const secrets = { DATABASE_URL: address };
      const t = createTestHost({ extension, secrets, config: { sql: config } });
      const statement = "select ssl from pg_stat_ssl where pid = pg_backend_pid()";
      return t.run("sql.query", { statement });
    };
    for (const config of [{}, { ca: makeCertificate().cert }]) {
      expect(await failure(connect(sealed, config))).toMatch(
        /^sql_tls: the database at localhost has a certificate of a CA that is not known \([A-Z_]+\): set "ca" in the configuration to the certificate of its CA$/,
      );
    }
    const other = sealed.replace("localhost", "127.0.0.1");
    expect(await failure(connect(other, { ca }))).toMatch(
      /^sql_tls: the database at 127.0.0.1 has a certificate for other hosts \([A-Z_]+\): use a host that it names$/,
    );
    expect(await failure(connect(`${sealed}&sslrootcert=/etc/ca.pem`))).toBe(
      'sql_address: DATABASE_URL has sslrootcert, a file that is not read: "ca" of the configuration takes the certificates of a CA as PEM',
    );
    const unchecked = await connect(sealed.replace("verify-full", "require"));
    expect(unchecked).toMatchObject({ rows: [{ ssl: true }] });
  });

  test("no parameter of another driver makes a connection less safe than sslmode says", async () => {
    const plain = sealed.replace("?sslmode=verify-full", "");
    const connect = async (parameters: string, config = {}): Promise<unknown> => {
      const secrets = { DATABASE_URL: `${plain}?${parameters}` };
      const t = createTestHost({ extension, secrets, config: { sql: config } });
      const statement = "select ssl from pg_stat_ssl where pid = pg_backend_pid()";
      const { rows } = Object(await t.run("sql.query", { statement }));
      return rows[0].ssl;
    };
    const other = { ca: makeCertificate().cert };
    for (const ssl of ["0", "false", "no-verify", "true&ssl=0"]) {
      for (const at of [`sslmode=verify-full&ssl=${ssl}`, `ssl=${ssl}&sslmode=verify-full`]) {
        expect(await failure(connect(at, other))).toBe(
          "sql_address: DATABASE_URL has an ssl that is not sslmode=verify-full: leave ssl out, sslmode says how the connection is sealed",
        );
      }
    }
    expect(await failure(connect("ssl=no-verify", other))).toMatch(/^sql_address: .*has an ssl/);
    expect(await failure(connect("sslmode=disable&ssl=true"))).toMatch(/^sql_address: /);
    for (const name of [
      "sslnegotiation=direct",
      "uselibpqcompat=true",
      "host=127.0.0.1",
      "port=1",
    ]) {
      expect(await failure(connect(`sslmode=verify-full&${name}`, other))).toContain(
        `sql_address: DATABASE_URL has ${name.split("=")[0]}, which is not read: sslmode says how`,
      );
    }
    for (const same of ["sslmode=verify-full&ssl=true", "ssl=true", "ssl=1"]) {
      expect(await failure(connect(same, other))).toMatch(/^sql_tls: /);
      expect(await connect(same, { ca })).toBe(true);
    }
    expect(await failure(connect("ssl=true"))).toMatch(/^sql_tls: /);
    expect(await connect("ssl=true&sslmode=require")).toBe(true);
    for (const open of ["ssl=false", "ssl=0&sslmode=disable"])
      expect(await connect(open)).toBe(false);
  });

  test("in a process of its own a query runs over TLS, an address that is not allowed is refused, a cancelled node ends on the server", async () => {
    const rows = await child.run(
      'node q: sql.query {\nstatement = "select ssl from pg_stat_ssl where pid = pg_backend_pid()"\n}\noutput rows = q.rows',
    );
    expect(rows).toEqual({ rows: [{ ssl: true }] });
    const cancelled = new AbortController();
    const mark = "select pg_sleep(600), 'of a node that is cancelled'";
    const ended = child.run(`node q: sql.query {\nstatement = "${mark}"\n}`, cancelled.signal);
    const client = new pg.Client(url);
    await client.connect();
    const active = async () => {
      const text = "select 1 from pg_stat_activity where query = $1 and state = 'active'";
      return (await client.query(text, [mark])).rowCount;
    };
    await expect.poll(active).toBe(1);
    cancelled.abort();
    expect(await ended).toMatchObject({ code: "cancelled" });
    await expect.poll(active).toBe(0);
    await client.end();
    const other = await openChildExtension(folder, { secrets: { DATABASE_URL: url } });
    const refused = await other.run('node q: sql.query {\nstatement = "select 1"\n}');
    await other.close();
    expect(refused).toMatchObject({
      code: "egress_denied",
      message: expect.stringContaining(
        "private-address: the egress policy does not permit 127.0.0.1",
      ),
    });
    expect(JSON.stringify(refused)).not.toContain(url);
  });
});
