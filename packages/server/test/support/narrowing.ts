/**
 * What a new OpenAPI document takes away from an older one. Version 1 only grows: a caller that did everything right by the
 * old document does it right by the new one, and finds in every answer what it found before.
 */

type Value = unknown;
type Members = { readonly [name: string]: Value };

/** What may change without changing what a caller relies on. */
const WORDS = new Set(["description", "summary", "title", "info", "examples", "tags"]);
/** Bounds that a newer document may raise, and those that it may lower. */
const CEILINGS = new Set(["maximum", "maxLength", "maxItems", "maxProperties"]);
const FLOORS = new Set(["minimum", "minLength", "minItems", "minProperties"]);
/** Members whose appearance refuses what was taken before. */
const REFUSING = new Set([
  ...CEILINGS,
  ...FLOORS,
  "pattern",
  "format",
  "enum",
  "const",
  "type",
  "not",
  "allOf",
  "oneOf",
  "anyOf",
  "$ref",
  "propertyNames",
]);

/** One sentence for each thing that is gone or narrower; empty: the new document only adds. */
export function narrowings(older: Value, newer: Value, at = ""): string[] {
  if (older === newer) return [];
  if (Array.isArray(older) && Array.isArray(newer)) return compareLists(older, newer, at);
  if (isMembers(older) && isMembers(newer)) return compareMembers(older, newer, at);
  return [`${at} was ${JSON.stringify(older)} and is ${JSON.stringify(newer)}`];
}

function compareMembers(older: Members, newer: Members, at: string): string[] {
  const found: string[] = [];
  for (const [name, value] of Object.entries(older)) {
    if (WORDS.has(name) && typeof value !== "object") continue;
    const place = `${at}/${name}`;
    if (!Object.hasOwn(newer, name)) {
      // A rule that is gone takes more; a part that is gone is missing.
      if (!REFUSING.has(name) && name !== "required" && name !== "additionalProperties") {
        found.push(`${place} is gone`);
      }
    } else if (name === "required" && Array.isArray(value)) {
      found.push(...compareDemands(value, newer, place));
    } else found.push(...compareMember(name, value, newer[name], place));
  }
  for (const name of Object.keys(newer)) {
    if (Object.hasOwn(older, name)) continue;
    const isSchema = "type" in older || "properties" in older || Object.keys(older).length === 0;
    if (isSchema && REFUSING.has(name) && !at.endsWith("/properties")) {
      found.push(`${at}/${name} is a new rule`);
    }
    if (name === "required" && newer[name] !== false) found.push(`${at} requires more`);
  }
  return found;
}

function compareMember(name: string, older: Value, newer: Value, at: string): string[] {
  if (CEILINGS.has(name) && typeof older === "number") {
    return (newer as number) < older ? [`${at} fell from ${older} to ${newer}`] : [];
  }
  if (FLOORS.has(name) && typeof older === "number") {
    return (newer as number) > older ? [`${at} rose from ${older} to ${newer}`] : [];
  }
  if (name === "required" && older === false && newer === true) return [`${at} is now true`];
  if (name === "required" && typeof older === "boolean") return [];
  if (name === "parameters" && Array.isArray(older)) return compareParameters(older, newer, at);
  return narrowings(older, newer, at);
}

/** A member with a default is in every answer, and whoever asks may leave it out. */
function compareDemands(older: readonly Value[], { required, properties }: Members, at: string) {
  const demanded = (Array.isArray(required) ? required : []).filter((each) => {
    const schema = isMembers(properties) ? properties[`${each}`] : undefined;
    return !older.includes(each) && !(isMembers(schema) && Object.hasOwn(schema, "default"));
  });
  return demanded.map((each) => `${at} has ${each} too`);
}

function compareParameters(older: Value, newer: Value, at: string): string[] {
  const byName = (list: Value) =>
    new Map((list as Members[]).map((each) => [`${each["in"]} ${each["name"]}`, each]));
  const [before, after] = [byName(older), byName(newer)];
  const lost = [...before].flatMap(([name, parameter]) =>
    after.has(name)
      ? narrowings(parameter, after.get(name), `${at}/${name}`)
      : [`${at}/${name} is gone`],
  );
  const demanded = [...after]
    .filter(([name, parameter]) => !before.has(name) && parameter["required"] === true)
    .map(([name]) => `${at}/${name} is a new demand`);
  return [...lost, ...demanded];
}

/** A list of words may grow; one of schemas keeps each of its members in its place. */
function compareLists(older: readonly Value[], newer: readonly Value[], at: string): string[] {
  if (older.every((each) => typeof each !== "object")) {
    return older.filter((each) => !newer.includes(each)).map((each) => `${at} has lost ${each}`);
  }
  return older.flatMap((each, i) => narrowings(each, newer[i], `${at}/${i}`));
}

function isMembers(value: Value): value is Members {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
