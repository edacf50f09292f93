/** The files of the web page, and the paths under which they are. */

/** One file of the page, ready to be sent. */
export interface StudioAsset {
  readonly body: Uint8Array;
  /** The same as Brotli, for a client that accepts it. */
  readonly br?: Uint8Array;
  /** The same as gzip. */
  readonly gzip?: Uint8Array;
  /** Its media type. */
  readonly type: string;
  /** A strong entity tag, with its quotes. */
  readonly etag: string;
  /** Its name says what is in it, so it never changes. */
  readonly immutable: boolean;
}

/** The files of the page by their path: `/studio` and those below `/studio/assets/`. `studioAssets()` of `@millrace/studio` reads them. */
export type StudioAssets = ReadonlyMap<string, StudioAsset>;

/** Where the page is. */
export const STUDIO = "/studio";

/** Whether a path is one of the page, which needs no token. */
export function isStudioPath(path: string): boolean {
  return path === STUDIO || path.startsWith(`${STUDIO}/assets/`);
}

/** Whether a client is a browser that a person looks at. */
export function wantsPage(accept: string | undefined): boolean {
  return accept?.includes("text/html") ?? false;
}
