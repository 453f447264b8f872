import type { Problem } from '@customer-platform/problem-json';
import { expectChildrenShare } from '@customer-platform/testing';
import { DkimKeyMaker, KEYS_AT_ONCE } from './dkim-key-maker.js';

const of = (organizationId: string) => ({ organizationId, organization: {} });

describe('DkimKeyMaker', () => {
  it('lets no organization take the places of the others', async () => {
    const maker = new DkimKeyMaker();
    const one = await maker.rsa();
    maker.rsa = () => Promise.resolve(one);
    const many = await Promise.allSettled([
      ...Array.from({ length: 12 }, () => maker.make(of('one'))),
      maker.make(of('another')),
    ]);
    const refused = many.flatMap((each) => (each.status === 'rejected' ? [each.reason as Problem] : []));
    expect(many.map(({ status }) => status).indexOf('rejected')).toBe(10);
    expect(refused.map(({ code, members }) => [code, members])).toEqual(
      Array(2).fill(['rate_limited', { scope: 'organization' }]),
    );
    expect(many.at(-1)?.status).toBe('fulfilled');
    await expect(maker.make(of('one'))).resolves.toHaveProperty('ed25519');
  });

  it('lets no more wait than are made soon', async () => {
    const maker = new DkimKeyMaker();
    const one = await maker.rsa();
    maker.rsa = () => Promise.resolve(one);
    const made = await Promise.allSettled(Array.from({ length: 51 }, (_, at) => maker.make(of(String(at)))));
    expect(made.map(({ status }) => status).indexOf('rejected')).toBe(50);
    expect((made[50] as PromiseRejectedResult).reason).toMatchObject({ members: { scope: 'platform' } });
  });

  it('makes no more for a tenant that founds further organizations', async () => {
    const maker = new DkimKeyMaker();
    const one = await maker.rsa();
    maker.rsa = () => Promise.resolve(one);
    await expectChildrenShare(KEYS_AT_ONCE, (asking) => maker.make(asking));
  });
});
