import { expectChildrenShare } from '@customer-platform/testing';
import { UploadSlots, UPLOADS_AT_ONCE } from './upload-slots.js';

const of = (organizationId: string) => ({ organizationId, organization: {} });

describe('UploadSlots', () => {
  it('takes two files of an organization at once and six of all, and one again when one is done', async () => {
    const slots = new UploadSlots();
    const { promise, resolve } = Promise.withResolvers<void>();
    const hold = (organizationId: string): Promise<void> => slots.hold(of(organizationId), () => promise);
    const held = ['one', 'one', 'two', 'two', 'three'].map(hold);
    await expect(hold('one')).rejects.toMatchObject({
      code: 'rate_limited',
      members: { scope: 'organization' },
    });
    held.push(hold('three'));
    await expect(hold('four')).rejects.toMatchObject({
      code: 'rate_limited',
      members: { scope: 'platform' },
    });
    resolve();
    await Promise.all(held);
    const fault = new Error('refused');
    await expect(slots.hold(of('one'), () => Promise.reject(fault))).rejects.toBe(fault);
    await Promise.all(['one', 'one', 'two', 'four'].map(hold));
  });

  it('takes no more of a tenant for all the organizations that it founds', async () => {
    const slots = new UploadSlots();
    const { promise, resolve } = Promise.withResolvers<void>();
    await expectChildrenShare(UPLOADS_AT_ONCE, (asking) => slots.hold(asking, () => promise), resolve);
  });
});
