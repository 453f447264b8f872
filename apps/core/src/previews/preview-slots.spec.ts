import { expectChildrenShare } from '@customer-platform/testing';
import { PreviewSlots, PREVIEWS_AT_ONCE } from './preview-slots.js';

it('previews and explanations at once are no more of a tenant for all the organizations that it founds', async () => {
  const slots = new PreviewSlots();
  const { promise, resolve } = Promise.withResolvers<void>();
  await expectChildrenShare(PREVIEWS_AT_ONCE, (asking) => slots.hold(asking, () => promise), resolve);
  const asked = { organizationId: 'one', organization: {} };
  await expect(slots.hold(asked, () => Promise.resolve(1))).resolves.toBe(1);
});
