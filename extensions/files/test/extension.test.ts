/** CSV and spreadsheets, over real files. */
import { mkdtempSync, readFileSync, rmSync, truncateSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { conformance, createTestHost } from "@millrace/testkit";
import { strToU8, zipSync } from "fflate";
import { afterAll, expect, test } from "vitest";
import extension from "../src/extension.ts";

const filesRoot = mkdtempSync(join(tmpdir(), "millrace-tables-"));
afterAll(() => rmSync(filesRoot, { recursive: true, force: true }));

const t = createTestHost({ extension, files: { root: filesRoot } });
const run = async (type: string, fields: object) => Object(await t.run(type, fields as never));
const file = (name: string, content: string | Uint8Array): string => {
  writeFileSync(join(filesRoot, name), content);
  return name;
};

file("orders.csv", '\ufeffid,city\r\n1,Oslo\r\n2,"Bergen, ""west"""\r\n');
const WORKBOOK = {
  sheets: [
    {
      name: "Orders & more",
      dates: ["due"],
      rows: [
        { id: 1, city: "=1+1", paid: true, due: "2026-01-31" },
        { id: -2.5, city: " Ålesund ", paid: false, due: "2026-02-01T10:30:00" },
      ],
    },
    { name: "Notes", header: false, rows: [["a", null, 3]] },
  ],
};
await run("sheet.write", { path: "orders.xlsx", ...WORKBOOK });

const cases = conformance(extension, {
  fixtures: {
    "csv.read": [
      {
        filesRoot,
        fields: { path: "orders.csv" },
        output: {
          columns: ["id", "city"],
          rows: [
            { id: "1", city: "Oslo" },
            { id: "2", city: 'Bergen, "west"' },
          ],
          more: false,
          bad: [],
          badCount: 0,
        },
      },
    ],
    "csv.write": [
      {
        filesRoot,
        fields: { path: "out.csv", rows: [{ a: "=cmd|' /C calc'!A0", b: -1 }], mode: "replace" },
        output: { path: "out.csv", bytes: 31, rows: 1, escaped: 1 },
      },
    ],
    "sheet.read": [{ filesRoot, fields: { path: "orders.xlsx" } }],
    "sheet.write": [{ filesRoot, fields: { path: "out.xlsx", ...WORKBOOK, mode: "replace" } }],
  },
  package: fileURLToPath(new URL("..", import.meta.url)),
});
for (const each of cases) test(each.name, each.run, 60_000);

test("rows that cannot be read are listed with their lines, and the others are there", async () => {
  const path = file("bad.csv", 'a,b\n1,"x\ny"\n2\n\n3,p"q\n4,5\n6,"open\n7,8\n');
  expect(await run("csv.read", { path })).toEqual({
    columns: ["a", "b"],
    rows: [
      { a: "1", b: "x\ny" },
      { a: "4", b: "5" },
    ],
    more: false,
    bad: [
      { line: 4, problem: "1 cells below 2 names" },
      { line: 6, problem: "a quote in a cell that begins without one" },
      { line: 9, problem: "a quote is not closed before the end of the file" },
    ],
    badCount: 3,
  });
  const noNames = run("csv.read", { path: file("head.csv", 'a,b"c\n1,2\n') });
  await expect(noNames).rejects.toMatchObject({ code: "csv_header" });
  const none = run("csv.read", { path, header: false, where: { a: "1" } });
  await expect(none).rejects.toMatchObject({ code: "field_invalid" });
  const equal = run("csv.read", { path: file("equal.csv", "a,a\n1,2\n") });
  await expect(equal).rejects.toMatchObject({ code: "columns_equal" });
});

test("pages, columns and conditions choose rows; what is too much for one answer is refused by name", async () => {
  const text = Array.from({ length: 30 }, (_, at) => `${at};${at % 2};x\n`).join("");
  const path = file("many.csv", `id;odd;c\n${text}`);
  const of = { path, delimiter: ";", columns: ["id"], where: { odd: "1" } };
  const page = await run("csv.read", { ...of, offset: 1, limit: 2 });
  expect(page).toMatchObject({ rows: [{ id: "3" }, { id: "5" }], more: true });
  expect(await run("csv.read", { ...of, offset: 13, limit: 2 })).toMatchObject({ more: false });
  const refused = (limit: string) => ({
    code: "limit_exceeded",
    cause: { message: expect.stringContaining(`limit ${limit}:`) },
  });
  await expect(run("csv.read", { path, maxRows: 5 })).rejects.toMatchObject(refused("maxRows"));
  await expect(run("csv.read", { path, maxBytes: 50 })).rejects.toMatchObject(refused("maxBytes"));
  const unknown = run("csv.read", { path, delimiter: ";", columns: ["none"] });
  await expect(unknown).rejects.toMatchObject({ code: "column_unknown" });

  const long = file("long.csv", `a\n${`${"x".repeat(900_000)}\n`.repeat(5)}`);
  await expect(run("csv.read", { path: long })).rejects.toMatchObject(refused("answer"));

  // A file of 1 GiB, of which nothing but the beginning takes space on the disk.
  truncateSync(join(filesRoot, file("huge.csv", "a,b\n1,2\n3,4\n")), 1_073_741_824);
  const huge = { path: "huge.csv", limit: 1 };
  expect(await run("csv.read", huge)).toMatchObject({ rows: [{ a: "1", b: "2" }], more: true });
  await expect(run("csv.read", { path: "huge.csv" })).rejects.toMatchObject(refused("row"));
});

test("text is read in the encoding that it has", async () => {
  const utf16 = file("utf16.csv", Buffer.from("\ufeffname\r\nÅse\r\n", "utf16le"));
  expect(await run("csv.read", { path: utf16 })).toMatchObject({ rows: [{ name: "Åse" }] });
  const latin = file("latin.csv", Buffer.from("name\r\nÅse\r\n", "latin1"));
  const rows = [{ name: "Åse" }];
  expect(await run("csv.read", { path: latin, encoding: "latin1" })).toMatchObject({ rows });
  await expect(run("csv.read", { path: latin })).rejects.toMatchObject({ code: "decode_failed" });
});

test("text that a spreadsheet would compute is marked, numbers stay numbers, and it says how many were", async () => {
  const rows = [
    "=1+1",
    "+4",
    "@x",
    "-a",
    "\tx",
    "\rx",
    "＝1",
    "a;=1",
    "-5",
    -5,
    "a=b",
    null,
    true,
  ].map((v) => [v]);
  const path = "formulas.csv";
  expect(await run("csv.write", { path, rows })).toMatchObject({ escaped: 7, rows: 13 });
  const lines = [
    '"\'=1+1"',
    '"\'+4"',
    '"\'@x"',
    '"\'-a"',
    '"\'\tx"',
    '"\'\rx"',
    '"\'＝1"',
    '"a;=1"',
    "-5",
    "-5",
    "a=b",
    '""',
    "true",
  ];
  expect(readFileSync(join(filesRoot, path), "utf8")).toBe(`${lines.join("\r\n")}\r\n`);
  await run("csv.write", { path: "kept.csv", rows: [["=1"]], formulas: "keep" });
  const more = { path: "kept.csv", rows: [{ a: 2, b: "x,y" }], mode: "append", header: false };
  await run("csv.write", more);
  expect(readFileSync(join(filesRoot, "kept.csv"), "utf8")).toBe('=1\r\n2,"x,y"\r\n');
});

test("rows that are added come below their names, on a line of their own", async () => {
  const path = file("grown.csv", "a,b\r\n1,2");
  await run("csv.write", { path, mode: "append", rows: [{ b: 4, a: 3 }, { b: 5 }] });
  expect(readFileSync(join(filesRoot, path), "utf8")).toBe("a,b\r\n1,2\r\n3,4\r\n,5\r\n");
  const other = run("csv.write", { path, mode: "append", rows: [{ c: 1 }] });
  await expect(other).rejects.toMatchObject({
    code: "field_invalid",
    cause: { message: 'rows: the file has no column "c"; it has "a", "b"' },
  });
  const filler = "1,2\n".repeat(400_000);
  const large = { path: file("large.csv", `a,b\n${filler}3,4`), mode: "append" };
  await run("csv.write", { ...large, rows: [{ b: 6, a: 5 }] });
  expect(readFileSync(join(filesRoot, large.path), "utf8").slice(-10)).toBe("3,4\r\n5,6\r\n");
});

test("a spreadsheet comes back with its types and sheets, and no text of it is a formula", async () => {
  const path = "orders.xlsx";
  expect(await run("sheet.read", { path })).toEqual({
    sheet: "Orders & more",
    sheets: ["Orders & more", "Notes"],
    columns: ["id", "city", "paid", "due"],
    rows: WORKBOOK.sheets[0]?.rows,
    more: false,
    errorCount: 0,
  });
  const notes = await run("sheet.read", { path, sheet: "Notes", header: false });
  expect(notes).toMatchObject({ columns: [], rows: [["a", null, 3]] });
  await expect(run("sheet.read", { path, sheet: "none" })).rejects.toMatchObject({
    code: "sheet_unknown",
  });
});

test("formulas give their values and errors are counted; bombs are refused by the name of a limit", async () => {
  const book = (sheet: string, target = "worksheets/sheet1.xml"): Uint8Array =>
    zipSync({
      "xl/workbook.xml": strToU8(
        '<workbook xmlns:r="r"><sheets><sheet name="S" sheetId="1" r:id="rId1"/></sheets></workbook>',
      ),
      "xl/_rels/workbook.xml.rels": strToU8(
        '<Relationships><Relationship Id="rId1" Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/worksheet" Target="TARGET"/></Relationships>'.replace(
          "TARGET",
          target,
        ),
      ),
      [`xl/${target}`]: strToU8(`<worksheet><sheetData>${sheet}</sheetData></worksheet>`),
    });
  const formulas =
    '<row r="1"><c r="A1"><f>1+1</f><v>2</v></c><c r="B1" t="str"><f>x</f><v>=y</v></c><c r="C1" t="e"><v>#DIV/0!</v></c><c r="D1"><v>5</v></c></row>';
  const read = async (content: Uint8Array, more: object = {}) =>
    run("sheet.read", { path: file("made.xlsx", content), header: false, ...more });
  expect(await read(book(formulas))).toMatchObject({ rows: [[2, "=y", null, 5]], errorCount: 1 });
  const refused = (limit: string) => ({
    code: "limit_exceeded",
    cause: { message: expect.stringContaining(`limit ${limit}:`) },
  });
  const far = book('<row r="1048576"><c r="XFD1048576"><v>1</v></c></row>');
  await expect(read(far)).rejects.toMatchObject(refused("maxCells"));
  const bomb = book(`<row r="1"><c r="A1"><v>${"1".repeat(2_000_000)}</v></c></row>`);
  const small = { maxUnpackedBytes: 1_000_000 };
  await expect(read(bomb, small)).rejects.toMatchObject(refused("maxUnpackedBytes"));
  // Parts that are stored and say that they unpack to nothing.
  const stored = Buffer.from(zipSync({ "xl/a.xml": new Uint8Array(2_000_000) }, { level: 0 }));
  stored.writeUInt32LE(0, stored.lastIndexOf("PK\x01\x02") + 24);
  await expect(read(stored, small)).rejects.toMatchObject(refused("maxUnpackedBytes"));
  const unfair = [
    '<row r="1"><c x="r=\'A1\'" r="XFD1048576"><v>1</v></c></row>',
    '<row r="1"><c x="a>" r="XFD1048576"><v>1</v></c></row>',
  ];
  for (const sheet of unfair)
    await expect(read(book(sheet))).rejects.toMatchObject(refused("maxCells"));
  for (const sheet of ['<row><c r="&#88;FD1"/></row>', "<row><c r=A1></c></row>"]) {
    await expect(read(book(sheet))).rejects.toMatchObject({ code: "sheet_invalid" });
  }
  const elsewhere = book('<row r="1048576"><c r="XFD1048576"><v>1</v></c></row>', "other.xml");
  await expect(read(elsewhere)).rejects.toMatchObject(refused("maxCells"));
  const damaged = read(strToU8("no archive"));
  await expect(damaged).rejects.toMatchObject({ code: "sheet_invalid" });
});
