/** The web page of a server that this command starts: its files, where it is, and the browser that opens it. */

import type { RunningServer, StudioAssets } from "@millrace/server";
import type { CommandIo } from "../../argv/spec.ts";
import { reason } from "../../errors.ts";
import { openBrowser } from "../../open-browser.ts";

/** The files of the page, or why they cannot be read: a server works without them. */
export type PageFiles = { readonly files: StudioAssets } | { readonly problem: string };

/** Reads the page from its own package, which only a server that shows it loads. */
export async function readPage(): Promise<PageFiles> {
  try {
    const { studioAssets } = await import("@millrace/studio");
    return { files: await studioAssets() };
  } catch (error) {
    return { problem: reason(error) };
  }
}

export function pageOf({ url }: Pick<RunningServer, "url">): string {
  return `${url}/studio`;
}

/** Opens the page on this machine. The address never has a token in it: the page asks for one. */
export async function openPage(
  server: Pick<RunningServer, "url" | "address">,
  io: CommandIo,
): Promise<void> {
  const { address } = server.address;
  const isOwn = address === "::1" || address.startsWith("127.");
  const why = !isOwn
    ? "other machines can reach this address"
    : (await openBrowser(pageOf(server), io))
      ? undefined
      : "no program that opens addresses was found";
  if (why !== undefined) await io.err.write(`warning: no browser is opened: ${why}\n`);
}
