import { changeOf, draftOf, type OrganizationRow } from './settings.ts';

const ROW: OrganizationRow = {
  id: '01a2074e-de82-7726-a1e9-0e3cdefab45a',
  parent_id: null,
  name: 'Sur',
  slug: 'sur',
  status: 'active',
  locale: 'es-CL',
  timezone: 'America/Santiago',
  settings: {
    branding: { color: '#112233', logo_url: null },
    mfa_policy: 'optional',
    session: { idle_minutes: 30, absolute_hours: 12 },
    rate_limits: { key_per_second: 100, organization_per_second: 200 },
  },
  created_at: '2026-11-23T00:00:00.000Z',
  updated_at: '2026-11-23T00:00:00.000Z',
  deleted_at: null,
};

describe('a change of the settings', () => {
  it('holds what was changed, and nothing else', () => {
    const before = draftOf(ROW);
    expect(changeOf(before, before)).toEqual({});
    expect(changeOf(before, { ...before, name: ' Norte ', idleMinutes: '15' })).toEqual({
      name: 'Norte',
      settings: { session: { idle_minutes: 15, absolute_hours: 12 } },
    });
  });

  it('clears what was emptied', () => {
    const before = draftOf(ROW);
    expect(changeOf(before, { ...before, color: '', keyRate: '' })).toEqual({
      settings: {
        branding: { color: null, logo_url: null },
        rate_limits: { key_per_second: null, organization_per_second: 200 },
      },
    });
  });
});
