/** Values of PostgreSQL as JSON and back, without a loss: what a number of JSON cannot hold is a text. */
import type { Json } from "@millrace/contracts";
import pg from "pg";
import { bytesOf, jsonOf } from "./statement.ts";

type Read = (text: string) => Json;

const asText: Read = (text) => text;
const asNumber: Read = (text) => {
  const value = Number(text);
  return Number.isFinite(value) ? value : text; // NaN and the infinities
};
/** Whole numbers beyond 2^53 stay texts. */
const asInteger: Read = (text) => (Number.isSafeInteger(Number(text)) ? Number(text) : text);
/** `2026-11-26 08:00:00.123456+00` in the form of RFC 3339; `infinity` stays as it is. */
const asTime: Read = (text) =>
  text.replace(/^(\d{4,}-\d\d-\d\d) (\d\d:\d\d:\d\d(?:\.\d+)?)(\+00)?/, (_, day, time, zone) =>
    zone === undefined ? `${day}T${time}` : `${day}T${time}Z`,
  );
const asBytes: Read = (text) => Buffer.from(text.slice(2), "hex").toString("base64");

/** Readers by the number of a type; of every other type the text of PostgreSQL is taken. */
const READERS: ReadonlyMap<number, Read> = new Map<number, Read>([
  [16, (text) => text === "t"], // bool
  [17, asBytes], // bytea
  [20, asInteger], // int8
  [21, asNumber], // int2
  [23, asNumber], // int4
  [26, asNumber], // oid
  [114, (text) => JSON.parse(text) as Json], // json
  [700, asNumber], // float4
  [701, asNumber], // float8
  [1114, asTime], // timestamp
  [1184, asTime], // timestamptz
  [3802, (text) => JSON.parse(text) as Json], // jsonb
]);

/** Types of lists with the type of their elements. @see pg_type.dat of PostgreSQL */
const LISTS: ReadonlyMap<number, number> = new Map([
  ...([
    [1000, 16],
    [1001, 17],
    [1016, 20],
    [1005, 21],
    [1007, 23],
    [1028, 26],
  ] as const),
  ...([
    [199, 114],
    [1021, 700],
    [1022, 701],
    [1115, 1114],
    [1185, 1184],
    [3807, 3802],
  ] as const),
  ...([
    [1009, 25],
    [1015, 1043],
    [1231, 1700],
    [1182, 1082],
    [2951, 2950],
    [1014, 1042],
  ] as const),
]);

/** Its declaration says that it is a function. */
const lists = pg.types.arrayParser as unknown as {
  create(text: string, read: Read): { parse(): Json };
};

/** What the driver asks for how to read a type. */
export const types: pg.CustomTypesConfig = {
  getTypeParser: ((type: number) => {
    const element = LISTS.get(type);
    if (element === undefined) return READERS.get(type) ?? asText;
    const read = READERS.get(element) ?? asText;
    return (text: string) => lists.create(text, read).parse();
  }) as pg.CustomTypesConfig["getTypeParser"],
};

/** A parameter as the driver takes it: a list is an array, `{ base64 }` is bytes, any other object is JSON, `{ json }` what it holds. */
export function toParameter(value: Json): unknown {
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) return value.map(toParameter);
  return bytesOf(value) ?? jsonOf(value);
}
