/** Opens an address in the browser of the person. */

import { spawn } from "node:child_process";
import type { CliIo } from "./output/io.ts";

/** Programs that open a URL, by platform. No shell: it would split a URL at `&`. */
const OPENERS: { readonly [platform: string]: readonly [string, ...string[]] } = {
  darwin: ["open"],
  win32: ["rundll32", "url.dll,FileProtocolHandler"],
};

/** Opens an http or https URL; resolves to whether a program took it. Nothing of ours is in its environment. */
export function openBrowser(url: string, io: Pick<CliIo, "env">): Promise<boolean> {
  if (!/^https?:\/\//i.test(url)) return Promise.resolve(false);
  const [program, ...words] = OPENERS[process.platform] ?? ["xdg-open"];
  const env = Object.fromEntries(
    Object.entries(io.env).filter(([name]) => !name.startsWith("MILLRACE_")),
  );
  return new Promise((resolve) => {
    const child = spawn(program, [...words, url], { stdio: "ignore", detached: true, env });
    child.once("error", () => resolve(false));
    child.once("spawn", () => resolve(true));
    child.unref();
  });
}
