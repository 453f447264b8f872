import { PreviewSlots } from './preview-slots.js';

const held = () => {
  const { promise, resolve } = Promise.withResolvers<void>();
  return { work: () => promise, end: resolve };
};

const of = (id: string, tenant?: string) => ({
  organizationId: id,
  organization: { id, status: 'active' as const, settings: {}, ...(tenant ? { tenant_id: tenant } : {}) },
});

describe('previews and explanations at once', () => {
  it('are two of a tenant with all below it and four in all, and come free again however they end', async () => {
    const slots = new PreviewSlots();
    const callers = [of('a', 'a'), of('a1', 'a'), of('b1', 'b'), of('b2', 'b')];
    const works = callers.map((caller) => {
      const work = held();
      return { ...work, done: slots.hold(caller, work.work) };
    });
    for (const further of [of('a', 'a'), of('a2', 'a'), of('b', 'b')])
      await expect(slots.hold(further, () => Promise.resolve())).rejects.toMatchObject({
        code: 'rate_limited',
        members: { scope: 'organization' },
      });
    for (const further of [of('c', 'c'), of('root')])
      await expect(slots.hold(further, () => Promise.resolve())).rejects.toMatchObject({
        code: 'rate_limited',
        members: { scope: 'platform' },
      });
    for (const { end, done } of works) {
      end();
      await done;
    }
    await expect(slots.hold(of('a', 'a'), () => Promise.reject(new Error('failed')))).rejects.toThrow(
      'failed',
    );
    for (const caller of [...callers, of('c', 'c'), of('root')])
      expect(await slots.hold(caller, () => Promise.resolve(1))).toBe(1);
  });
});
