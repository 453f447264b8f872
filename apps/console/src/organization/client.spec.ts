import { bodyOf, draftOf, NEW_CLIENT } from './client.ts';

describe('an OAuth client as the API takes it', () => {
  it('has one address a line, and no role where no program acts for itself', () => {
    const draft = {
      ...NEW_CLIENT,
      name: ' App ',
      redirects: 'https://a.example/cb\n\n https://b.example/cb ',
      roleId: 'some-role',
    };
    expect(bodyOf(draft)).toMatchObject({
      name: 'App',
      redirect_uris: ['https://a.example/cb', 'https://b.example/cb'],
      role_id: null,
    });
  });

  it('asks a public one for PKCE, whatever was chosen before', () => {
    expect(bodyOf({ ...NEW_CLIENT, type: 'public', pkce: false }).require_pkce).toBe(true);
  });

  it('comes back from what was read unchanged', () => {
    const client = {
      id: '01a2074e-de82-7726-a1e9-0e3cdefab45a',
      name: 'App',
      type: 'confidential' as const,
      grant_types: ['client_credentials' as const],
      redirect_uris: ['https://a.example/cb'],
      post_logout_redirect_uris: [],
      require_pkce: false,
      organizations: 'own' as const,
      role_id: '01a2074e-de82-7726-a1e9-0e3cdefab45b',
      refresh_grace_seconds: 5,
      created_at: '2026-11-23T00:00:00.000Z',
      updated_at: '2026-11-23T00:00:00.000Z',
      deleted_at: null,
    };
    const { name, grant_types, redirect_uris, post_logout_redirect_uris, require_pkce } = client;
    const { organizations, role_id, refresh_grace_seconds } = client;
    expect(bodyOf(draftOf(client))).toEqual({
      name,
      grant_types,
      redirect_uris,
      post_logout_redirect_uris,
      require_pkce,
      organizations,
      role_id,
      refresh_grace_seconds,
    });
  });
});
