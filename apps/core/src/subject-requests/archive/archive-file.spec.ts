import { archiveFile } from './archive-file.js';
import type { CollectedResource } from './archive-pieces.js';

const RESOURCES: readonly CollectedResource[] = [
  { module: 'core', resource: 'contacts', rows: 2, pieces: [0, 1] },
  { module: 'crm', resource: 'notes', rows: 1, pieces: [2] },
];
const HEAD = { locale: 'en', portable: false, requestId: 'a request', madeAt: new Date() } as const;

/** Rows of which those of one resource are gone after the first, as where an erasure takes them meanwhile. */
const pieces = (gone: string | undefined, times = Infinity) => {
  let asked = 0;
  return {
    resources: () => Promise.resolve([...RESOURCES]),
    async *rowsOf({ resource }: CollectedResource) {
      yield await Promise.resolve(`{"id":"1 of ${resource}"}`);
      if (resource === gone && ++asked >= times) throw new Error('They are gone');
    },
  };
};

const written = async (from: ReturnType<typeof pieces>): Promise<number> => {
  let bytes = 0;
  for await (const piece of archiveFile(HEAD, from)) bytes += piece.length;
  return bytes;
};

describe('the file of an archive', () => {
  it('is written to its end', async () => {
    expect(await written(pieces(undefined))).toBeGreaterThan(500);
  });

  it.each([
    ['its first page', 'contacts', 1],
    ['rows as JSON', 'contacts', 2],
    ['rows as CSV', 'contacts', 3],
    ['rows of the last', 'notes', 3],
  ])('ends with what fails in %s, and nobody else hears of it', async (_, gone, times) => {
    await expect(written(pieces(gone, times))).rejects.toThrow('They are gone');
  });
});
