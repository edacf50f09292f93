/** Folder of the examples: those of the repository; in what is published, the copies beside the code. */
export const EXAMPLES: URL = new URL("../../../../examples/", import.meta.url);
