/** The files of the page for a server: `createServer({ studio: await studioAssets() })`. */
export { type StudioAsset, studioAssets } from "./studio-assets.ts";
