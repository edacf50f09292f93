// Import circles: groups of source files each of which imports every other one, directly or through others. Type imports and
// dynamic imports count: a circle is a circle for its reader. Run alone it prints every circle of every package.
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join, relative, resolve, sep } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";

const SPECIFIER = /(?:\bfrom|\bimport|\bimport\s*\()\s*["'](\.[^"']+)["']/g;

/** The circles below a folder of sources, the largest first; each is a sorted list of paths relative to the folder. */
export function circlesOf(folder) {
  if (!existsSync(folder)) return [];
  const files = readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && /\.(?:tsx?|js)$/.test(entry.name))
    .map((entry) => join(entry.parentPath ?? entry.path, entry.name));
  const imports = new Map(files.map((file) => [file, importsOf(file)]));
  return components(imports)
    .map((circle) => circle.map((file) => relative(folder, file).split(sep).join("/")).sort())
    .sort((a, b) => b.length - a.length);
}

function importsOf(file) {
  const code = readFileSync(file, "utf8")
    .replace(/\/\*[\s\S]*?\*\//g, "")
    .replace(/^\s*\/\/.*$/gm, "");
  return [...code.matchAll(SPECIFIER)].map(([, path]) => resolve(dirname(file), path));
}

/** The strongly connected components of more than one file, or of a file that imports itself (Tarjan, without recursion). */
function components(imports) {
  const found = [];
  const states = new Map();
  const stack = [];
  for (const start of imports.keys()) {
    if (states.has(start)) continue;
    const work = [{ file: start, next: 0 }];
    while (work.length > 0) {
      const at = work.at(-1);
      if (!states.has(at.file)) {
        states.set(at.file, { index: states.size, low: states.size, isOpen: true });
        stack.push(at.file);
      }
      const state = states.get(at.file);
      const target = imports.get(at.file)[at.next];
      at.next += 1;
      if (target !== undefined) {
        const seen = states.get(target);
        if (seen === undefined) {
          if (imports.has(target)) work.push({ file: target, next: 0 });
        } else if (seen.isOpen) state.low = Math.min(state.low, seen.low);
        continue;
      }
      work.pop();
      const parent = work.at(-1);
      if (parent !== undefined) {
        const above = states.get(parent.file);
        above.low = Math.min(above.low, state.low);
      }
      if (state.low !== state.index) continue;
      const circle = stack.splice(stack.indexOf(at.file));
      for (const file of circle) states.get(file).isOpen = false;
      if (circle.length > 1 || imports.get(at.file).includes(at.file)) found.push(circle);
    }
  }
  return found;
}

if (process.argv[1] && import.meta.url === pathToFileURL(process.argv[1]).href) {
  const packages = fileURLToPath(new URL("../packages", import.meta.url));
  for (const name of readdirSync(packages)) {
    for (const circle of circlesOf(join(packages, name, "src"))) {
      process.stdout.write(`${name}: ${circle.length} files\n  ${circle.join("\n  ")}\n`);
    }
  }
}
