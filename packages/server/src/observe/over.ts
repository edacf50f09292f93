/** The same object with other members in place of some of its own; it stays alive behind them. */
export function over<T extends object>(target: T, members: Partial<T>): T {
  return new Proxy(target, {
    get(_target, name) {
      if (Object.hasOwn(members, name)) return members[name as keyof T];
      const member: unknown = Reflect.get(target, name, target);
      return typeof member === "function" ? member.bind(target) : member;
    },
  });
}
