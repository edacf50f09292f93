/**
 * Names under which a model sees tools.
 *   N1  a name has 1 to 64 characters of `A-Z a-z 0-9 _ -`, which every provider takes.
 *   N2  no two tools of a node share one: a clash is a problem that asks the author for `name`.
 */

/** Longest name that every provider takes. */
const MAX_NAME_LENGTH = 64;
/** Characters kept of a longer name: with `_` and eight digits it has the maximum length. */
const KEPT_LENGTH = 55;

export interface NamedTool {
  /** `flow:<slug>`, `action:<adapter>.<action>` or `mcp:<server>/<tool>`. */
  readonly ref: string;
  readonly name?: string | undefined;
}

/** Two tools of a node with one name; `index` is that of the later one. */
export interface NameClash {
  readonly index: number;
  readonly message: string;
}

/** The name of one tool: the author's, else one made from the reference. */
export function toolName({ ref, name }: NamedTool): string {
  const plain = (name ?? nameOf(ref)).replace(/[^A-Za-z0-9_-]/gu, "_");
  return plain.length <= MAX_NAME_LENGTH ? plain : `${plain.slice(0, KEPT_LENGTH)}_${fnv1a(plain)}`;
}

/** Names in the order of the tools, and every clash among them. */
export function toolNames(tools: readonly NamedTool[]): {
  readonly names: readonly string[];
  readonly clashes: readonly NameClash[];
} {
  const names = tools.map(toolName);
  const first = new Map<string, string>();
  const clashes: NameClash[] = [];
  tools.forEach(({ ref }, index) => {
    const name = names[index] as string;
    const before = first.get(name);
    if (before === undefined) first.set(name, ref);
    else {
      const message = `the tools ${before} and ${ref} are both called ${name}; give one of them a name`;
      clashes.push({ index, message });
    }
  });
  return { names, clashes };
}

function nameOf(ref: string): string {
  const [, kind, rest = ""] = /^(flow|action|mcp):(.*)$/s.exec(ref) ?? [];
  if (kind === "flow") return `flow_${rest}`;
  if (kind === "action") return rest.replace(".", "_");
  return kind === "mcp" ? rest.replace("/", "__") : ref;
}

/** FNV-1a over 32 bits as 8 hex digits; the text is ASCII. @see RFC 9923 */
function fnv1a(text: string): string {
  let hash = 0x811c9dc5;
  for (let i = 0; i < text.length; i += 1) {
    hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193);
  }
  return (hash >>> 0).toString(16).padStart(8, "0");
}
