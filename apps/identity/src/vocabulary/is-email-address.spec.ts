import { validateBody } from '@customer-platform/http';
import { CreateInvitationDto } from '../invitations/invitation.dto.js';
import { addressForms, keptAddress } from './is-email-address.js';
import { RequestPasswordResetDto } from '../password-resets/password-reset.dto.js';
import { SignInForm } from '../sign-in/sign-in-form.js';
import { personIn } from '../sso-connections/provider-claims.js';
import { CreateUserDto } from '../users/user.dto.js';

/** Each answers the address as it is kept or sought; undefined for what is none. */
const READERS: Readonly<Record<string, (email: string) => Promise<string | undefined>>> = {
  'a new user': (email) => taken(CreateUserDto, { email, name: 'Inés' }),
  'an invitation': (email) => taken(CreateInvitationDto, { email }),
  'a password reset': (email) => taken(RequestPasswordResetDto, { email }),
  'a provider': async (email) => personIn('https://idp.example', 'x', { email, email_verified: true }).email,
};

async function taken<T extends { email: string }>(
  dto: new () => T,
  body: object,
): Promise<string | undefined> {
  try {
    return keptAddress((await validateBody(dto, body)).email);
  } catch {
    return undefined;
  }
}

describe.each(Object.entries(READERS))('an address of %s', (_name, read) => {
  it('is read without what nobody sees', async () => {
    for (const email of [
      'Ines.Vial@Example.cl',
      ' ines.vial@example.cl\u00a0',
      'ines\u200b.vi\u00adal@example.cl',
      '\u202aines.vial@example.cl\u202c',
    ])
      expect(await read(email)).toBe('ines.vial@example.cl');
  });

  it('is kept with its domain in one writing', async () => {
    for (const email of ['ines@Ñandú.cl', 'ines@n\u0303andu\u0301.cl', 'INES@xn--and-6ma2c.cl'])
      expect(await read(email)).toBe('ines@ñandú.cl');
  });

  it('is refused where no mail can be sent to it', async () => {
    for (const email of [
      'inés@example.cl',
      '"ines vial"@example.cl',
      'ines\u00a0vial@example.cl',
      'ines@10.0.0.1',
    ])
      expect(await read(email)).toBeUndefined();
  });
});

describe('the address of who signs in', () => {
  it.each([
    [' ines@example.cl\u200b', 'ines@example.cl'],
    ['inés@example.cl', 'inés@example.cl'],
    ['ines', undefined],
    [`${'İ'.repeat(200)}@example.cl`, undefined],
  ])('reads %j as %j', (typed, email) => {
    expect(new SignInForm({ email: typed }).email).toBe(email);
  });
});

describe('addressForms', () => {
  it('finds a user by whatever was kept before', () => {
    expect(addressForms('Ines@Example.cl')).toEqual(['ines@example.cl']);
    expect(addressForms('ines@xn--and-6ma2c.cl')).toEqual(['ines@xn--and-6ma2c.cl', 'ines@ñandú.cl']);
    expect(addressForms('ines@Ñandú.cl')).toEqual(['ines@ñandú.cl', 'ines@xn--and-6ma2c.cl']);
    expect(addressForms('Inés@Example.cl')).toEqual(['inés@example.cl']);
    expect(addressForms('in\u00ades@example.cl')).toEqual(['in\u00ades@example.cl', 'ines@example.cl']);
  });
});
