/** Packages of extensions, and a project that uses them. */
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { scratch } from "./cli.ts";
import { inside, type Told } from "./inside.ts";

/** Source of an extension with the type `<id>.hello`, plain data as every copy of the contracts makes it. */
export const codeOf = (id: string, head = ""): string => `${head}
const mark = (kind, value) => Object.freeze({ ...value, apiVersion: 1, [Symbol.for("millrace.extension.v1")]: kind });
const hello = mark("action", { name: "hello", title: "T", summary: "S", effect: "read", output: { type: "object" },
  fields: { type: "object", properties: { name: { type: "string" } }, required: ["name"], additionalProperties: false },
  run: (fields) => ({ text: "hello " + fields.name }) });
export default mark("extension", { adapters: [mark("adapter", { id: "${id}", title: "T", actions: [hello] })], providers: [], nodeTypes: [], services: [] });
`;

interface Given {
  readonly code?: string;
  readonly manifest?: object;
  readonly file?: object;
}

/** Writes the sources of a package. */
export function write(
  folder: string,
  id: string,
  { code = codeOf(id), manifest = {}, file = {} }: Given = {},
): void {
  const put = (path: string, text: string): void => {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), text);
  };
  put("dist/extension.js", code);
  put(
    "package.json",
    JSON.stringify({
      name: `@acme/${id}`,
      version: "1.0.0",
      type: "module",
      millrace: { apiVersion: 1, entry: "./dist/extension.js", ...manifest },
      ...file,
    }),
  );
}

/** A project folder, and the command in it. */
export function project(): {
  readonly cwd: string;
  readonly call: (...words: string[]) => Promise<Told>;
  readonly json: (name: string) => { [key: string]: unknown };
} {
  const cwd = scratch({
    ".git": "",
    "f.flow": 'flow 1 x\n\nnode a: weather.hello {\n  name = "Ann"\n}\noutput t = a.text\n',
  });
  const { PATH = "" } = process.env;
  const env = { PATH, MILLRACE_TRUST_PROJECT: "1", XDG_DATA_HOME: join(cwd, "data") };
  return {
    cwd,
    call: (...words) => inside(words, { cwd, env }),
    json: (name) => JSON.parse(readFileSync(join(cwd, name), "utf8")) as { [key: string]: unknown },
  };
}
