/** Where this machine has a Chromium: on the path, or where its makers put it. */
import { accessSync, constants } from "node:fs";
import { delimiter, join } from "node:path";

const NAMES = ["chromium", "chromium-browser", "google-chrome-stable", "google-chrome"];
const PLACES = [
  "/usr/bin",
  "/usr/lib/chromium",
  "/snap/bin",
  "/Applications/Chromium.app/Contents/MacOS",
  "/Applications/Google Chrome.app/Contents/MacOS",
];

/** The program's path; null when there is none. */
export function findChromium(path: string = process.env["PATH"] ?? ""): string | null {
  const folders = [...path.split(delimiter), ...PLACES].filter((folder) => folder !== "");
  const files = folders.flatMap((folder) =>
    [...NAMES, "Chromium", "Google Chrome"].map((name) => join(folder, name)),
  );
  return files.find(isProgram) ?? null;
}

function isProgram(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
