type Read<Value> = (ids: readonly string[]) => Promise<ReadonlyMap<string, Value>>;

interface Wait<Value> {
  resolve: (value: Value | null) => void;
  reject: (error: unknown) => void;
}

/**
 * Gathers the ids that are asked for at once, as the rows of a page do, and reads them together: `most` a call. An id of
 * which nothing was read is null.
 */
export function batchedReads<Value>(most: number, read: Read<Value>): (id: string) => Promise<Value | null> {
  let waiting = new Map<string, Wait<Value>[]>();
  const readAll = (): void => {
    const all = [...waiting];
    waiting = new Map();
    for (let at = 0; at < all.length; at += most) void readSome(all.slice(at, at + most), read);
  };
  return (id) =>
    new Promise((resolve, reject) => {
      // Once all rows that are drawn together have asked.
      if (waiting.size === 0) setTimeout(readAll, 0);
      waiting.set(id, [...(waiting.get(id) ?? []), { resolve, reject }]);
    });
}

async function readSome<Value>(
  asked: (readonly [string, Wait<Value>[]])[],
  read: Read<Value>,
): Promise<void> {
  try {
    const found = await read(asked.map(([id]) => id));
    for (const [id, waits] of asked) for (const { resolve } of waits) resolve(found.get(id) ?? null);
  } catch (error) {
    for (const [, waits] of asked) for (const { reject } of waits) reject(error);
  }
}
