/** A group that has something due, and what it may be given of a batch. */
export interface Wanting {
  /** Undefined where there is none: what it takes needs no place. */
  readonly transport: string | undefined;
  readonly most: number;
}

/**
 * Divides the free places of each transport among the groups that want them, one by one in the order given: whoever
 * shares a transport with a backlog gets as many of its places as that.
 * @returns of each group how many it takes
 */
export function fairShares(groups: readonly Wanting[], free: (transport: string) => number): number[] {
  const left = new Map<string, number>();
  const taken = groups.map(() => 0);
  for (let given = true; given;) {
    given = false;
    for (const [index, { transport, most }] of groups.entries()) {
      const has = taken[index] ?? 0;
      if (has >= most) continue;
      if (transport !== undefined) {
        const places = left.get(transport) ?? free(transport);
        if (places <= 0) continue;
        left.set(transport, places - 1);
      }
      taken[index] = has + 1;
      given = true;
    }
  }
  return taken;
}
