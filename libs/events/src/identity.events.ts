import { z } from 'zod';
import { family, LIFECYCLE } from './definition.js';
import { changed, id, instant } from './wire.js';

const row = z.object({ organization_id: id, id });
const organization = row.extend({ slug: z.string(), changed });
const ofUser = row.extend({ user_id: id });
const removedFactor = ofUser.extend({
  // All that went with it, told by the first of them; the others name none. The release before says nothing.
  names: z.array(z.string()).optional(),
});
const invitation = row.extend({
  locale: z.string().nullable(),
  generation: z.int().min(1),
  expires_at: instant,
});
const apiKey = row.extend({ prefix: z.string(), role_id: id, expires_at: instant.nullable() });
const impersonation = row.extend({ actor_id: id, user_id: id, reason: z.string(), expires_at: instant });

/** What identity publishes (identity.md §9): no secret, no address. */
export const IDENTITY_EVENTS = {
  ...family(
    'identity.organization',
    [...LIFECYCLE, 'suspended', 'reactivated'],
    'id',
    'Organization',
    organization,
  ),
  ...family(
    'identity.user',
    [...LIFECYCLE, 'suspended', 'reactivated', 'activated'],
    'id',
    'User',
    row.extend({ changed }),
  ),
  ...family('identity.membership', ['created', 'ended'], 'user_id', 'Membership', ofUser),
  ...family(
    'identity.role_assignment',
    ['created', 'ended'],
    'membership_id',
    'Role assignment',
    row.extend({ membership_id: id, role_id: id }),
  ),
  ...family(
    'identity.invitation',
    ['created', 'resent', 'accepted', 'revoked'],
    'id',
    'Invitation',
    invitation,
  ),
  ...family('identity.role', LIFECYCLE, 'id', 'Role', row.extend({ changed })),
  ...family(
    'identity.role',
    ['permissions_replaced'],
    'id',
    'Role',
    row.extend({ added: z.array(z.string()), removed: z.array(z.string()) }),
  ),
  ...family('identity.oauth_client', LIFECYCLE, 'id', 'OAuth client', row.extend({ changed })),
  ...family('identity.sso_connection', LIFECYCLE, 'id', 'SSO connection', row.extend({ changed })),
  ...family('identity.session', ['started'], 'user_id', 'Session', ofUser),
  ...family('identity.session', ['ended'], 'user_id', 'Session', ofUser.extend({ reason: z.string() })),
  ...family('identity.mfa_factor', ['confirmed'], 'user_id', 'Factor of a user', ofUser),
  ...family('identity.mfa_factor', ['removed'], 'user_id', 'Factor of a user', removedFactor),
  ...family('identity.recovery_code', ['used', 'replaced'], 'user_id', 'Recovery code', ofUser),
  ...family('identity.password', ['changed', 'reset_requested'], 'user_id', 'Password of a user', ofUser),
  ...family('identity.api_key', ['created', 'rotated', 'revoked'], 'id', 'API key', apiKey),
  ...family('identity.impersonation', ['started', 'stopped'], 'id', 'Impersonation', impersonation),
};
