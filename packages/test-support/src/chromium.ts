import { type Browser, chromium } from "playwright-core";
import { fileOf, machinePath } from "./programs.js";

export type { Browser };

/** A Chromium without a sandbox where root runs it: root has none. For tests that need "chromium". */
export function launchChromium(): Promise<Browser> {
  const executablePath = fileOf("chromium");
  if (executablePath === undefined) throw new Error('the test must say testWith("chromium")');
  return chromium.launch({
    executablePath,
    args: process.getuid?.() === 0 ? ["--no-sandbox"] : [],
    env: { ...process.env, PATH: machinePath() }, // it is a script of the shell on some machines
  });
}
