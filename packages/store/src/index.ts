/** One list of public names. */
export {};
