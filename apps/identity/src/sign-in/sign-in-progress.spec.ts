import type { ServerResponse } from 'node:http';
import { newId } from '@customer-platform/database';
import { expectStatus } from '@customer-platform/testing';
import { IdentityBench } from '../identity-app.fixture.js';
import { BrowserBinding } from '../pages/browser-binding.js';
import { SignInProgress, type Asked } from './sign-in-progress.js';

let bench: IdentityBench;
let progress: SignInProgress;
let organizationId: string;
beforeAll(async () => {
  bench = await IdentityBench.start();
  progress = bench.app.app.get(SignInProgress, { strict: false });
  organizationId = (await bench.organization()).id;
});
afterAll(() => bench.end());

function aBrowser(): BrowserBinding {
  const response: Pick<ServerResponse, 'appendHeader'> = { appendHeader: () => response as ServerResponse };
  return BrowserBinding.fresh(response as ServerResponse);
}

async function begun(asked: Asked): Promise<BrowserBinding> {
  const browser = aBrowser();
  const userId = await bench.person(organizationId);
  await progress.begin(asked, browser, { userId, amr: ['pwd'], authenticatedAt: new Date() });
  return browser;
}

describe('a sign-in under way', () => {
  it('gives who has begun anew nothing that was shown before, whoever showed it', async () => {
    const asked: Asked = { uid: newId(), client: { organizationId } };
    const [before, now] = [await begun(asked), await begun(asked)];
    expect(await progress.gain(asked, before, ['otp', 'mfa'])).toBe(false);
    expect(await progress.choose(asked, before, organizationId)).toBe(false);
    expect(await progress.enrol(asked, before, newId())).toBe(false);
    expect(await progress.find(asked, before)).toBeUndefined();
    const found = await progress.find(asked, now);
    expect(found).toMatchObject({ signedIn: { amr: ['pwd'] }, factorGiven: false });
    expect(found).not.toHaveProperty('chosenOrganizationId');
  });

  it('is over once the user’s factors were reset, whichever had been given', async () => {
    const organization = await bench.organization();
    const userId = await bench.person(organization.id);
    const asked: Asked = { uid: newId(), client: { organizationId: organization.id } };
    const browser = aBrowser();
    await progress.begin(asked, browser, { userId, amr: ['pwd'], authenticatedAt: new Date() });
    expect(await progress.gain(asked, browser, ['otp', 'mfa'])).toBe(true);
    const another: Asked = { ...asked, uid: newId() };
    const others = await begun(another);
    expectStatus(await organization.admin.patch(`/v1/identity/users/${userId}`, { reset_mfa: true }), 200);
    expect(await progress.find(asked, browser)).toBeUndefined();
    expect(await progress.find(another, others)).toMatchObject({ signedIn: { amr: ['pwd'] } });
  });
});
