/** The person's browser. */
import { spawn } from "node:child_process";
import type { CliIo } from "../io.ts";

/** The program that opens a URL, and the words before it. No shell: it would split a URL at `&`. */
function opener(platform: NodeJS.Platform): readonly [string, ...string[]] {
  if (platform === "darwin") return ["open"];
  if (platform === "win32") return ["rundll32", "url.dll,FileProtocolHandler"];
  return ["xdg-open"];
}

/** Opens an http or https URL; resolves to whether a program took it. Nothing of ours is in its environment. */
export function openBrowser(url: string, io: CliIo): Promise<boolean> {
  if (!/^https?:\/\//i.test(url)) return Promise.resolve(false);
  const [program, ...words] = opener(process.platform);
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
