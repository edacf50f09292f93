// `const { name } = await import("@millrace/…")` loads that name, and not everything that the package gives.
const IMPORT = /const \{ ([\w, ]+) \} = await import\("(@millrace\/[^"]+)"\)/g;
const PARTS = /^parts:([\w,]+):(.*)$/;

/** In the place of a package that is loaded: a module with the names that are wanted of it. */
export const namedParts = {
  name: "named-parts",
  transform: (code) =>
    code.replaceAll(IMPORT, (_whole, names, from) => {
      return `const { ${names} } = await import("parts:${names.replaceAll(" ", "")}:${from}")`;
    }),
  async resolveId(source, importer) {
    const [whole, names, from] = PARTS.exec(source) ?? [];
    if (whole === undefined) return null;
    const { id, external } = await this.resolve(from, importer);
    return external ? { id: from, external } : `parts:${names}:${id}`;
  },
  load(id) {
    const [whole, names, path] = PARTS.exec(id) ?? [];
    return whole && { code: `export { ${names} } from ${JSON.stringify(path)};`, moduleType: "js" };
  },
};
