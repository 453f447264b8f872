import { PreviewSlots } from './preview-slots.js';

const held = () => {
  const { promise, resolve } = Promise.withResolvers<void>();
  return { work: () => promise, end: resolve };
};

describe('previews at once', () => {
  it('are two of an organization and four in all, and come free again however they end', async () => {
    const slots = new PreviewSlots();
    const works = ['a', 'a', 'b', 'b'].map((organization) => {
      const work = held();
      return { ...work, done: slots.hold(organization, work.work) };
    });
    await expect(slots.hold('a', () => Promise.resolve())).rejects.toMatchObject({
      code: 'rate_limited',
      members: { scope: 'organization' },
    });
    await expect(slots.hold('c', () => Promise.resolve())).rejects.toMatchObject({
      code: 'rate_limited',
      members: { scope: 'platform' },
    });
    for (const { end, done } of works) {
      end();
      await done;
    }
    await expect(slots.hold('a', () => Promise.reject(new Error('failed')))).rejects.toThrow('failed');
    for (const organization of ['a', 'b', 'c'])
      expect(await slots.hold(organization, () => Promise.resolve(1))).toBe(1);
  });
});
