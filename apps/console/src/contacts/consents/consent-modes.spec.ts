import { consentModesOf } from './consent-modes.ts';

describe('what channels ask of consent before marketing', () => {
  it('is what their settings say; without a word there it goes out until somebody objects', () => {
    const channels = {
      email: { enabled: true, consent_mode: 'opt_out' },
      sms: { enabled: true, consent_mode: 'opt_in' },
      whatsapp: { enabled: true },
      push: { enabled: false, consent_mode: 'opt_in' },
      in_app: null,
    };
    expect(consentModesOf({ channels })).toEqual({ optIn: ['sms'], optOut: ['email', 'whatsapp'] });
  });

  it('is nothing where no channel is on', () => {
    expect(consentModesOf({} as never)).toEqual({ optIn: [], optOut: [] });
  });
});
