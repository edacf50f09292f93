/**
 * The little of XML that answers of a storage need: texts of elements by name. The answers are flat lists that a machine wrote:
 * no attributes with `>`, no CDATA, no element inside another of its name; an entity that XML does not name stays as it is.
 */

const ENTITIES: ReadonlyMap<string, string> = new Map([
  ["lt", "<"],
  ["gt", ">"],
  ["amp", "&"],
  ["quot", '"'],
  ["apos", "'"],
]);

/** Contents of all elements of a name, as they are written. */
export function elements(xml: string, name: string): readonly string[] {
  const found = xml.matchAll(new RegExp(`<${name}(?:\\s[^>]*)?>([\\s\\S]*?)</${name}>`, "g"));
  return Array.from(found, ([, content = ""]) => content);
}

/** The text of the first element of a name; undefined: there is none. */
export function textIn(xml: string, name: string): string | undefined {
  const content = elements(xml, name)[0];
  return content === undefined ? undefined : unescaped(content);
}

/** XML text of a value. */
export function escaped(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
}

function unescaped(text: string): string {
  return text.replace(/&(#x[0-9a-fA-F]{1,6}|#\d{1,7}|[a-z]+);/g, (whole, entity: string) => {
    if (!entity.startsWith("#")) return ENTITIES.get(entity) ?? whole;
    const code = entity[1] === "x" ? Number.parseInt(entity.slice(2), 16) : Number(entity.slice(1));
    return code > 0x10ffff ? whole : String.fromCodePoint(code);
  });
}
