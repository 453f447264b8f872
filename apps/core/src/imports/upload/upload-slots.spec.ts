import { newId } from '@customer-platform/database';
import { UploadSlots } from './upload-slots.js';

describe('UploadSlots', () => {
  it('takes two files of an organization at once and four of all, and one again when one is done', async () => {
    const slots = new UploadSlots();
    const { promise, resolve } = Promise.withResolvers<void>();
    const [one, two, three] = [newId(), newId(), newId()];
    const hold = (organizationId: string): Promise<void> => slots.hold({ organizationId }, () => promise);
    const held = [hold(one), hold(one)];
    await expect(hold(one)).rejects.toMatchObject({
      code: 'rate_limited',
      members: { scope: 'organization' },
    });
    held.push(hold(two), hold(two));
    await expect(hold(three)).rejects.toMatchObject({ code: 'rate_limited', members: { scope: 'platform' } });
    resolve();
    await Promise.all(held);
    const fault = new Error('refused');
    await expect(slots.hold({ organizationId: one }, () => Promise.reject(fault))).rejects.toBe(fault);
    await Promise.all([hold(one), hold(one), hold(two), hold(three)]);
  });
});
