/** Canonical text made uncanonical: comments, empty lines, other blanks, other line ends. */
import type { Random } from "./generate.ts";

const COMMENTS: readonly string[] = ["", " c", "#", "  spaced", " ${x}", ' "', " é 👍", "!", " }"];

/** Where a line stands: outside block strings, inside one, or closing one. */
type Stand = "code" | "block" | "fence";

/** Lines of a canonical text. A canonical block opens at the end of a line and closes at the start of one. */
function linesOf(text: string): { line: string; stand: Stand }[] {
  let fence = "";
  return text.split("\n").map((line) => {
    let stand: Stand = "code";
    if (fence !== "") {
      const start = line.trimStart();
      stand = start.startsWith(fence) && start[fence.length] !== '"' ? "fence" : "block";
    }
    if (stand !== "block") fence = /"{3,}$/.exec(line.trimEnd())?.[0] ?? "";
    if (stand === "fence" && line.trim() === fence) fence = "";
    return { line, stand };
  });
}

/** Comments on lines of their own and behind items, and empty lines, wherever the language takes them. */
export function decorate(text: string, r: Random): string {
  const lines: string[] = [];
  for (const { line, stand } of linesOf(text)) {
    if (stand === "code") {
      while (r.chance(0.15)) lines.push(r.chance(0.5) ? "" : `  #${r.pick(COMMENTS)}`);
    }
    const opens = /"{3,}$/.test(line) && (stand === "code" || /[^" ]/.test(line));
    const takes = stand !== "block" && !opens && line !== "";
    lines.push(takes && r.chance(0.15) ? `${line} #${r.pick(COMMENTS)}` : line);
  }
  return lines.join("\n");
}

/** Other blanks: indentation, numbers of empty lines, line ends. The meaning and the canonical form stay. */
export function reblank(text: string, r: Random): string {
  const lines: string[] = [];
  const crlf = r.chance(0.5);
  for (const { line, stand } of linesOf(text)) {
    if (stand !== "code") lines.push(line);
    else if (line.trim() === "") lines.push(...r.list(2, () => r.pick(["", "  ", "\t"])), "");
    else
      lines.push(
        r.pick(["", " ", "\t", "      "]) + line.trimStart() + r.pick(["", "", " ", "\t"]),
      );
  }
  return lines.join(crlf ? "\r\n" : "\n");
}

/** Every comment of a canonical or decorated text. */
export function commentsIn(text: string): string[] {
  return linesOf(text.replaceAll("\r\n", "\n"))
    .filter(({ stand }) => stand !== "block")
    .flatMap(({ line, stand }) => {
      const code = stand === "fence" ? line.replace(/^\s*"+/, "") : line;
      const at = commentStart(code);
      return at === -1 ? [] : [code.slice(at + 1).trimEnd()];
    });
}

/** Where the comment of a line begins; strings and their holes lie within each other, the innermost last. */
function commentStart(line: string): number {
  const open: ("string" | "hole")[] = [];
  for (let at = 0; at < line.length; at += 1) {
    const char = line[at];
    if (open.at(-1) === "string") {
      if (char === "\\") at += 1;
      else if (char === '"') open.pop();
      else if (char === "$" && line[at + 1] === "{") {
        open.push("hole");
        at += 1;
      }
    } else if (char === '"') open.push("string");
    else if (char === "{" && open.length > 0) open.push("hole");
    else if (char === "}" && open.length > 0) open.pop();
    else if (char === "#") return at;
  }
  return -1;
}
