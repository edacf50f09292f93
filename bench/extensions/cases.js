// All cases by name; what a case is says ../rounds.js.
import { catalog, start } from "./list-cases.js";
import { child, inProcess } from "./node-cases.js";
import { lines, port } from "./wire-cases.js";

export const cases = { inProcess, child, catalog, start, port, lines };
