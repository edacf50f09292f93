/** Names of files that are being written and have not taken their place. */

/** A name that no flow writes by chance. */
export function temporaryName(random: Uint8Array): string {
  return `.millrace-${Buffer.from(random).toString("hex")}.tmp`;
}

/** Left behind by a crash at worst; lists leave them out. */
export function isTemporary(name: string): boolean {
  return /^\.millrace-[0-9a-f]{16}\.tmp$/.test(name);
}
