import { COUNTED, GOES, NOBODY, type TenantTables } from '@customer-platform/testing';

/** What becomes of the columns of identity's tables: on an erasure, in an archive, in the course of time. */
export const IDENTITY_TENANT_TABLES: TenantTables = {
  address_probes: {
    technical: { 'users/address-probes.ts: how often addresses were tried': 'hour count' },
    organization: GOES,
    archive: NOBODY,
    removed: 'by users/address-probes.ts',
  },
  api_keys: {
    kept: {
      'api-keys/api-key.issuing.ts: a credential that staff made; the key as a hash':
        'name role_id key_hash prefix',
    },
    technical: {
      'api-keys/api-keys.service.ts: the row and its times':
        'id expires_at rotated_from_id rotated_at revoked_at last_used_at created_at updated_at',
    },
    organization: COUNTED,
    archive: NOBODY,
    removed: 'stays: until staff revokes it, then for the audit',
  },
  impersonations: {
    kept: {
      'impersonations/impersonations.service.ts: who looked as whom and why':
        'id actor_id actor_session_id user_id reason client_id amr authenticated_at ip user_agent expires_at ended_at created_at',
      'sessions/session-endings.ts: who looked as whom and why': 'ended_reason',
    },
    organization: GOES,
    archive: NOBODY,
    removed: 'by impersonations/impersonations.module.ts',
  },
  interruptions: {
    technical: {
      'authorization/confirm.statement.ts: when credentials were refused': 'id role_id began_at ended_at',
    },
    organization: 'goes with organizations',
    archive: NOBODY,
    removed: 'stays: goes with organizations',
  },
  invitations: {
    kept: { 'invitations/invitation.row.ts: whom staff invited': 'email role_ids locale status' },
    technical: {
      'invitations/invitation.row.ts: the row and its times':
        'id generation life_seconds expires_at accepted_at resent_at created_at updated_at',
    },
    organization: GOES,
    archive: NOBODY,
    removed: 'stays: goes with the organization',
  },
  memberships: {
    kept: { 'memberships/membership.dto.ts: who belongs to the organization': 'user_id' },
    technical: { 'memberships/membership.dto.ts: the row and its times': 'id created_at updated_at' },
    organization: COUNTED,
    archive: NOBODY,
    removed: 'stays: until staff removes it',
  },
  mfa_factors: {
    kept: {
      'mfa/factors.store.ts: a second factor of a user, its secret sealed': 'user_id type name secret',
    },
    technical: {
      'mfa/factors.store.ts: its use and its times':
        'id last_step pending_until confirmed_at created_at connection_id',
    },
    organization: 'of users, who are counted',
    archive: NOBODY,
    removed: 'by mfa/factors.store.ts',
  },
  mfa_failures: {
    technical: { 'mfa/mfa-attempts.ts: failed codes of a user': 'id user_id failed_at connection_of' },
    organization: 'of users, who are counted',
    archive: NOBODY,
    removed: 'by mfa/mfa-attempts.ts',
  },
  oauth_clients: {
    kept: {
      'oauth-clients/console-client.ts: what staff registered':
        'name type grant_types redirect_uris post_logout_redirect_uris require_pkce organizations role_id refresh_grace_seconds secret_hash',
    },
    technical: {
      'oauth-clients/console-client.ts: the row and its times':
        'id generation created_at updated_at deleted_at',
    },
    organization: COUNTED,
    archive: NOBODY,
    removed: 'stays: until staff purges it',
  },
  oauth_grants: {
    kept: {
      'oauth/session-grants.ts: what a session allowed a client':
        'session_id client_id browser payload created_at',
    },
    organization: 'goes with sessions',
    archive: NOBODY,
    removed: 'stays: goes with sessions',
  },
  oauth_tokens: {
    technical: {
      'oauth/stored-tokens.ts: tokens of a session as hashes':
        'token_hash kind session_id payload consumed_at expires_at repeated',
    },
    organization: 'goes with sessions',
    archive: NOBODY,
    removed: 'by oauth/oauth.module.ts',
  },
  organization_epochs: {
    technical: {
      'authorization/change.statement.ts: tells other modules that rights have changed': 'epoch changed_by',
    },
    organization: GOES,
    archive: NOBODY,
    removed: 'stays: one of an organization',
  },
  organizations: {
    kept: {
      'organizations/organization.entity.ts: what staff called it and how it is set':
        'parent_id path name slug status locale timezone settings',
    },
    technical: {
      'organizations/organization.entity.ts: the row and its times':
        'id suspended_at reactivated_at created_at updated_at deleted_at',
    },
    organization: COUNTED,
    archive: NOBODY,
    removed: 'stays: until staff purges it',
  },
  password_attempts: {
    technical: {
      'passwords/password-attempts.ts: tries by keyed hashes of addresses':
        'id address_hash network pending tried_at site known_by',
    },
    organization: GOES,
    archive: NOBODY,
    removed: 'by passwords/password-attempts.ts',
  },
  password_reset_limits: {
    technical: {
      'password-resets/password-reset-limits.ts: how often it was asked for': 'asker asked_at last_asked_at',
    },
    organization: 'of users, who are counted',
    archive: NOBODY,
    removed: 'by password-resets/password-reset-limits.ts',
  },
  password_reset_requests: {
    kept: {
      'password-resets/password-resets.ts: who asked; gone within seconds':
        'id email locale ip user_agent correlation_id',
      'password-resets/password-reset-issuing.ts: what made it': 'reason',
    },
    organization: 'gone within seconds',
    archive: NOBODY,
    removed: 'by password-resets/password-reset-issuing.ts',
  },
  password_resets: {
    kept: {
      'password-resets/password-reset-issuing.ts: a reset of a user':
        'id user_id generation locale open expires_at created_at about',
    },
    organization: 'of users, who are counted',
    archive: NOBODY,
    removed: 'stays: one of a user',
  },
  recovery_codes: {
    kept: {
      'mfa/recovery-codes.store.ts: codes of a user as hashes': 'id user_id code_hash used_at created_at',
    },
    organization: 'of users, who are counted',
    archive: NOBODY,
    removed: 'by mfa/recovery-codes.store.ts',
  },
  role_assignments: {
    kept: { 'role-assignments/role-assignment.dto.ts: which role a member has': 'membership_id role_id' },
    technical: {
      'role-assignments/role-assignment.dto.ts: the row and its times': 'id created_at updated_at',
    },
    organization: 'of memberships, which are counted',
    archive: NOBODY,
    removed: 'by role-assignments/role-assignments.service.ts',
  },
  role_permissions: {
    kept: { 'roles/role-grants.ts: what a role may do': 'role_id permission' },
    technical: { 'roles/role-grants.ts: since when': 'granted_at removed_at' },
    organization: GOES,
    archive: NOBODY,
    removed: 'by roles/role-grants.ts',
  },
  roles: {
    kept: { 'roles/role.dto.ts: what staff called a role': 'name description kind key' },
    technical: { 'roles/role.dto.ts: the row and its times': 'id created_at updated_at deleted_at' },
    organization: COUNTED,
    archive: NOBODY,
    removed: 'stays: until staff purges it',
  },
  sessions: {
    kept: {
      'sessions/session.dto.ts: where a user is signed in':
        'user_id client_id amr ip user_agent ended_reason',
    },
    technical: {
      'oauth/session-grants.ts: its times and its client':
        'id authenticated_at last_seen_at idle_expires_at expires_at ended_at created_at client_generation connection_id auth_time',
      'sessions/session-beginnings.ts: its times and its client': 'mfa_at api_scopes',
    },
    organization: GOES,
    archive: NOBODY,
    removed: 'by sessions/session-sweep.ts',
  },
  sign_ins: {
    technical: {
      'sign-in/sign-in-progress.ts: a sign-in under way':
        'uid browser_hash user_id amr authenticated_at connection_id chosen_organization_id factor_given factor_id expires_at auth_time',
    },
    organization: GOES,
    archive: NOBODY,
    removed: 'by sign-in/sign-in-progress.ts',
  },
  sso_connections: {
    kept: {
      'sso-connections/sso-connection.dto.ts: what staff set up, the secret sealed':
        'name protocol issuer client_id client_secret domains enforced jit jit_role_ids status',
    },
    technical: {
      'sso-connections/sso-connection.dto.ts: the row and its times': 'id created_at updated_at deleted_at',
      'sessions/session-authentication.ts: since when it is enforced': 'enforced_at',
    },
    organization: COUNTED,
    archive: NOBODY,
    removed: 'stays: until staff purges it',
  },
  sso_domains: {
    technical: {
      'sso-connections/domain-claims.ts: whose a domain is': 'connection_id domain proven_at',
      'sso-connections/domain-recheck.ts: whether it is still proven':
        'names_provider failing_since next_check_at',
    },
    organization: 'of sso_connections, which are counted',
    archive: NOBODY,
    removed: 'by sso-connections/domain-claims.ts',
  },
  sso_links: {
    kept: {
      'sso-connections/sso-arrivals.ts: which account at an issuer is which user':
        'issuer subject user_id created_at',
    },
    organization: GOES,
    archive: NOBODY,
    removed: 'stays: goes with the user',
  },
  sso_requests: {
    technical: {
      'sso-connections/sso-requests.ts: a sign-in under way':
        'id connection_id interaction_uid client_organization_id state_hash browser_hash expires_at asked_login max_age_s',
    },
    organization: GOES,
    archive: NOBODY,
    removed: 'by sso-connections/sso-requests.ts',
  },
  users: {
    kept: {
      'users/user-arrivals.ts: a user of the platform; no contact':
        'email name locale status email_verified password_hash',
      'users/users.service.ts: what the user has said; no contact': 'timezone',
    },
    technical: {
      'users/user.dto.ts: the row and its times': 'id last_sign_in_at created_at updated_at deleted_at',
      'users/user-arrivals.ts: the row and its times': 'password_changed_at',
      'password-resets/password-reset-issuing.ts: when they were told last': 'wrong_passwords_told_at',
    },
    organization: COUNTED,
    archive: NOBODY,
    removed: 'stays: until its home purges it',
  },
};
