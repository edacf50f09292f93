// All cases by name; what a case is says ../rounds.js.
import { script } from "./code-case.js";
import { catalog, catalogAgain, start } from "./list-cases.js";
import { child, inProcess } from "./node-cases.js";
import { lines, port } from "./wire-cases.js";

export const cases = { inProcess, child, catalog, catalogAgain, start, port, lines, script };
