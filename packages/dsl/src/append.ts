/** Puts elements behind those of a list, however many: spread out as arguments, a hundred thousand overflow the stack. */
export function append<T>(list: T[], more: Iterable<T>): void {
  for (const element of more) list.push(element);
}
